#include "estimates/refine.hpp"

#include "base/float_modes.hpp"
#include "blas/factorizations/lu.hpp"
#include "blas/level3/control_tree.hpp"
#include "blas/level3/vector_solve.hpp"
#include "estimates/inverse_norm.hpp"
#include "estimates/room.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trencadis::estimates {
namespace {

template <Scalar T> Real<T> size_of(T value)
{
    if constexpr (is_complex<T>) return std::abs(value.real()) + std::abs(value.imag());
    else return std::abs(value);
}
template <class R> R larger(R a, R b) { return a < b || std::isnan(b) ? b : a; }

/// op(A) X = B with the factors and pivots of getrf.
template <Scalar T> struct General {
    Op op;
    Index n;
    const T* A;
    Index lda;
    const T* AF;
    Index ldaf;
    const Index* ipiv;
    const blas::ColumnKernel<T>& kernel = blas::setup<T>().kernel.columns;

    /// r <- r - op(A) x.
    void subtract(const T* x, T* r) const
    {
        if (op == Op::none) return kernel.subtract(n, n, A, lda, x, r);
        each_block([&](Index first, Index columns) {
            T products[block];
            kernel.dots(n, columns, A + first * lda, lda, x, op == Op::conj_trans, products);
            for (Index j = 0; j < columns; ++j) r[first + j] -= products[j];
        });
    }
    /// w <- w + |op(A)| x.
    void add_sizes(const Real<T>* x, Real<T>* w) const
    {
        if (op == Op::none) return kernel.add_sizes(n, n, A, lda, x, w);
        each_block([&](Index first, Index columns) {
            Real<T> products[block];
            kernel.size_dots(n, columns, A + first * lda, lda, x, products);
            for (Index j = 0; j < columns; ++j) w[first + j] += products[j];
        });
    }
    /// r <- op(A)^-1 r.
    void solve(T* r) const { solve(op, r); }
    /// The same, or r <- op(A)^-H r, of a matrix with the moduli of op(A).
    void solve_like(T* r, bool adjoint) const { solve((op == Op::none) != adjoint ? Op::none : herm_op<T>, r); }

private:
    static constexpr Index block = 64; ///< columns whose products are kept

    template <class Visit> void each_block(const Visit& visit) const
    {
        for (Index first = 0; first < n; first += block) visit(first, std::min(block, n - first));
    }
    void solve(Op with, T* r) const
    {
        if (with == Op::none) {
            blas::laswp(1, r, n, 0, n, ipiv);
            blas::solve_vector(Uplo::lower, with, Diag::unit, n, AF, ldaf, r);
            return blas::solve_vector(Uplo::upper, with, Diag::non_unit, n, AF, ldaf, r);
        }
        blas::solve_vector(Uplo::upper, with, Diag::non_unit, n, AF, ldaf, r);
        blas::solve_vector(Uplo::lower, with, Diag::unit, n, AF, ldaf, r);
        blas::laswp(1, r, n, 0, n, ipiv, blas::Interchanges::backward);
    }
};

/// A X = B with the factor of potrf; one triangle of A is read.
template <Scalar T> struct Positive {
    using R = Real<T>;
    Uplo uplo;
    Index n;
    const T* A;
    Index lda;
    const T* AF;
    Index ldaf;
    const blas::ColumnKernel<T>& kernel = blas::setup<T>().kernel.columns;
    static constexpr Index block = 8; ///< columns that are read a second time from a near cache

    void subtract(const T* x, T* r) const
    {
        each_block([&](Index first, Index columns, Index row, Index rows) {
            T products[block];
            kernel.subtract(rows, columns, A + row + first * lda, lda, x + first, r + row);
            kernel.dots(rows, columns, A + row + first * lda, lda, x + row, true, products);
            for (Index j = 0; j < columns; ++j) r[first + j] -= products[j];
            each_on_diagonal(first, columns, [&](Index i, Index j, T a) { r[i] -= a * x[j]; });
        });
    }
    void add_sizes(const R* x, R* w) const
    {
        each_block([&](Index first, Index columns, Index row, Index rows) {
            R products[block];
            kernel.add_sizes(rows, columns, A + row + first * lda, lda, x + first, w + row);
            kernel.size_dots(rows, columns, A + row + first * lda, lda, x + row, products);
            for (Index j = 0; j < columns; ++j) w[first + j] += products[j];
            each_on_diagonal(first, columns, [&](Index i, Index j, T a) { w[i] += size_of(a) * x[j]; });
        });
    }
    void solve(T* r) const
    {
        const bool lower = uplo == Uplo::lower;
        blas::solve_vector(uplo, lower ? Op::none : herm_op<T>, Diag::non_unit, n, AF, ldaf, r);
        blas::solve_vector(uplo, lower ? herm_op<T> : Op::none, Diag::non_unit, n, AF, ldaf, r);
    }
    void solve_like(T* r, bool) const { solve(r); }

private:
    /// visit(first column, columns, first row, rows) of what stands beside the diagonal's blocks.
    template <class Visit> void each_block(const Visit& visit) const
    {
        for (Index first = 0; first < n; first += block) {
            const Index columns = std::min(block, n - first), last = first + columns;
            if (uplo == Uplo::lower) visit(first, columns, last, n - last);
            else visit(first, columns, Index{0}, first);
        }
    }
    /// add(i, j, a_ij) for a block on the diagonal, with both its triangles.
    template <class Add> void each_on_diagonal(Index first, Index columns, const Add& add) const
    {
        for (Index j = first; j < first + columns; ++j)
            for (Index i = first; i < first + columns; ++i) {
                const bool stored = uplo == Uplo::lower ? i >= j : i <= j;
                if (i == j) add(i, j, T(std::real(A[i + j * lda])));
                else add(i, j, stored ? A[i + j * lda] : conjugate(A[j + i * lda]));
            }
    }
};

/// One right side after the other, in work_of<T>(n) numbers: residual, weights and sizes; when the error is bounded the residual
/// has done its work, and with it the sizes, where the search wants two vectors.
template <Scalar T, class System> class Refinement {
public:
    using R = Real<T>;
    Refinement(const System& system, T* room)
        : system_(system), n_(system.n), residual_(room), sizes_(reinterpret_cast<R*>(room + n_)), weights_(sizes_ + n_)
    {
    }
    void refine(const T* b, T* x, R* ferr, R* berr)
    {
        constexpr int most_steps = 5;
        R last = 3;
        *berr = backward_error(b, x);
        for (int step = 0; step<most_steps&& * berr> eps && 2 * *berr <= last; ++step) {
            last = *berr;
            system_.solve(residual_);
            for (Index i = 0; i < n_; ++i) x[i] += residual_[i];
            *berr = backward_error(b, x);
        }
        *ferr = forward_error(x);
    }

private:
    static constexpr R eps = std::numeric_limits<R>::epsilon() / 2;
    R least() const { return R(n_ + 1) * std::numeric_limits<R>::min(); } ///< added to what is too small to divide by

    /// Leaves the residual, and |op(A)| |x| + |b| in the weights.
    R backward_error(const T* b, const T* x)
    {
        std::copy_n(b, n_, residual_);
        system_.subtract(x, residual_);
        std::transform(b, b + n_, weights_, size_of<T>);
        std::transform(x, x + n_, sizes_, size_of<T>);
        system_.add_sizes(sizes_, weights_);
        R most = 0;
        for (Index i = 0; i < n_; ++i) {
            const R more = weights_[i] > least() / eps ? 0 : least();
            most = larger(most, (size_of(residual_[i]) + more) / (weights_[i] + more));
        }
        return most;
    }
    /// From the weights and the residual that the last backward error left.
    R forward_error(const T* x)
    {
        for (Index i = 0; i < n_; ++i) {
            const R more = weights_[i] > least() / eps ? 0 : least();
            weights_[i] = size_of(residual_[i]) + R(n_ + 1) * eps * weights_[i] + more;
        }
        const auto product = [&](T* y, bool adjoint) {
            if (!adjoint) system_.solve_like(y, true);
            for (Index i = 0; i < n_; ++i) y[i] *= weights_[i];
            if (adjoint) system_.solve_like(y, false);
            return true;
        };
        const R error = norm1_by_products<T>(n_, product, residual_);
        R most = 0;
        for (Index i = 0; i < n_; ++i) most = larger(most, size_of(x[i]));
        return most != 0 ? error / most : error;
    }

    const System& system_;
    const Index n_;
    T* const residual_;
    R *const sizes_, *const weights_;
};

template <Scalar T, class System>
void refine(const System& system, Index nrhs, const T* B, Index ldb, T* X, Index ldx, Real<T>* ferr, Real<T>* berr, T* work)
{
    if (system.n == 0) return void((std::fill_n(ferr, nrhs, 0), std::fill_n(berr, nrhs, 0)));
    const FloatScope nothing_traps(FloatModes::current()); // the weights of a singular system are beyond the numbers
    Room<T> room(work, work_of<T>(system.n));
    Refinement<T, System> refinement(system, room.data());
    for (Index j = 0; j < nrhs; ++j) refinement.refine(B + j * ldb, X + j * ldx, ferr + j, berr + j);
}

} // namespace

template <Scalar T>
void gerfs(Op op, Index n, Index nrhs, const T* A, Index lda, const T* AF, Index ldaf, const Index* ipiv, const T* B, Index ldb,
           T* X, Index ldx, Real<T>* ferr, Real<T>* berr, T* work)
{
    refine(General<T>{op, n, A, lda, AF, ldaf, ipiv}, nrhs, B, ldb, X, ldx, ferr, berr, work);
}

template <Scalar T>
void porfs(Uplo uplo, Index n, Index nrhs, const T* A, Index lda, const T* AF, Index ldaf, const T* B, Index ldb, T* X, Index ldx,
           Real<T>* ferr, Real<T>* berr, T* work)
{
    refine(Positive<T>{uplo, n, A, lda, AF, ldaf}, nrhs, B, ldb, X, ldx, ferr, berr, work);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void gerfs(Op, Index, Index, const T*, Index, const T*, Index, const Index*, const T*, Index, T*, Index, Real<T>*,  \
                        Real<T>*, T*);                                                                                           \
    template void porfs(Uplo, Index, Index, const T*, Index, const T*, Index, const T*, Index, T*, Index, Real<T>*, Real<T>*, T*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::estimates
