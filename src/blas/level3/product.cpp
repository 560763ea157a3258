#include "blas/level3/product.hpp"

#include "blas/level3/packing.hpp"
#include "blas/level3/rank_k_once.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/level3/small_product.hpp"
#include "blas/level3/turned_product.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

Part transposed(Part part) { return part == Part::all ? part : part == Part::lower ? Part::upper : Part::lower; }

/// Rows of C that columns [j0, j1) of the part reach into.
struct Rows {
    Index begin, end;
};
Rows rows_of(Part part, Index m, Index j0, Index j1)
{
    return {part == Part::lower ? j0 : 0, part == Part::upper ? std::min(m, j1) : m};
}

/// One block of B (at row p and column j of the operand) with all rows of A.
template <Scalar T>
void multiply_block(const Setup<T>& with, const Product<T>& x, Index p, Index j, Index mc, const Packed<T>& right)
{
    const Index depth = right.depth, cols = right.extent;
    const Rows rows = rows_of(x.part, x.m, j, j + cols);
    Real<T>* const left = scratch<Real<T>>(Buffer::left, with.kernel.left_size(std::min(mc, x.m), depth));
    for (Index i = rows.begin; i < rows.end; i += mc) {
        const Index count = std::min(mc, rows.end - i);
        pack_left(with.kernel, x.A.block(i, p), count, depth, left);
        // Columns of this block that rows [i, i + count) of a triangle reach.
        const Index first = x.part == Part::upper ? std::max<Index>(0, (i - j) / with.kernel.nr * with.kernel.nr) : 0;
        Index last = cols;
        if (x.part == Part::lower) last = std::min(cols, with.kernel.padded_cols(i + count - j));
        multiply_packed<T>(with.kernel, depth, x.part, j - i, x.alpha, {left, count, depth}, 0, count, right, first, last,
                           p == 0 ? x.beta : T(1), x.C + i * x.rs + j * x.cs, x.rs, x.cs);
    }
}

} // namespace

template <Scalar T> Product<T> transposed(const Product<T>& x)
{
    return {x.n, x.m, x.k, x.alpha, x.B.transposed(), x.A.transposed(), x.beta, x.C, x.cs, x.rs, transposed(x.part)};
}

template <Scalar T> Product<T> normalised(Product<T> x)
{
    const auto size = [](Index stride) { return stride < 0 ? -stride : stride; };
    if (size(x.rs) != 1 && size(x.cs) == 1) x = transposed(x);
    if (x.rs < 0 && x.part == Part::all && x.A.structure == Structure::general && x.m > 0) {
        x.C += (x.m - 1) * x.rs;
        x.A.data += (x.m - 1) * x.A.rs;
        x.rs = -x.rs;
        x.A.rs = -x.A.rs;
    }
    return x;
}

template <Scalar T> Product<T> depth_of(Product<T> x, Index p, Index depth)
{
    x.A = x.A.block(0, p);
    x.B = x.B.block(p, 0);
    x.k = depth;
    if (p > 0) x.beta = T(1);
    return x;
}

template <Scalar T> Index depth_in_place(const Product<T>& x, const Setup<T>& with)
{
    const Index depth = balanced_block(x.k, with.tree[Loop::pc], 8), half = with.tree[Loop::pc] * with.tree[Loop::ic];
    if (depth >= x.k) return 0;
    const Product<T> piece = depth_of(x, 0, depth);
    const bool stays = x.m * depth <= half && (x.m + x.n) * depth <= 2 * half;
    const bool whole = SmallProduct<T>::is_compact(x) || SmallProduct<T>::is_flat(x);
    const bool narrow = SmallProduct<T>::suits_narrow(piece), flat = x.B.rs != 1 && SmallProduct<T>::is_flat(piece);
    return (stays || (!whole && (narrow || flat))) && SmallProduct<T>::suits(piece) ? depth : 0;
}

template <Scalar T> void scale(Part part, Index m, Index n, T beta, T* C, Index rs, Index cs)
{
    if (beta == T(1)) return;
    if (std::abs(rs) > std::abs(cs)) { // along memory
        std::swap(m, n);
        std::swap(rs, cs);
        part = transposed(part);
    }
    for (Index j = 0; j < n; ++j) {
        const Index begin = part == Part::lower ? j : 0, end = part == Part::upper ? std::min(m, j + 1) : m;
        T* const column = C + j * cs;
        if (beta == T(0))
            for (Index i = begin; i < end; ++i) column[i * rs] = T(0);
        else
            for (Index i = begin; i < end; ++i) column[i * rs] *= beta;
    }
}

namespace {

/// Rows of A that are packed at a time, at most: of a product with few columns, by which they are read a few times only, so few
/// that they do not go farther than the nearest caches in between.
template <Scalar T> Index rows_at_a_time(const Product<T>& x, const Setup<T>& with)
{
    constexpr Index few_columns = 8, few_rows = 3; // panels
    const MicroKernel<T>& kernel = with.kernel;
    const Index most = with.tree[Loop::ic];
    return x.n <= few_columns * kernel.nr ? std::min(most, few_rows * kernel.mr) : most;
}

/// Columns of B likewise, beside few rows of A: what is packed of them stays in the second cache until these have read it.
template <Scalar T> Index columns_at_a_time(const Product<T>& x, const Setup<T>& with)
{
    constexpr Index few_rows = 4; // panels
    const Index most = with.tree[Loop::jc],
                cached = std::max(with.kernel.nr, with.tree[Loop::ic] / 2 / with.kernel.nr * with.kernel.nr);
    return x.m <= few_rows * with.kernel.mr ? std::min(most, cached) : most;
}

/// The pieces of a deep product one after the other. False: it is none, nothing was done.
template <Scalar T> bool multiply_by_depth(const Product<T>& x, const Setup<T>& with)
{
    const Index depth = depth_in_place(x, with);
    if (depth == 0) return false;
    for (Index p = 0; p < x.k; p += depth) multiply(depth_of(x, p, std::min(depth, x.k - p)));
    return true;
}

/// Of a product with strides that suit the micro-kernels.
template <Scalar T> void multiply_columns(const Product<T>& x)
{
    Setup<T> with = setup<T>();
    const MicroKernel<T>& kernel = with.kernel;
    if (x.part != Part::all && multiply_by_itself(x, with)) return;
    if (multiply_turned(x, with) || multiply_by_depth(x, with)) return;
    if (SmallProduct<T>::suits(x)) {
        if (SmallProduct<T>::made_at_once(x, with)) return;
        const SmallProduct<T> small(x, with, false);
        // Without memory for an image of A, of which a large product needs less.
        if (!small.packs_again() && finds_memory([&] { small.work(0, small.chunks()); })) return;
    }
    const bool in_place = x.rs == 1 && stays_in_place(x.B, x.m, x.k, with.tree[Loop::pc], with.tree[Loop::ic]);
    Index nc = x.n, kc = 0, mc = 0;
    Real<T>* right = nullptr;
    fit_to_memory(with, [&] {
        if (!in_place) nc = balanced_block(x.n, columns_at_a_time(x, with), kernel.nr);
        kc = balanced_block(x.k, with.tree[Loop::pc], 8);
        mc = balanced_block(x.m, rows_at_a_time(x, with), kernel.mr);
        if (!in_place) right = scratch<Real<T>>(Buffer::right, kernel.right_size(std::min(kc, x.k), std::min(nc, x.n)));
        scratch<Real<T>>(Buffer::left, kernel.left_size(std::min(mc, x.m), std::min(kc, x.k)));
    });
    for (Index j = 0; j < x.n; j += nc) {
        const Index cols = std::min(nc, x.n - j);
        for (Index p = 0; p < x.k; p += kc) {
            const Index depth = std::min(kc, x.k - p);
            const Operand<T> B = x.B.block(p, j);
            if (!in_place) pack_right(kernel, B, depth, cols, right);
            multiply_block(with, x, p, j, mc, in_place ? where_it_lies(B, depth, cols) : Packed<T>{right, cols, depth});
        }
    }
}

} // namespace

template <Scalar T> void multiply(const Product<T>& x)
{
    if (x.m <= 0 || x.n <= 0) return;
    if (x.k <= 0 || x.alpha == T(0)) return scale(x.part, x.m, x.n, x.beta, x.C, x.rs, x.cs);
    if (x.rs == 1) return multiply_columns(x);
    multiply_columns(normalised(x));
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void multiply(const Product<T>&);                                                                                   \
    template Product<T> transposed(const Product<T>&);                                                                           \
    template Product<T> normalised(Product<T>);                                                                                  \
    template Product<T> depth_of(Product<T>, Index, Index);                                                                      \
    template Index depth_in_place(const Product<T>&, const Setup<T>&);                                                           \
    template void scale(Part, Index, Index, T, T*, Index, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
