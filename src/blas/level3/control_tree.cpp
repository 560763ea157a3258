#include "blas/level3/control_tree.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

// Asked in every call; the default model would ask the dynamic linker each time.
thread_local constinit const ForcedSetup* forced [[gnu::tls_model("initial-exec")]] = nullptr;

Index rounded(Index value, Index unit) { return std::max(unit, value / unit * unit); }

} // namespace

template <Scalar T> const MicroKernel<T>& micro_kernel()
{
    return (forced ? forced->set() : instruction_set()).template micro_kernel<T>();
}

template <Scalar T> Setup<T> setup(int cpu)
{
    const MicroKernel<T>& kernel = micro_kernel<T>();
    if (!forced) return {kernel, control_tree(kernel, block_sizes<T>(cpu))};
    const BlockSizes& blocks = forced->blocks();
    return {kernel, control_tree(kernel, {blocks.kc, rounded(blocks.mc, kernel.mr), rounded(blocks.nc, kernel.nr)})};
}

ForcedSetup::ForcedSetup(const InstructionSet& set, BlockSizes blocks) : set_(set), blocks_(blocks) { forced = this; }
ForcedSetup::~ForcedSetup() { forced = nullptr; }

#define TRC_INSTANTIATE(T)                                                                                                       \
    template const MicroKernel<T>& micro_kernel();                                                                               \
    template Setup<T> setup(int);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
