#include "blas/level3/vector_solve.hpp"

#include "blas/level3/control_tree.hpp"
#include "blas/level3/division.hpp"
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

    void lower(Index n) const
    {
        for (Index first = 0; first < n; first += block) {
            const Index last = std::min(n, first + block);
            for (Index j = first; j < last; ++j) divide(j), take_from(j + 1, last, j);
            subtract(last, n - last, first, last);
        }
    }
    void upper(Index n) const
    {
        for (Index last = n, first; last > 0; last = first) {
            first = std::max<Index>(0, last - block);
            for (Index j = last; j-- > first;) divide(j), take_from(first, j, j);
            subtract(0, first, first, last);
        }
    }
    void lower_transposed(Index n) const
    {
        for (Index last = n, first; last > 0; last = first) {
            first = std::max<Index>(0, last - block);
            subtract_dots(last, n - last, first, last);
            for (Index j = last; j-- > first;) divide(j), take_from_transposed(first, j, j);
        }
    }
    void upper_transposed(Index n) const
    {
        for (Index first = 0; first < n; first += block) {
            const Index last = std::min(n, first + block);
            subtract_dots(0, first, first, last);
            for (Index j = first; j < last; ++j) divide(j), take_from_transposed(j + 1, last, j);
        }
    }
};

} // namespace

template <Scalar T> void solve_vector(Uplo uplo, Op op, Diag diag, Index n, const T* A, Index lda, T* x)
{
    const VectorSolve<T> solve{setup<T>().kernel.columns, op, diag, A, lda, x};
    const bool lower = uplo == Uplo::lower;
    if (op == Op::none) lower ? solve.lower(n) : solve.upper(n);
    else lower ? solve.lower_transposed(n) : solve.upper_transposed(n);
}

#define TRC_INSTANTIATE(T) template void solve_vector(Uplo, Op, Diag, Index, const T*, Index, T*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
