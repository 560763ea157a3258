// Block sizes for a core with a first cache of 32 KiB and a second one of 512: those of the machine are asked of libraries that
// there are not for it here.
#include "blas/level3/block_sizes.hpp"

#include <complex>

namespace trencadis::blas {

template <Scalar T> const BlockSizes& block_sizes(int)
{
    static const BlockSizes sizes = [] {
        const MicroKernel<T>& kernel = instruction_set().micro_kernel<T>();
        constexpr Index l1 = 32 << 10, l2 = 512 << 10, bytes = sizeof(T);
        const Index kc = l1 / 2 / (kernel.nr * bytes) / 8 * 8;
        return BlockSizes{kc, l2 / 2 / (kc * bytes) / kernel.mr * kernel.mr, 4096 / kernel.nr * kernel.nr};
    }();
    return sizes;
}
template const BlockSizes& block_sizes<float>(int);
template const BlockSizes& block_sizes<double>(int);
template const BlockSizes& block_sizes<std::complex<float>>(int);
template const BlockSizes& block_sizes<std::complex<double>>(int);

} // namespace trencadis::blas
