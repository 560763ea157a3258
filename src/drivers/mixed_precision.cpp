#include "algorithms/signatures.hpp"
#include "base/float_modes.hpp"
#include "blas/factorizations/lu.hpp"
#include "drivers/each.hpp"
#include "drivers/gmres.hpp"
#include "drivers/half.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/row_block.hpp"
#include "drivers/wider_solve.hpp"
#include "matrix/work_memory.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

// Solutions in double precision with factors in single precision: LAPACK's dsgesv and dsposv, their constants included. The
// variant "gmres" finds each step by generalized minimal residuals with the factors as preconditioner, applied in double
// precision, and so converges where plain steps do not: where the condition is beyond single precision (Carson, Higham 2017).

namespace trencadis {
namespace {

/// What the refinements of both factorizations have in common; `Factors` factors, solves, multiplies and falls back.
template <class T, class Factors> class Refinement {
    using S = Half<T>;

    static constexpr Index parts = is_complex<T> ? 2 : 1;
    static constexpr Index few_columns = 4; ///< a product with them is a read of the matrix
    static constexpr Index small = 256;     ///< and up to here it makes no difference

public:
    Refinement(Crew& crew, const RoutineOptions& options, const Factors& factors, Index n, Index nrhs, const T* A, Index lda,
               const T* B, Index ldb, T* X, Index ldx, bool gmres)
        : crew_(crew), options_(options), factors_(factors), n_(n), nrhs_(nrhs), A_(A), lda_(lda), B_(B), ldb_(ldb), X_(X),
          ldx_(ldx), gmres_(gmres)
    {
    }

    /// The number of steps it took, or why it did not do.
    int run()
    {
        const ToldAtTheEnd told{[this] { tell_x(); }};
        try {
            memory_.emplace(std::size_t(n_) * std::size_t(n_) * sizeof(S));
            factor_ = static_cast<S*>(memory_->data());
            step_ = std::make_unique_for_overwrite<S[]>(std::size_t(n_ * nrhs_));
            residual_ = std::make_unique_for_overwrite<T[]>(std::size_t(n_ * nrhs_));
            if (gmres_) search_.emplace(n_, std::min(n_, most_directions));
        } catch (const std::bad_alloc&) {
            return no_memory;
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory) throw;
            return no_memory;
        }
        const double bound = norm_while_narrowing() * std::numeric_limits<double>::epsilon() / 2 * std::sqrt(double(n_));
        if (!narrow(B_, ldb_) || too_large_) return overflow;
        if (factors_.factor(factor_, n_) != 0 && !(gmres_ && factor_shifted())) return factorization_failed;
        factors_.solve(factor_, step_.get());
        each_column(nrhs_, [&](Index j) { std::copy_n(&step_[std::size_t(j * n_)], n_, X_ + j * ldx_); });
        if (gmres_) return refine_by_gmres(bound);
        for (int step = 0; step <= most_steps; ++step) {
            subtract();
            if (good_enough(bound)) return step;
            if (step == most_steps || !narrow(residual_.get(), n_)) break;
            factors_.solve(factor_, step_.get());
            each_column(nrhs_, [&](Index j) {
                for (Index i = 0; i < n_; ++i) X_[i + j * ldx_] += T(step_[std::size_t(i + j * n_)]);
            });
        }
        return no_convergence;
    }

private:
    static constexpr Index most_directions = 100;

    int refine_by_gmres(double bound)
    {
        for (Index j = 0; j < nrhs_; ++j)
            if (!finite(j)) std::fill_n(X_ + j * ldx_, n_, T(0));
        for (int step = 0; step <= most_steps; ++step) {
            subtract();
            bool all_good = true;
            for (Index j = 0; j < nrhs_; ++j) {
                if (good_enough(j, bound)) continue;
                all_good = false;
                if (step == most_steps || !correct(j)) return no_convergence;
            }
            if (all_good) return step;
        }
        return no_convergence;
    }
    /// x <- x + d for the column whose residual has been found, A d = r to some digits.
    bool correct(Index j)
    {
        constexpr double some_digits = 1e-6;
        T* const r = &residual_[std::size_t(j * n_)];
        std::vector<T> d(static_cast<std::size_t>(n_));
        factors_.precondition(factor_, r);
        const bool found = search_->solve(r, d.data(), some_digits, [&](const T* v, T* w) {
            std::fill_n(w, n_, T(0));
            each_block([&](const RowBlock<T>& rows, Index) { rows.subtract_product(v, w); });
            std::transform(w, w + n_, w, std::negate<T>());
            factors_.precondition(factor_, w);
        });
        for (Index i = 0; found && i < n_; ++i) X_[i + j * ldx_] += d[std::size_t(i)];
        return found;
    }
    bool finite(Index j) const
    {
        return std::all_of(X_ + j * ldx_, X_ + j * ldx_ + n_, [](T x) { return std::isfinite(cabs1(x)); });
    }
    /// Rounded to single precision, a positive definite matrix may not be so any more; with a little more on its diagonal it is,
    /// and nearly as good a preconditioner (Higham, Pranesh 2021).
    bool factor_shifted()
    {
        if (!Factors::positive) return false;
        for (float more = 4 * std::numeric_limits<float>::epsilon(); more < 1e-3f; more *= 8) {
            norm_while_narrowing();
            for (Index i = 0; i < n_; ++i) factor_[i + i * n_] *= 1 + more;
            if (factors_.factor(factor_, n_) == 0) return true;
        }
        return false;
    }

    static constexpr double limit = std::numeric_limits<float>::max();
    /// What is too large is left out, as its conversion would raise an exception; somebody else says so.
    static S narrowed(T x) { return fits(x) ? S(x) : S(0); }

    template <class One> void each_column(Index columns, const One& one)
    {
        for_each_problem(crew_, options_, columns, 4.0 * double(n_), [&](const KernelProvider&, Index j) { one(j); });
    }
    /// factor <- A; returns the largest sum of a row's moduli, of the whole matrix where a triangle stands for it.
    double norm_while_narrowing()
    {
        const Index blocks = RowBlock<T>::count(n_);
        std::vector<double> norms(static_cast<std::size_t>(blocks)), largest(norms.size());
        each_block([&](const RowBlock<T>& rows, Index b) {
            const FloatScope nothing_traps(FloatModes::current()); // the squares of moduli may be too large
            const blas::ColumnKernel<double>& numbers = blas::setup<double>().kernel.columns;
            double sums[RowBlock<T>::largest_height], most = 0;
            rows.sum_moduli(sums, [&](Index j, Index begin, Index end) {
                const T* const column = A_ + j * lda_;
                const double found = numbers.largest(parts * (end - begin), reinterpret_cast<const double*>(column + begin));
                if (!(found <= most)) most = found;
                for (Index i = begin; i < end; ++i) factor_[i + j * n_] = found <= limit ? S(column[i]) : narrowed(column[i]);
            });
            norms[std::size_t(b)] = worst(sums, rows.height()), largest[std::size_t(b)] = most;
        });
        too_large_ = worst(largest.data(), blocks) > limit;
        return worst(norms.data(), blocks);
    }
    template <class Each> void each_block(const Each& each)
    {
        const Flops flops = 2.0 * parts * double(RowBlock<T>::largest_height) * double(n_);
        for_each_problem(crew_, options_, RowBlock<T>::count(n_), flops,
                         [&](const KernelProvider&, Index b) { each(RowBlock<T>(Factors::shape, n_, A_, lda_, b), b); });
    }
    /// X is written at home, between products that read it.
    void tell_x() { tell_written(crew_, argument::Matrix{"X", Region::all(X_, n_, nrhs_, ldx_), true}); }
    /// The largest, or a NaN.
    static double worst(const double* values, Index count)
    {
        double most = 0;
        for (Index i = 0; i < count; ++i)
            if (!(values[i] <= most)) most = values[i];
        return most;
    }
    /// step <- B, n x nrhs; false where a number is too large.
    bool narrow(const T* B, Index ldb)
    {
        std::vector<char> right(std::size_t(nrhs_), 1);
        each_column(nrhs_, [&](Index j) {
            for (Index i = 0; i < n_; ++i) {
                right[std::size_t(j)] &= char(fits(B[i + j * ldb]));
                step_[std::size_t(i + j * n_)] = narrowed(B[i + j * ldb]);
            }
        });
        return std::find(right.begin(), right.end(), 0) == right.end();
    }
    /// residual <- B - A X.
    void subtract()
    {
        each_column(nrhs_, [&](Index j) { std::copy_n(B_ + j * ldb_, n_, &residual_[std::size_t(j * n_)]); });
        if (nrhs_ > few_columns || n_ <= small) {
            tell_x();
            return factors_.multiply(A_, lda_, X_, ldx_, residual_.get());
        }
        each_block([&](const RowBlock<T>& rows, Index) {
            for (Index j = 0; j < nrhs_; ++j) rows.subtract_product(X_ + j * ldx_, &residual_[std::size_t(j * n_)]);
        });
    }
    bool good_enough(double bound) const
    {
        for (Index j = 0; j < nrhs_; ++j)
            if (!good_enough(j, bound)) return false;
        return true;
    }
    bool good_enough(Index j, double bound) const
    {
        double x = 0, r = 0;
        for (Index i = 0; i < n_; ++i) {
            x = std::max(x, cabs1(X_[i + j * ldx_]));
            const double size = cabs1(residual_[std::size_t(i + j * n_)]);
            if (!(size <= r)) r = size; // a NaN stays
        }
        return std::isfinite(x) && r <= x * bound;
    }

    Crew& crew_;
    const RoutineOptions& options_;
    const Factors& factors_;
    const Index n_, nrhs_;
    const T* const A_;
    const Index lda_;
    const T* const B_;
    const Index ldb_;
    T* const X_;
    const Index ldx_;
    std::optional<WorkMemory> memory_;
    S* factor_ = nullptr; ///< n x n
    std::unique_ptr<S[]> step_;
    std::unique_ptr<T[]> residual_;
    bool too_large_ = false; ///< for single precision
    const bool gmres_;
    std::optional<Gmres<T>> search_;
};

/// The caller's options for routines that have no variants of that name.
RoutineOptions without_variant(RoutineOptions options)
{
    options.variant.clear();
    return options;
}

template <class T> struct LuFactors {
    static constexpr Region::Shape shape = Region::Shape::all;
    static constexpr bool positive = false;
    Crew& crew;
    const RoutineOptions& options;
    Index n, nrhs;
    Index* ipiv;
    RoutineOptions rest = without_variant(options);

    Index factor(Half<T>* A, Index lda) const { return getrf(crew, n, n, A, lda, ipiv, options); }
    void solve(const Half<T>* A, Half<T>* B) const { getrs(crew, Op::none, n, nrhs, A, n, ipiv, B, n, rest); }
    /// x <- A^-1 x in double precision.
    void precondition(const Half<T>* A, T* x) const
    {
        const WiderSolve<Half<T>, T> solve(n, A, n, x);
        blas::laswp(1, x, n, 0, n, ipiv);
        solve(Uplo::lower, Op::none, Diag::unit);
        solve(Uplo::upper, Op::none, Diag::non_unit);
    }
    void multiply(const T* A, Index lda, const T* X, Index ldx, T* R) const
    {
        gemm(crew, Op::none, Op::none, n, nrhs, n, T(-1), A, lda, X, ldx, T(1), R, n, rest);
    }
};
template <class T, Region::Shape triangle> struct CholeskyFactors {
    static constexpr Region::Shape shape = triangle;
    static constexpr bool positive = true;
    static constexpr Uplo uplo = triangle == Region::Shape::lower ? Uplo::lower : Uplo::upper;
    Crew& crew;
    const RoutineOptions& options;
    Index n, nrhs;
    RoutineOptions rest = without_variant(options);

    Index factor(Half<T>* A, Index lda) const { return potrf(crew, uplo, n, A, lda, options); }
    void solve(const Half<T>* A, Half<T>* B) const { potrs(crew, uplo, n, nrhs, A, n, B, n, rest); }
    void precondition(const Half<T>* A, T* x) const
    {
        const WiderSolve<Half<T>, T> solve(n, A, n, x);
        solve(uplo, uplo == Uplo::lower ? Op::none : Op::conj_trans, Diag::non_unit);
        solve(uplo, uplo == Uplo::lower ? Op::conj_trans : Op::none, Diag::non_unit);
    }
    void multiply(const T* A, Index lda, const T* X, Index ldx, T* R) const
    {
        hemm(crew, Side::left, uplo, n, nrhs, T(-1), A, lda, X, ldx, T(1), R, n, rest);
    }
};

template <class T> void copy_columns(Index n, Index nrhs, const T* B, Index ldb, T* X, Index ldx)
{
    for (Index j = 0; j < nrhs; ++j) std::copy_n(B + j * ldb, n, X + j * ldx);
}

} // namespace

template <Scalar T>
Index gesv_mixed(Crew& crew, Index n, Index nrhs, T* A, Index lda, Index* ipiv, const T* B, Index ldb, T* X, Index ldx,
                 int* iterations, const RoutineOptions& given)
{
    const InCall call(crew);
    require(call, TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs), TRC_CHECK_INOUT(A, lda, n, n), TRC_CHECK_PIVOTS_OUT(ipiv, n),
            TRC_CHECK_IN(B, ldb, n, nrhs), TRC_CHECK_INOUT(X, ldx, n, nrhs));
    const bool gmres = given.variant == "gmres";
    const RoutineOptions options = gmres ? without_variant(given) : given;
    check_options("gesv", options);
    int steps = 0;
    if (n > 0) {
        const LuFactors<T> factors{crew, options, n, nrhs, ipiv};
        steps = Refinement<T, LuFactors<T>>(crew, options, factors, n, nrhs, A, lda, B, ldb, X, ldx, gmres).run();
    }
    if (iterations) *iterations = steps;
    if (steps >= 0) return 0;
    if (const Index info = getrf(crew, n, n, A, lda, ipiv, options)) return info; // as LAPACK, without a word in X
    copy_columns(n, nrhs, B, ldb, X, ldx);
    getrs(crew, Op::none, n, nrhs, A, lda, ipiv, X, ldx, without_variant(options));
    return 0;
}

namespace {

template <class T, Region::Shape triangle>
int refine_cholesky(Crew& crew, Index n, Index nrhs, const T* A, Index lda, const T* B, Index ldb, T* X, Index ldx, bool gmres,
                    const RoutineOptions& options)
{
    using Factors = CholeskyFactors<T, triangle>;
    const Factors factors{crew, options, n, nrhs};
    return Refinement<T, Factors>(crew, options, factors, n, nrhs, A, lda, B, ldb, X, ldx, gmres).run();
}

} // namespace

template <Scalar T>
Index posv_mixed(Crew& crew, Uplo uplo, Index n, Index nrhs, T* A, Index lda, const T* B, Index ldb, T* X, Index ldx,
                 int* iterations, const RoutineOptions& given)
{
    const InCall call(crew);
    require(call, TRC_CHECK_FLAG(Uplo, uplo, "uplo"), TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs),
            TRC_CHECK_TRIANGLE_INOUT(A, lda, n, uplo), TRC_CHECK_IN(B, ldb, n, nrhs), TRC_CHECK_INOUT(X, ldx, n, nrhs));
    const bool gmres = given.variant == "gmres";
    const RoutineOptions options = gmres ? without_variant(given) : given;
    check_options("posv", options);
    int steps = 0;
    if (n > 0)
        steps = (uplo == Uplo::lower
                     ? refine_cholesky<T, Region::Shape::lower>
                     : refine_cholesky<T, Region::Shape::upper>)(crew, n, nrhs, A, lda, B, ldb, X, ldx, gmres, options);
    if (iterations) *iterations = steps;
    if (steps >= 0) return 0;
    if (const Index info = potrf(crew, uplo, n, A, lda, options)) return info; // as LAPACK, without a word in X
    copy_columns(n, nrhs, B, ldb, X, ldx);
    potrs(crew, uplo, n, nrhs, A, lda, X, ldx, without_variant(options));
    return 0;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index gesv_mixed(Crew&, Index, Index, T*, Index, Index*, const T*, Index, T*, Index, int*, const RoutineOptions&);  \
    template Index posv_mixed(Crew&, Uplo, Index, Index, T*, Index, const T*, Index, T*, Index, int*, const RoutineOptions&);
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
