#include "blas/level3/control_tree.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

// Asked in every call; the default model would ask the dynamic linker each time.
thread_local constinit const ForcedSetup* forced [[gnu::tls_model("initial-exec")]] = nullptr;

Index rounded(Index value, Index unit) { return std::max(unit, value / unit * unit); }

} // namespace

template <Scalar T> Setup<T> setup(int cpu)
{
    if (!forced) {
        const MicroKernel<T>& kernel = instruction_set().micro_kernel<T>();
        return {kernel, control_tree(kernel, block_sizes<T>(cpu))};
    }
    const MicroKernel<T>& kernel = forced->set().micro_kernel<T>();
    const BlockSizes& blocks = forced->blocks();
    return {kernel, control_tree(kernel, {blocks.kc, rounded(blocks.mc, kernel.mr), rounded(blocks.nc, kernel.nr)})};
}

ForcedSetup::ForcedSetup(const InstructionSet& set, BlockSizes blocks) : set_(set), blocks_(blocks) { forced = this; }
ForcedSetup::~ForcedSetup() { forced = nullptr; }

template Setup<float> setup(int);
template Setup<double> setup(int);
template Setup<std::complex<float>> setup(int);
template Setup<std::complex<double>> setup(int);

} // namespace trencadis::blas
