#pragma once
#include "base/error.hpp"
#include "blas/level3/block_sizes.hpp"
#include "blas/micro/micro_kernel.hpp"

#include <algorithm>
#include <array>

namespace trencadis::blas {

/// The five loops of a product, outermost first, by the names of the literature: columns of C in blocks of nc, depth in blocks of
/// kc, rows in blocks of mc, panels of nr columns, panels of mr rows (Goto, van de Geijn 2008; Van Zee, van de Geijn 2015).
enum class Loop { jc, pc, ic, jr, ir };

/// How a level 3 operation is carried out, as data: the block of each loop (Smith et al. 2014; Low, Igual, Smith, Quintana-Orti
/// 2016). Blocks are multiples of those of the loop inside; those of `jr` and `ir` are the micro-kernel's.
struct ControlTree {
    std::array<Index, 5> blocks;

    Index operator[](Loop loop) const { return blocks[std::size_t(loop)]; }
    Index& operator[](Loop loop) { return blocks[std::size_t(loop)]; }
};

template <Scalar T> ControlTree control_tree(const MicroKernel<T>& kernel, const BlockSizes& blocks)
{
    return {{blocks.nc, blocks.kc, blocks.mc, kernel.nr, kernel.mr}};
}

/// What the routines of the calling thread run with.
template <Scalar T> struct Setup {
    const MicroKernel<T>& kernel;
    ControlTree tree;
};

/// Of the processor's widest instruction set, or the one that is forced on the calling thread.
template <Scalar T> const MicroKernel<T>& micro_kernel();
/// That micro-kernel and the block sizes of the core that the calling thread is on, or of core `cpu`.
template <Scalar T> Setup<T> setup(int cpu = -1);

/// Halves the blocks of nc, kc and mc, down to one panel; false when they cannot be smaller.
template <Scalar T> bool halve_blocks(Setup<T>& with)
{
    const auto halve = [](Index& block, Index unit) {
        const Index before = block;
        block = std::min(before, std::max(unit, before / 2 / unit * unit));
        return block < before;
    };
    const bool fewer_columns = halve(with.tree[Loop::jc], with.kernel.nr), shallower = halve(with.tree[Loop::pc], 8);
    return halve(with.tree[Loop::ic], with.kernel.mr) || fewer_columns || shallower;
}

/// Calls `reserve()`, which asks for the buffers of an operation with the blocks of `with`, before the operation touches
/// anything. Where there is no memory for them the blocks are made smaller, as a slow result is better than none.
template <Scalar T, class Reserve> void fit_to_memory(Setup<T>& with, const Reserve& reserve)
{
    for (;;) try {
            return reserve();
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory || !halve_blocks(with)) throw;
        }
}

/// While it lives, the calling thread computes with another instruction set and other blocks (rounded to whole panels).
/// For tests, which thus meet every edge with small matrices.
class ForcedSetup {
public:
    ForcedSetup(const InstructionSet& set, BlockSizes blocks);
    ~ForcedSetup();
    ForcedSetup(const ForcedSetup&) = delete;
    ForcedSetup& operator=(const ForcedSetup&) = delete;

    const InstructionSet& set() const { return set_; }
    const BlockSizes& blocks() const { return blocks_; }

private:
    const InstructionSet& set_;
    const BlockSizes blocks_;
};

/// `extent` cut into the fewest blocks of at most `block`, as equal as multiples of `unit` allow.
inline Index balanced_block(Index extent, Index block, Index unit)
{
    if (extent <= block) return block;
    const Index count = (extent + block - 1) / block;
    const Index even = ((extent + count - 1) / count + unit - 1) / unit * unit;
    return even < block ? even : block;
}

} // namespace trencadis::blas
