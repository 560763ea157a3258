#include "blas/level3/control_tree.hpp"

#include <sched.h>

#include <algorithm>
#include <optional>

namespace trencadis::blas {
namespace {

struct Forced {
    const InstructionSet* set;
    BlockSizes blocks;
};
thread_local std::optional<Forced> forced;

Index rounded(Index value, Index unit) { return std::max(unit, value / unit * unit); }

} // namespace

template <Scalar T> Setup<T> setup(int cpu)
{
    if (!forced) {
        const MicroKernel<T>& kernel = instruction_set().micro_kernel<T>();
        return {kernel, control_tree(kernel, block_sizes<T>(cpu >= 0 ? cpu : sched_getcpu()))};
    }
    const MicroKernel<T>& kernel = forced->set->micro_kernel<T>();
    const BlockSizes& blocks = forced->blocks;
    return {kernel, control_tree(kernel, {blocks.kc, rounded(blocks.mc, kernel.mr), rounded(blocks.nc, kernel.nr)})};
}

ForcedSetup::ForcedSetup(const InstructionSet& set, BlockSizes blocks) { forced = Forced{&set, blocks}; }
ForcedSetup::~ForcedSetup() { forced.reset(); }

template Setup<float> setup(int);
template Setup<double> setup(int);
template Setup<std::complex<float>> setup(int);
template Setup<std::complex<double>> setup(int);

} // namespace trencadis::blas
