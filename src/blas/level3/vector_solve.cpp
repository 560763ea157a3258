#include "blas/level3/vector_solve.hpp"

#include "blas/level3/control_tree.hpp"
#include "blas/level3/division.hpp"
#include "blas/level3/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

constexpr Index block = 32; ///< columns whose triangle is solved element by element

/// By blocks of columns: their triangle element by element, what stands above or below it at once.
template <Scalar T> struct VectorSolve {
    const ColumnKernel<T>& kernel;
    Op op;
    Diag diag;
    const T* A;
    Index lda;
    T* x;
    const Helpers& helpers;
    Index band;

    const T* at(Index i, Index j) const { return A + i + j * lda; }
    T seen(T a) const { return seen_through(op, a); }
    void divide(Index j) const
    {
        if (diag == Diag::non_unit) x[j] = divided(x[j], seen(*at(j, j)));
    }
    /// y - a b without std::complex's search for infinities.
    static T less_product(T y, T a, T b)
    {
        if constexpr (is_complex<T>)
            return {y.real() - (a.real() * b.real() - a.imag() * b.imag()),
                    y.imag() - (a.real() * b.imag() + a.imag() * b.real())};
        else return y - a * b;
    }
    /// What x_j is in other rows of its block, or in transposed columns: so few that calls of kernels would take longer.
    void take_from(Index begin, Index end, Index j) const
    {
        const T solved = x[j], *const a = at(0, j);
        for (Index i = begin; i < end; ++i) x[i] = less_product(x[i], a[i], solved);
    }
    void take_from_transposed(Index begin, Index end, Index j) const
    {
        const T solved = x[j], *const a = at(j, 0);
        for (Index i = begin; i < end; ++i) x[i] = less_product(x[i], seen(a[i * lda]), solved);
    }
    /// x <- x - A x for `rows` rows from `row` with the columns [first, last).
    void subtract(Index row, Index rows, Index first, Index last) const
    {
        if (rows > 0) kernel.subtract(rows, last - first, at(row, first), lda, x + first, x + row);
    }
    void subtract_dots(Index row, Index rows, Index first, Index last) const
    {
        if (rows <= 0) return;
        T sums[block];
        kernel.dots(rows, last - first, at(row, first), lda, x + row, op == Op::conj_trans, sums);
        for (Index j = first; j < last; ++j) x[j] -= sums[j - first];
    }

    /// x <- x - A x for rows beside the columns [first, last) of a band, block by block in the order of the solve.
    void subtract_band(Index row, Index rows, Index first, Index last, bool upwards) const
    {
        shared(rows, last - first, [&](Index begin, Index count) {
            if (upwards)
                for (Index j = first; j < last; j += block) subtract(row + begin, count, j, std::min(last, j + block));
            else
                for (Index end = last, j; end > first; end = j) {
                    j = std::max(first, end - block);
                    subtract(row + begin, count, j, end);
                }
        });
    }
    void subtract_dots_of_band(Index row, Index rows, Index first, Index last) const
    {
        shared(last - first, rows, [&](Index begin, Index count) {
            for (Index j = first + begin, end = j + count; j < end; j += block)
                subtract_dots(row, rows, j, std::min(end, j + block));
        });
    }
    /// compute(begin, count) for each of `count` rows or columns of so many elements.
    template <class Compute> void shared(Index count, Index each, const Compute& compute) const
    {
        const Bytes other = Bytes(each) * sizeof(T), own = Bytes(count) * sizeof(T);
        in_slices(helpers, {count, flops_for_a_read<T> * Flops(count) * Flops(each), other, own, true}, compute);
    }

    void lower(Index n) const
    {
        for (Index begin = 0; begin < n; begin += band) {
            const Index end = std::min(n, begin + band);
            for (Index first = begin; first < end; first += block) {
                const Index last = std::min(end, first + block);
                for (Index j = first; j < last; ++j) divide(j), take_from(j + 1, last, j);
                subtract(last, end - last, first, last);
            }
            subtract_band(end, n - end, begin, end, true);
        }
    }
    void upper(Index n) const
    {
        for (Index end = n, begin; end > 0; end = begin) {
            begin = std::max<Index>(0, end - band);
            for (Index last = end, first; last > begin; last = first) {
                first = std::max(begin, last - block);
                for (Index j = last; j-- > first;) divide(j), take_from(first, j, j);
                subtract(begin, first - begin, first, last);
            }
            subtract_band(0, begin, begin, end, false);
        }
    }
    void lower_transposed(Index n) const
    {
        for (Index end = n, begin; end > 0; end = begin) {
            begin = std::max<Index>(0, end - band);
            subtract_dots_of_band(end, n - end, begin, end);
            for (Index last = end, first; last > begin; last = first) {
                first = std::max(begin, last - block);
                subtract_dots(last, end - last, first, last);
                for (Index j = last; j-- > first;) divide(j), take_from_transposed(first, j, j);
            }
        }
    }
    void upper_transposed(Index n) const
    {
        for (Index begin = 0; begin < n; begin += band) {
            const Index end = std::min(n, begin + band);
            subtract_dots_of_band(0, begin, begin, end);
            for (Index first = begin; first < end; first += block) {
                const Index last = std::min(end, first + block);
                subtract_dots(begin, first - begin, first, last);
                for (Index j = first; j < last; ++j) divide(j), take_from_transposed(j + 1, last, j);
            }
        }
    }
};

} // namespace

template <Scalar T> void solve_vector(Uplo uplo, Op op, Diag diag, Index n, const T* A, Index lda, T* x, const Helpers& helpers)
{
    const VectorSolve<T> solve{setup<T>().kernel.columns, op, diag, A, lda, x, helpers, vector_band<T>(std::max<Index>(n, 1))};
    const bool lower = uplo == Uplo::lower;
    if (op == Op::none) lower ? solve.lower(n) : solve.upper(n);
    else lower ? solve.lower_transposed(n) : solve.upper_transposed(n);
}

template <Scalar T>
bool solve_rows(Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                const Helpers& helpers)
{
    T* x = nullptr;
    if (alpha == T(0) || !finds_memory([&] { x = scratch<T>(Buffer::products, n); })) return false;
    const Op turned = op == Op::none ? Op::trans : Op::none; // x^T is the unknown; beside A^H its conjugate, and A
    for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) x[j] = seen_through(op, alpha * B[i + j * ldb]);
        solve_vector(uplo, turned, diag, n, A, lda, x, helpers);
        for (Index j = 0; j < n; ++j) B[i + j * ldb] = seen_through(op, x[j]);
    }
    return true;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void solve_vector(Uplo, Op, Diag, Index, const T*, Index, T*, const Helpers&);                                      \
    template bool solve_rows(Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index, const Helpers&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
