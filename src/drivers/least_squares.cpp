#include "algorithms/signatures.hpp"
#include "drivers/alone.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/routine.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

// LAPACK's gels: QR where the matrix is tall, LQ where it is wide, of matrices whose elements are neither so large nor so small
// that squares of them would be beyond the numbers.

namespace trencadis {
namespace {

/// Columns of B that are worked on: column-major, `rows` of them.
template <Scalar T> struct Block {
    Index rows, cols;
    T* data;
    Index ld;

    Block top(Index count) const { return {count, cols, data, ld}; }
    template <class Change> void each(const Change& change) const
    {
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i) change(data[i + j * ld]);
    }
    /// From row `first` on.
    void zero(Index first) const
    {
        for (Index j = 0; j < cols; ++j) std::fill(data + first + j * ld, data + std::max(first, rows) + j * ld, T(0));
    }
    Real<T> largest() const { return alone::lange(Norm::max, rows, cols, data, ld); }
};

template <class R> constexpr R safe_minimum = std::numeric_limits<R>::min(); // 1 over it does not overflow
/// Below the first and above the second matrices are scaled; between them squares of what matters do not underflow.
template <class R> constexpr R small = safe_minimum<R> / std::numeric_limits<R>::epsilon();
template <class R> constexpr R large = 1 / small<R>;

/// The next factor on the way from one number to the other; none of them overflows or underflows, nor makes an element that
/// should not be.
template <class R> R next_factor(R& from, R& to, bool& done)
{
    constexpr R tiny = safe_minimum<R>, huge = 1 / tiny;
    const R from_less = from * tiny, to_less = to / huge;
    done = false;
    if (from_less != from && to_less != to && std::abs(from_less) > std::abs(to)) return from = from_less, tiny;
    if (from_less != from && to_less != to && std::abs(to_less) > std::abs(from)) return to = to_less, huge;
    done = true;
    return from_less != from && to_less == to ? to : to / from; // to infinity
}

/// Multiplies by to / from: LAPACK's lascl.
template <Scalar T> void rescale(const Block<T>& x, Real<T> from, Real<T> to)
{
    for (bool done = false; !done;) {
        const Real<T> factor = next_factor(from, to, done);
        x.each([&](T& value) { value *= factor; });
    }
}

/// Brings the largest element to within the limits; remembers the way back.
template <Scalar T> class Scaled {
    using R = Real<T>;

public:
    explicit Scaled(const Block<T>& x) : was_(x.largest()), is_(was_)
    {
        if (was_ > 0 && was_ < small<R>) is_ = small<R>;
        else if (was_ > large<R>) is_ = large<R>;
        if (changed()) rescale(x, was_, is_);
    }
    bool zero() const { return was_ == 0; }
    /// For what is proportional to x, and to 1 / x.
    void undo(const Block<T>& proportional) const
    {
        if (changed()) rescale(proportional, is_, was_);
    }
    void undo_inverse(const Block<T>& inverse) const
    {
        if (changed()) rescale(inverse, was_, is_);
    }

private:
    bool changed() const { return was_ > is_ || was_ < is_; } // a NaN is not
    R was_, is_;
};

/// The steps on the calling thread,
struct ByThread {
    const KernelProvider& kernels;
#define TRC_STEP(routine, given)                                                                                                 \
    template <Scalar T> Index routine(TRC_ARGUMENTS_##routine(TRC_TYPED)) const                                                  \
    {                                                                                                                            \
        return alone::routine(kernels, TRC_ARGUMENTS_##routine(TRC_GIVE));                                                       \
    }
#define TRC_STEPS                                                                                                                \
    TRC_STEP(geqrf, options) TRC_STEP(gelqf, options) TRC_STEP(ormqr, rest) TRC_STEP(ormlq, rest) TRC_STEP(trtrs, rest)
    TRC_STEPS
#undef TRC_STEP
};
/// and on workers.
struct ByWorkers {
    Crew& crew;
    RoutineOptions options, rest; ///< of the factorization, and of what it is used for, which has no such variants

    ByWorkers(Crew& crew, const RoutineOptions& options) : crew(crew), options(options), rest(options) { rest.variant.clear(); }
#define TRC_STEP(routine, given)                                                                                                 \
    template <Scalar T> Index routine(TRC_ARGUMENTS_##routine(TRC_TYPED)) const                                                  \
    {                                                                                                                            \
        return argument::outcome([&] { return trencadis::routine(crew, TRC_ARGUMENTS_##routine(TRC_GIVE), given); });            \
    }
    TRC_STEPS
#undef TRC_STEP
#undef TRC_STEPS
};

/// A = Q R, m >= n: the solution of A X = B that leaves the least residual, or of A^H X = B the shortest.
template <Scalar T, class By> Index tall(const By& by, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb)
{
    std::vector<T> tau(static_cast<std::size_t>(n));
    by.geqrf(m, n, A, lda, tau.data());
    const auto divide = [&](Op how) {
        return by.trtrs(Uplo::upper, how, Diag::non_unit, n, nrhs, static_cast<const T*>(A), lda, B, ldb);
    };
    const auto turn = [&](Op how) { by.ormqr(Side::left, how, m, nrhs, n, static_cast<const T*>(A), lda, tau.data(), B, ldb); };
    if (op == Op::none) return turn(Op::conj_trans), divide(Op::none);
    if (const Index zero = divide(Op::conj_trans)) return zero;
    Block<T>{m, nrhs, B, ldb}.zero(n);
    return turn(Op::none), 0;
}

/// The same of A = L Q, m < n.
template <Scalar T, class By> Index wide(const By& by, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb)
{
    std::vector<T> tau(static_cast<std::size_t>(m));
    by.gelqf(m, n, A, lda, tau.data());
    const auto divide = [&](Op how) {
        return by.trtrs(Uplo::lower, how, Diag::non_unit, m, nrhs, static_cast<const T*>(A), lda, B, ldb);
    };
    const auto turn = [&](Op how) { by.ormlq(Side::left, how, n, nrhs, m, static_cast<const T*>(A), lda, tau.data(), B, ldb); };
    if (op != Op::none) return turn(Op::none), divide(Op::conj_trans);
    if (const Index zero = divide(Op::none)) return zero;
    Block<T>{n, nrhs, B, ldb}.zero(m);
    return turn(Op::conj_trans), 0;
}

template <Scalar T, class By> Index solve(const By& by, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb)
{
    const Block<T> matrix{m, n, A, lda}, all{std::max(m, n), nrhs, B, ldb};
    if (matrix.rows == 0 || matrix.cols == 0 || nrhs == 0) return all.zero(0), 0;
    const Scaled<T> a(matrix);
    if (a.zero()) return all.zero(0), 0;
    const Scaled<T> b(all.top(op == Op::none ? m : n));
    const Index info = m >= n ? tall(by, op, m, n, nrhs, A, lda, B, ldb) : wide(by, op, m, n, nrhs, A, lda, B, ldb);
    if (info) return info;
    const Block<T> solution = all.top(op == Op::none ? n : m);
    a.undo_inverse(solution);
    b.undo(solution);
    return 0;
}

} // namespace

template <Scalar T>
Index alone::gels(const KernelProvider& kernels, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb)
{
    return solve(ByThread{kernels}, op, m, n, nrhs, A, lda, B, ldb);
}

template <Scalar T>
Index gels(Crew& crew, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_gels(TRC_CHECK));
    check_options("gels", options);
    const Flops flops = operations::gels(double(m), double(n), double(nrhs)).flops<T>();
    if (runs_directly(crew, flops, options, Work::factorization))
        return alone::gels(crew.kernels(), op, m, n, nrhs, A, lda, B, ldb);
    // The solution is scaled back at home.
    const ToldAtTheEnd told{[&] { tell_written(crew, TRC_ARGUMENTS_gels(TRC_CHECK)); }};
    return solve(ByWorkers(crew, options), op, m, n, nrhs, A, lda, B, ldb);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index alone::gels(const KernelProvider&, Op, Index, Index, Index, T*, Index, T*, Index);                            \
    template Index gels(Crew&, Op, Index, Index, Index, T*, Index, T*, Index, const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
