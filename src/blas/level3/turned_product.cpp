#include "blas/level3/turned_product.hpp"

#include "blas/level3/scratch.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

/// to(j, i) <- from(i, j).
template <Scalar T> void transpose(Index rows, Index cols, const T* from, Index from_cs, T* to, Index to_cs)
{
    constexpr Index square = 8;
    for (Index j0 = 0; j0 < cols; j0 += square)
        for (Index i0 = 0; i0 < rows; i0 += square) {
            const Index j1 = std::min(cols, j0 + square), i1 = std::min(rows, i0 + square);
            for (Index i = i0; i < i1; ++i)
                for (Index j = j0; j < j1; ++j) to[j + i * to_cs] = from[i + j * from_cs];
        }
}

} // namespace

template <Scalar T> bool is_turned(const Product<T>& x)
{
    constexpr Index fewest = 5, most = 64;         // columns: more are worth packing A
    constexpr Index shortest = 192, shallow = 192; // C is moved four times, and B packed for few rows
    if (is_complex<T> || x.part != Part::all || x.alpha == T(0) || x.rs != 1) return false;
    if (x.A.structure != Structure::general || x.B.structure != Structure::general) return false;
    return x.A.cs == 1 && x.A.rs != 1 && x.n >= fewest && x.n <= most && x.m >= shortest && x.k >= shallow;
}

template <Scalar T> bool multiply_turned(const Product<T>& x, const Setup<T>& with)
{
    if (!is_turned(x)) return false;
    constexpr Index longest = 512, line = 64 / Index(sizeof(T));
    const Index rows = std::min(x.m, balanced_block(x.m, longest, with.kernel.step)), cs = (x.n + line - 1) / line * line;
    T* turned = nullptr;
    const auto reserve = [&] {
        turned = scratch<T>(Buffer::turned, cs * rows);
        // With these a product finds memory whatever happens: one that failed half way could not be begun again.
        scratch<T>(Buffer::right, with.kernel.right_size(with.tree[Loop::pc], with.kernel.nr));
        scratch<T>(Buffer::left, with.kernel.left_size(with.kernel.mr, with.tree[Loop::pc]));
    };
    if (!finds_memory(reserve)) return false;
    for (Index i = 0; i < x.m; i += rows) {
        const Index some = std::min(rows, x.m - i);
        T* const C = x.C + i;
        if (x.beta != T(0)) transpose(some, x.n, C, x.cs, turned, cs);
        multiply<T>({x.n, some, x.k, x.alpha, x.B.transposed(), x.A.block(i, 0).transposed(), x.beta, turned, 1, cs});
        transpose(x.n, some, turned, cs, C, x.cs);
    }
    return true;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template bool is_turned(const Product<T>&);                                                                                  \
    template bool multiply_turned(const Product<T>&, const Setup<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
