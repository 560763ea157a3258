#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/level3/block_sizes.hpp"
#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/packing.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "kernels/tiles/packed_operations.hpp"
#include "matrix/work_memory.hpp"

#include <functional>

namespace trencadis {

/// May images of that depth be left and right operands? Panels that stay in the first cache are multiplied row by row, which
/// takes right panels.
template <Scalar T> bool images_serve_both(Index depth)
{
    const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
    return blas::reads_left_as_right(kernel) && !blas::left_panel_stays(kernel, blas::block_sizes<T>().kc, depth);
}

/// Where packed images lie: in work memory, on a memory node or anywhere; or nowhere, where a graph is laid out that nobody
/// computes.
struct ImagePlace {
    int node = WorkMemory::anywhere;
    std::function<void*(std::size_t bytes)> reserve = {}; ///< addresses of images that are only named,
    bool computed = false;                                ///< or of memory after all: as large as the kernel in use needs

    bool is_memory() const { return !reserve; }
    bool is_computed() const { return !reserve || computed; }
};

/// Slots for packed images in one block of memory, all of one size; (row, step) shares its slot with (row, step + depth), and the
/// tasks that use a slot are ordered by its address. So the memory is bounded however many steps there are, and a task that packs
/// waits until the updates of `depth` steps before have read the slot.
template <Scalar T> class PackedSlots {
public:
    /// Each for an image with the extent and depth, as left or right operands of the kernel in use. Images that are only named
    /// have their elements' size, so that addresses do not depend on the kernel of the machine at hand.
    static PackedSlots left(Index rows, Index depth, Index of_extent, Index of_depth, const ImagePlace& place)
    {
        const Index numbers = blas::instruction_set().micro_kernel<T>().left_size(of_extent, of_depth);
        return {rows, depth, place.is_computed() ? numbers : blas::planes<T> * of_extent * of_depth, place};
    }
    static PackedSlots right(Index rows, Index depth, Index of_extent, Index of_depth, const ImagePlace& place)
    {
        const Index numbers = blas::instruction_set().micro_kernel<T>().right_size(of_depth, of_extent);
        return {rows, depth, place.is_computed() ? numbers : blas::planes<T> * of_extent * of_depth, place};
    }
    static PackedSlots triangle(Index depth, Index order, const ImagePlace& place)
    {
        const Index numbers = blas::triangle_size(blas::instruction_set().micro_kernel<T>(), order);
        return {1, depth, place.is_computed() ? numbers : blas::planes<T> * order * order, place};
    }

    task::ImageMemory<T> operator()(Index row, Index step) const
    {
        return {begin_ + (step % depth_ * rows_ + row) * stride_, bytes_};
    }

    const WorkMemory& memory() const { return memory_; }

private:
    PackedSlots(Index rows, Index depth, Index numbers, const ImagePlace& place)
        : rows_(rows), depth_(depth), stride_((numbers + line - 1) / line * line),
          bytes_(place.is_computed() ? double(numbers) * sizeof(Real<T>) : 0),
          memory_(place.is_memory() ? bytes() : 0, place.node),
          begin_(static_cast<Real<T>*>(place.is_memory() ? memory_.data() : place.reserve(bytes())))
    {
    }
    std::size_t bytes() const { return std::size_t(rows_) * std::size_t(depth_) * std::size_t(stride_) * sizeof(Real<T>); }

    static constexpr Index line = 64 / sizeof(Real<T>) * 2; ///< slots start two cache lines apart at least
    Index rows_, depth_, stride_;
    Bytes bytes_; ///< of an image; 0 where they are only named
    WorkMemory memory_;
    Real<T>* begin_;
};

} // namespace trencadis
