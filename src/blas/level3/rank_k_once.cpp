#include "blas/level3/rank_k_once.hpp"

#include "blas/level3/packing.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/level3/small_product.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

template <Scalar T> bool is_by_itself(const Product<T>& x)
{
    const Operand<T>&A = x.A, &B = x.B;
    return x.part != Part::all && x.m == x.n && A.structure == Structure::general && B.structure == Structure::general &&
           A.data == B.data && A.rs == B.cs && A.cs == B.rs;
}

/// Of one depth the rows of op(A) in panels: where they lie, or packed.
template <Scalar T> class OwnMirror {
public:
    OwnMirror(const Product<T>& x, const MicroKernel<T>& kernel, T* image) : x_(x), kernel_(kernel), image_(image) {}

    /// Depths [p, p + depth).
    void do_depth(Index p, Index depth, bool by_panels)
    {
        p_ = p;
        depth_ = depth;
        if (by_panels) do_panels();
        else do_columns();
    }

private:
    Index height(Index i) const { return kernel_.height(x_.m - i); }
    Index rows(Index i) const { return std::min(kernel_.mr, x_.m - i); }

    void pack(Index i) const
    {
        if (image_) pack_left(kernel_, x_.A.block(i, p_), rows(i), depth_, image_ + i * depth_);
    }
    /// Panel by panel, each packed right before it is used, after those that it is multiplied with.
    void do_panels() const
    {
        const Index mr = kernel_.mr, panels = (x_.m + mr - 1) / mr;
        for (Index i = 0; i < panels; ++i) do_panel((x_.part == Part::lower ? i : panels - 1 - i) * mr);
    }
    /// As many columns at a time as a micro-tile has, which stay in the first cache while all panels go past them.
    void do_columns() const
    {
        const Index mr = kernel_.mr;
        const bool lower = x_.part == Part::lower;
        for (Index i = 0; i < x_.m; i += mr) pack(i);
        for (Index j = 0; j < x_.n;) {
            const Index own = j / mr * mr, cols = std::min(kernel_.nr, own + rows(own) - j);
            cross(own, j, cols);
            const Index first = lower ? std::min(own + mr, x_.m) : 0, end = lower ? x_.m : own;
            const Index last = image_ && kernel_.multiply_stripe ? first + (end - first) / mr * mr : first;
            if (first < last) multiply_stack(first, (last - first) / mr, j, cols);
            for (Index i = last; i < end; i += mr) multiply(i, j, cols, x_.C + i + j * x_.cs, x_.cs, beta());
            j += cols;
        }
    }
    /// Packed panels below one another, without a call for each.
    void multiply_stack(Index i, Index panels, Index j, Index cols) const
    {
        const Index mr = kernel_.mr, panel = j / mr * mr;
        kernel_.multiply_stripe({{.k = depth_,
                                  .panels = panels,
                                  .A = image_ + i * depth_,
                                  .step = mr * depth_,
                                  .B = image_ + panel * depth_ + (j - panel),
                                  .alpha = x_.alpha,
                                  .beta = beta(),
                                  .C = x_.C + i + j * x_.cs,
                                  .cs = x_.cs,
                                  .cols = cols},
                                 height(panel),
                                 mr,
                                 mr});
    }
    void do_panel(Index i) const
    {
        pack(i);
        const bool lower = x_.part == Part::lower;
        const Index first = lower ? 0 : i + rows(i), end = lower ? i : x_.n;
        const Index step = image_ ? kernel_.mr : std::max<Index>(end - first, 1); // B's columns, too, are those of a panel
        for (Index j = first; j < end; j += step) multiply(i, j, std::min(step, end - j), x_.C + i + j * x_.cs, x_.cs, beta());
        for (Index j = i; j < i + rows(i); j += kernel_.nr) cross(i, j, std::min(kernel_.nr, i + rows(i) - j));
    }
    T beta() const { return p_ == 0 ? x_.beta : T(1); }

    void multiply(Index i, Index j, Index cols, T* C, Index cs, T beta) const
    {
        ProductInPlace<T> tile{.rows = rows(i), .cols = cols, .k = depth_, .alpha = x_.alpha, .beta = beta, .C = C, .cs = cs};
        if (image_) {
            const Index panel = j / kernel_.mr * kernel_.mr;
            tile.A = image_ + i * depth_;
            tile.a_step = height(i);
            tile.B = image_ + panel * depth_ + (j - panel);
            tile.b_rs = height(panel);
            tile.b_cs = 1;
        } else {
            const Operand<T> A = x_.A.block(i, p_), B = x_.B.block(p_, j);
            tile.A = A.data;
            tile.a_step = A.cs;
            tile.B = B.data;
            tile.b_rs = B.rs;
            tile.b_cs = B.cs;
        }
        kernel_.multiply_in_place(tile);
    }
    /// A tile that the diagonal crosses, on a copy: the rest of C is neither read nor written.
    void cross(Index i, Index j, Index cols) const
    {
        const Index count = rows(i);
        const bool lower = x_.part == Part::lower;
        TileRoom<T> room;
        T* const tile = room.data();
        std::fill_n(tile, count * cols, T(0));
        const auto each = [&](const auto& visit) {
            for (Index c = 0; c < cols; ++c) {
                const Index diagonal = j + c - i;
                for (Index r = lower ? diagonal : 0, end = lower ? count : diagonal + 1; r < end; ++r)
                    visit(tile[r + c * count], x_.C[i + r + (j + c) * x_.cs]);
            }
        };
        if (beta() != T(0)) each([](T& copy, const T& C) { copy = C; });
        multiply(i, j, cols, tile, count, beta());
        each([](const T& copy, T& C) { C = copy; });
    }

    const Product<T>& x_;
    const MicroKernel<T>& kernel_;
    T* const image_; ///< null: op(A) is read where it lies
    Index p_ = 0, depth_ = 0;
};

/// Does op(A) lie so that it is read as both operands, and stay in the caches as it lies? Few columns take any order of it.
template <Scalar T> bool lies_well(Product<T> x, const Setup<T>& with)
{
    x.part = Part::all;
    if (FewColumns<T>::suits(x) || !SmallProduct<T>::suits(x)) return false;
    const SmallProduct<T> whole(x, with, false);
    return !whole.packs() && !whole.packs_again();
}

template <Scalar T> T* room_for_image(const MicroKernel<T>& kernel, Index rows, Index depth)
{
    try {
        return scratch<T>(Buffer::left, kernel.left_size(rows, depth));
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return nullptr;
    }
}

} // namespace

template <Scalar T> bool multiply_by_itself(const Product<T>& x, const Setup<T>& with)
{
    if constexpr (is_complex<T>) return false;
    else {
        const MicroKernel<T>& kernel = with.kernel;
        if (!is_by_itself(x) || (!kernel.reads_any_rows && x.m % kernel.step != 0)) return false;
        const Index depth = balanced_block(x.k, with.tree[Loop::pc], 8), deepest = std::min(depth, x.k);
        const Index half = with.tree[Loop::pc] * with.tree[Loop::ic], size = kernel.padded_rows(x.m) * deepest; // of second cache
        // Panels follow one another while that cache holds them beside C; then a panel is used for all of its columns at once.
        const bool by_panels = size + x.m * x.m / 2 <= half;
        // A triangle needs half of the image on the average: it may be as large as that cache.
        const bool may_pack = size <= 2 * half, lies = lies_well(x, with);
        if (!may_pack && !lies) return false;
        T* image = nullptr;
        // Past the same few columns packed panels go without a call for each.
        if (!lies || (may_pack && !by_panels && kernel.multiply_stripe)) image = room_for_image(kernel, x.m, deepest);
        if (!image && !lies) return false;
        OwnMirror<T> mirror(x, kernel, image);
        for (Index p = 0; p < x.k; p += depth) mirror.do_depth(p, std::min(depth, x.k - p), by_panels);
        return true;
    }
}

#define TRC_INSTANTIATE(T) template bool multiply_by_itself(const Product<T>&, const Setup<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
