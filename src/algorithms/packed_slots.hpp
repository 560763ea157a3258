#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/work_memory.hpp"

namespace trencadis {

/// Slots for packed images in one block of work memory, all of one size; (row, step) shares its slot with (row, step + depth), and the
/// tasks that use a slot are ordered by its address. So the memory is bounded however many steps there are, and a task that packs waits
/// until the updates of `depth` steps before have read the slot.
template <Scalar T> class PackedSlots {
public:
    /// `node`: the memory node that they lie on.
    PackedSlots(Index rows, Index depth, Index numbers, int node = WorkMemory::anywhere)
        : rows_(rows), depth_(depth), stride_((numbers + line - 1) / line * line),
          memory_(std::size_t(rows) * std::size_t(depth) * std::size_t(stride_) * sizeof(Real<T>), node)
    {
    }
    Real<T>* operator()(Index row, Index step) const
    {
        return static_cast<Real<T>*>(memory_.data()) + (step % depth_ * rows_ + row) * stride_;
    }

    const WorkMemory& memory() const { return memory_; }

private:
    static constexpr Index line = 64 / sizeof(Real<T>) * 2; ///< slots start two cache lines apart at least
    Index rows_, depth_, stride_;
    WorkMemory memory_;
};

} // namespace trencadis
