#include "algorithms/signatures.hpp"
#include "blas/level3/control_tree.hpp"
#include "drivers/each.hpp"
#include "drivers/half.hpp"
#include "drivers/linear_algebra.hpp"
#include "matrix/operations.hpp"
#include "matrix/work_memory.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <vector>

// Least squares in double precision with QR factors in single precision: the solution x and its residual r together solve the
// augmented system
//     [ I   A ] [r]   [b]
//     [ A^H 0 ] [x] = [0],
// and each step solves it for what is missing, with the factors (Bjorck 1967; Carson, Higham, Pranesh 2020).

namespace trencadis {
namespace {

template <class T> class AugmentedRefinement {
    using S = Half<T>;

public:
    AugmentedRefinement(Crew& crew, const RoutineOptions& options, Index m, Index n, Index nrhs, const T* A, Index lda,
                        const T* B, Index ldb, T* X, Index ldx)
        : crew_(crew), options_(options), m_(m), n_(n), nrhs_(nrhs), A_(A), lda_(lda), B_(B), ldb_(ldb), X_(X), ldx_(ldx)
    {
    }

    /// The number of steps it took, or why it did not do.
    int run()
    {
        try {
            memory_.emplace(std::size_t(m_) * std::size_t(n_) * sizeof(S));
            tau_ = std::make_unique_for_overwrite<S[]>(std::size_t(n_));
            upper_ = std::make_unique_for_overwrite<S[]>(std::size_t(m_ * nrhs_));
            lower_ = std::make_unique_for_overwrite<S[]>(std::size_t(n_ * nrhs_));
            residual_ = std::make_unique<T[]>(std::size_t(m_ * nrhs_));
            missing_ = std::make_unique_for_overwrite<T[]>(std::size_t((m_ + n_) * nrhs_));
        } catch (const std::bad_alloc&) {
            return no_memory;
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory) throw;
            return no_memory;
        }
        QR_ = static_cast<S*>(memory_->data());
        const double most = narrow_matrix();
        if (!fits(most)) return overflow;
        if (const int away = most > 0 && std::isfinite(most) ? std::ilogb(most) : 0; std::abs(away) > far_from_one) {
            factor_ = std::ldexp(1.0, std::min(-away, 1000));
            narrow_matrix();
        }
        geqrf(crew_, m_, n_, QR_, m_, tau_.get(), options_);
        float rcond = 0;
        trcon(crew_, Norm::one, Uplo::upper, Diag::non_unit, n_, QR_, m_, &rcond);
        if (!(rcond > least_rcond)) return factorization_failed;
        for (Index j = 0; j < nrhs_; ++j) std::fill_n(X_ + j * ldx_, n_, T(0));
        return refine(10 / rcond);
    }

private:
    static constexpr float least_rcond = 8 * std::numeric_limits<float>::epsilon(); ///< below, steps would not converge

    /// A step has products with R^-1 R^-H, of the size of A^-2 times conditions: up to this power of two single precision has the
    /// range for them; beyond, the factors are those of a multiple of A.
    static constexpr int far_from_one = 20;

    /// What rounding alone changes in column j of X, but for the condition: x's own, and that of A^H r (Wedin 1973).
    double rounding(Index j) const
    {
        const double size = size_of_matrix();
        const double x = largest(n_, X_ + j * ldx_), r = largest(m_, &residual_[std::size_t(j * m_)]);
        return std::numeric_limits<double>::epsilon() * (std::sqrt(double(n_)) * x + std::sqrt(double(m_)) * r / size);
    }

    /// That of A, or somewhat less.
    double size_of_matrix() const
    {
        double size = 0;
        for (Index i = 0; i < n_; ++i) size = std::max(size, double(std::abs(QR_[i + i * m_])));
        return size / factor_;
    }
    /// Would A^H r be lost in what double precision cannot hold, before it is as small as rounding makes it?
    bool is_lost(Index j) const
    {
        const double r = largest(m_, &residual_[std::size_t(j * m_)]), eps = std::numeric_limits<double>::epsilon();
        return r > 0 && !(size_of_matrix() * r * eps > std::numeric_limits<double>::min());
    }

    /// Until what is missing is below rounding, or does not get less any more and is less than rounding times `condition`.
    int refine(double condition)
    {
        std::vector<double> before(std::size_t(nrhs_), std::numeric_limits<double>::infinity());
        for (int step = 0; step <= most_steps; ++step) {
            if (!correct(step == 0)) return no_convergence;
            bool done = step > 0; // the first solution may be rounding alone
            for (Index j = 0; j < nrhs_; ++j) {
                const double least = rounding(j), change = largest(n_, missing_x(j));
                double& last = before[std::size_t(j)];
                if (!std::isfinite(least) || !std::isfinite(change) || is_lost(j)) return no_convergence;
                const bool stands = step > 1 && change > last / 2;
                if (stands && !(change <= condition * least)) return no_convergence;
                done = done && (stands || change <= least);
                last = change;
            }
            if (done) return step;
        }
        return no_convergence;
    }

    T* missing_r(Index j) const { return &missing_[std::size_t(j * (m_ + n_))]; }
    T* missing_x(Index j) const { return missing_r(j) + m_; }
    static double largest(Index count, const T* x)
    {
        double most = 0;
        for (Index i = 0; i < count; ++i)
            if (const double size = cabs1(x[i]); !(size <= most)) most = size; // a NaN stays
        return most;
    }

    template <class One> void each(Index count, double flops, const One& one)
    {
        for_each_problem(crew_, options_, count, flops, [&](const KernelProvider&, Index i) { one(i); });
    }
    /// QR <- factor A; returns the largest part of A, or a NaN.
    double narrow_matrix()
    {
        const blas::ColumnKernel<double>& numbers = blas::setup<double>().kernel.columns;
        std::vector<double> most(static_cast<std::size_t>(n_));
        each(n_, 4.0 * double(m_), [&](Index j) {
            const T* const column = A_ + j * lda_;
            most[std::size_t(j)] = numbers.largest((is_complex<T> ? 2 : 1) * m_, reinterpret_cast<const double*>(column));
            narrow(m_, column, factor_, QR_ + j * m_);
        });
        return *std::max_element(most.begin(), most.end());
    }
    /// to <- factor x, with zeros for what is too large: somebody else looks for that.
    static void narrow(Index count, const T* x, double factor, S* to)
    {
        for (Index i = 0; i < count; ++i) {
            const T value = x[i] * factor;
            to[i] = fits(value) ? S(value) : S(0);
        }
    }

    /// missing <- [b - r - A x; -A^H r] in double precision.
    void find_missing(bool at_first)
    {
        for (Index j = 0; j < nrhs_; ++j) {
            const T *const b = B_ + j * ldb_, *const r = &residual_[std::size_t(j * m_)];
            for (Index i = 0; i < m_; ++i) missing_r(j)[i] = b[i] - r[i];
            std::fill_n(missing_x(j), n_, T(0));
        }
        if (at_first) return; // x and r are zero
        constexpr Index rows = 256, columns = 16;
        const auto of = [](Index count, Index width) { return (count + width - 1) / width; };
        const blas::ColumnKernel<T>& kernel = blas::setup<T>().kernel.columns;
        each(of(m_, rows), 2.0 * double(rows) * double(n_) * double(nrhs_), [&](Index block) {
            const Index i = block * rows, height = std::min(rows, m_ - i);
            for (Index j = 0; j < nrhs_; ++j) kernel.subtract(height, n_, A_ + i, lda_, X_ + j * ldx_, missing_r(j) + i);
        });
        each(of(n_, columns), 2.0 * double(m_) * double(columns) * double(nrhs_), [&](Index block) {
            const Index first = block * columns, width = std::min(columns, n_ - first);
            for (Index j = 0; j < nrhs_; ++j) {
                T* const g = missing_x(j) + first;
                kernel.dots(m_, width, A_ + first * lda_, lda_, &residual_[std::size_t(j * m_)], true, g);
                std::transform(g, g + width, g, std::negate<T>());
            }
        });
    }
    /// One step: missing <- what is added to r and x. False where it is not a number.
    bool correct(bool at_first)
    {
        find_missing(at_first);
        std::vector<double> scales(static_cast<std::size_t>(nrhs_));
        for (Index j = 0; j < nrhs_; ++j) { // so that nothing small is lost
            for (Index i = 0; i < n_; ++i) missing_x(j)[i] *= factor_;
            const double most = largest(m_ + n_, missing_r(j)), scale = most > 0 ? most : 1;
            if (!std::isfinite(most) || !std::isfinite(1 / scale)) return false;
            scales[std::size_t(j)] = scale;
            narrow(m_, missing_r(j), 1 / scale, &upper_[std::size_t(j * m_)]);
            narrow(n_, missing_x(j), 1 / scale, &lower_[std::size_t(j * n_)]);
        }
        solve_augmented();
        for (Index j = 0; j < nrhs_; ++j) {
            const double scale = scales[std::size_t(j)];
            for (Index i = 0; i < m_; ++i) residual_[std::size_t(i + j * m_)] += T(upper_[std::size_t(i + j * m_)]) * scale;
            for (Index i = 0; i < n_; ++i)
                X_[i + j * ldx_] += missing_x(j)[i] = T(lower_[std::size_t(i + j * n_)]) * scale * factor_;
        }
        return true;
    }
    /// [upper; lower] <- [I A; A^H 0]^-1 [upper; lower] with Q R for A: h = R^-H lower, d = Q^H upper,
    /// lower <- R^-1 (d - h), upper <- Q [h; d].
    void solve_augmented()
    {
        RoutineOptions rest = options_;
        rest.variant.clear();
        const auto divide = [&](Op op) {
            trsm(crew_, Side::left, Uplo::upper, op, Diag::non_unit, n_, nrhs_, S(1), QR_, m_, lower_.get(), n_, rest);
        };
        const auto turn = [&](Op op) {
            ormqr(crew_, Side::left, op, m_, nrhs_, n_, QR_, m_, tau_.get(), upper_.get(), m_, rest);
        };
        divide(Op::conj_trans);
        turn(Op::conj_trans);
        for (Index j = 0; j < nrhs_; ++j)
            for (Index i = 0; i < n_; ++i) {
                S &d = upper_[std::size_t(i + j * m_)], &h = lower_[std::size_t(i + j * n_)];
                const S difference = d - h;
                d = h;
                h = difference;
            }
        divide(Op::none);
        turn(Op::none);
    }

    Crew& crew_;
    const RoutineOptions& options_;
    const Index m_, n_, nrhs_;
    const T* const A_;
    const Index lda_;
    const T* const B_;
    const Index ldb_;
    T* const X_;
    const Index ldx_;
    std::optional<WorkMemory> memory_;
    double factor_ = 1;                        ///< a power of two: QR are the factors of factor A, whose solution is x / factor
    S* QR_ = nullptr;                          ///< m x n
    std::unique_ptr<S[]> tau_, upper_, lower_; ///< the right side of a step, m x nrhs and n x nrhs, and its solution
    std::unique_ptr<T[]> residual_, missing_;
};

} // namespace

template <Scalar T>
Index gels_mixed(Crew& crew, Index m, Index n, Index nrhs, T* A, Index lda, const T* B, Index ldb, T* X, Index ldx,
                 int* iterations, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_CHECK_SIZE(m), TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs), TRC_CHECK_INOUT(A, lda, m, n),
            TRC_CHECK_IN(B, ldb, m, nrhs), TRC_CHECK_INOUT(X, ldx, n, nrhs));
    check_options("gels", options);
    int steps = m < n ? factorization_failed : 0;
    if (m >= n && n > 0 && nrhs > 0) steps = AugmentedRefinement<T>(crew, options, m, n, nrhs, A, lda, B, ldb, X, ldx).run();
    if (iterations) *iterations = steps;
    if (steps >= 0) return 0;
    const Index rows = std::max(m, n);
    std::vector<T> work(std::size_t(rows * nrhs));
    for (Index j = 0; j < nrhs; ++j) std::copy_n(B + j * ldb, m, &work[std::size_t(j * rows)]);
    if (const Index info = gels(crew, Op::none, m, n, nrhs, A, lda, work.data(), rows, options)) return info;
    for (Index j = 0; j < nrhs; ++j) std::copy_n(&work[std::size_t(j * rows)], n, X + j * ldx);
    return 0;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index gels_mixed(Crew&, Index, Index, Index, T*, Index, const T*, Index, T*, Index, int*, const RoutineOptions&);
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
