#include "algorithms/signatures.hpp"
#include "drivers/alone.hpp"
#include "drivers/each.hpp"
#include "drivers/linear_algebra.hpp"
#include "estimates/condition.hpp"
#include "estimates/norms.hpp"
#include "estimates/refine.hpp"
#include "estimates/scalings.hpp"

#include <algorithm>
#include <complex>
#include <limits>

// Systems solved with everything that LAPACK can say of the solution: gesvx and posvx, on workers or on the calling thread alone.

namespace trencadis {
namespace {

using namespace estimates;

/// By a crew; vectors of work come from the heap, as several columns are worked on at once.
template <Scalar T> struct OnWorkers {
    Crew& crew;
    const RoutineOptions& options;
    RoutineOptions rest = [](RoutineOptions given) {
        given.variant.clear(); // solving has other ones
        return given;
    }(options);

    Index getrf(Index n, T* A, Index lda, Index* ipiv) const { return trencadis::getrf(crew, n, n, A, lda, ipiv, options); }
    void getrs(Op op, Index n, Index nrhs, const T* A, Index lda, const Index* ipiv, T* B, Index ldb) const
    {
        trencadis::getrs(crew, op, n, nrhs, A, lda, ipiv, B, ldb, rest);
    }
    Index potrf(Uplo uplo, Index n, T* A, Index lda) const { return trencadis::potrf(crew, uplo, n, A, lda, options); }
    void potrs(Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb) const
    {
        trencadis::potrs(crew, uplo, n, nrhs, A, lda, B, ldb, rest);
    }
    /// one(j, work) for each column.
    template <class One> void each_column(Index count, Flops each, const One& one) const
    {
        for_each_problem(crew, rest, count, each, [&](const KernelProvider&, Index j) { one(j, static_cast<T*>(nullptr)); });
    }
};
/// By the calling thread, with the vectors of work that it lends.
template <Scalar T> struct OnThisThread {
    const KernelProvider& kernels;
    T* work;

    Index getrf(Index n, T* A, Index lda, Index* ipiv) const { return alone::getrf(kernels, n, n, A, lda, ipiv); }
    void getrs(Op op, Index n, Index nrhs, const T* A, Index lda, const Index* ipiv, T* B, Index ldb) const
    {
        alone::getrs(kernels, op, n, nrhs, A, lda, ipiv, B, ldb);
    }
    Index potrf(Uplo uplo, Index n, T* A, Index lda) const { return alone::potrf(kernels, uplo, n, A, lda); }
    void potrs(Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb) const
    {
        alone::potrs(kernels, uplo, n, nrhs, A, lda, B, ldb);
    }
    template <class One> void each_column(Index count, Flops, const One& one) const
    {
        for (Index j = 0; j < count; ++j) one(j, work);
    }
};

/// What both routines are given, and what they do with it around the factorization.
template <Scalar T> struct System {
    using R = Real<T>;
    Index n, nrhs;
    T* A;
    Index lda;
    T* AF;
    Index ldaf;
    T* B;
    Index ldb;
    T* X;
    Index ldx;
    R *rcond, *ferr, *berr;

    template <class Means> void copy_matrix(const Means& means, Region::Shape shape) const
    {
        means.each_column(n, double(n), [&](Index j, T*) {
            const Index first = shape == Region::Shape::lower ? j : 0, last = shape == Region::Shape::upper ? j + 1 : n;
            std::copy(A + first + j * lda, A + last + j * lda, AF + first + j * ldaf);
        });
    }
    void copy_right_sides() const
    {
        for (Index j = 0; j < nrhs; ++j) std::copy_n(B + j * ldb, n, X + j * ldx);
    }
    template <class Means, class Refine> void refine(const Means& means, const Refine& refine_one) const
    {
        means.each_column(nrhs, 20.0 * double(n) * double(n),
                          [&](Index j, T* work) { refine_one(B + j * ldb, X + j * ldx, ferr + j, berr + j, work); });
    }
    /// The solution of the matrix as it was before its columns were scaled.
    void scale_back(const R* factors, R ratio) const
    {
        scale_rows(n, nrhs, X, ldx, factors);
        for (Index j = 0; j < nrhs; ++j) ferr[j] /= ratio;
    }
    Index judged() const { return *rcond < std::numeric_limits<R>::epsilon() / 2 ? n + 1 : 0; }
};

/// The largest element of A's first columns over that of U's: small where the elements have grown.
template <Scalar T> Real<T> pivot_growth(Index n, Index columns, const T* A, Index lda, const T* U, Index ldu)
{
    const Real<T> last = norm(Norm::max, Measured<T>::triangular(Uplo::upper, Diag::non_unit, columns, columns, U, ldu));
    return last == 0 ? 1 : norm(Norm::max, Measured<T>::general(n, columns, A, lda)) / last;
}

template <Scalar T, class Means> Index solve_general(const Means& means, TRC_ARGUMENTS_gesvx(TRC_TYPED), T* work)
{
    using R = Real<T>;
    const System<T> system{n, nrhs, A, lda, AF, ldaf, B, ldb, X, ldx, rcond, ferr, berr};
    if (fact != Fact::given) *equed = 'N';
    if (R rowcnd, colcnd, amax; fact == Fact::scale && geequ(Factors::exact, n, n, A, lda, r, c, &rowcnd, &colcnd, &amax) == 0)
        *equed = scale(n, n, A, lda, r, c, rowcnd, colcnd, amax);
    const bool rows = argument::one_of(*equed, "RB"), columns = argument::one_of(*equed, "CB"), plain = op == Op::none;
    if (plain ? rows : columns) scale_rows(n, nrhs, B, ldb, plain ? r : c);
    if (fact != Fact::given) {
        system.copy_matrix(means, Region::Shape::all);
        if (const Index zero = means.getrf(n, AF, ldaf, ipiv)) {
            *growth = pivot_growth(n, zero, A, lda, AF, ldaf), *rcond = 0;
            return zero;
        }
    }
    const Norm which = plain ? Norm::one : Norm::inf;
    const R anorm = norm(which, Measured<T>::general(n, n, A, lda), reinterpret_cast<R*>(work));
    const R grown = pivot_growth(n, n, A, lda, AF, ldaf);
    gecon(which, n, AF, ldaf, anorm, rcond, work);
    system.copy_right_sides();
    means.getrs(op, n, nrhs, AF, ldaf, ipiv, X, ldx);
    system.refine(means, [&](const T* b, T* x, R* bound, R* backward, T* room) {
        gerfs(op, n, 1, A, lda, AF, ldaf, ipiv, b, ldb, x, ldx, bound, backward, room);
    });
    if (plain && columns) system.scale_back(c, ratio_of(n, c));
    if (!plain && rows) system.scale_back(r, ratio_of(n, r));
    *growth = grown; // which may lie in the work
    return system.judged();
}

template <Scalar T, class Means> Index solve_positive(const Means& means, TRC_ARGUMENTS_posvx(TRC_TYPED), T* work)
{
    using R = Real<T>;
    const System<T> system{n, nrhs, A, lda, AF, ldaf, B, ldb, X, ldx, rcond, ferr, berr};
    if (fact != Fact::given) *equed = 'N';
    if (R scond, amax; fact == Fact::scale && poequ(Factors::exact, n, A, lda, s, &scond, &amax) == 0)
        *equed = scale(uplo, n, A, lda, s, scond, amax);
    const bool scaled = argument::one_of(*equed, "Y");
    if (scaled) scale_rows(n, nrhs, B, ldb, s);
    if (fact != Fact::given) {
        system.copy_matrix(means, uplo == Uplo::lower ? Region::Shape::lower : Region::Shape::upper);
        if (const Index minor = means.potrf(uplo, n, AF, ldaf)) return *rcond = 0, minor;
    }
    const R anorm = norm(Norm::one, Measured<T>::hermitian(uplo, n, A, lda), reinterpret_cast<R*>(work));
    pocon(uplo, n, AF, ldaf, anorm, rcond, work);
    system.copy_right_sides();
    means.potrs(uplo, n, nrhs, AF, ldaf, X, ldx);
    system.refine(means, [&](const T* b, T* x, R* bound, R* backward, T* room) {
        porfs(uplo, n, 1, A, lda, AF, ldaf, b, ldb, x, ldx, bound, backward, room);
    });
    if (scaled) system.scale_back(s, ratio_of(n, s));
    return system.judged();
}

} // namespace

namespace {

/// Before anything is touched.
void check_factorization(const char* routine, const RoutineOptions& options)
{
    const Form* const asked = check_options(routine, options);
    if (asked && !asked->apart.empty())
        throw Error(ErrorCode::bad_argument,
                    "variant '" + options.variant + "' leaves factors that are neither judged nor refined with: leave it out");
}

} // namespace

#define TRC_EXPERT(routine, FACTOR, SOLVE)                                                                                       \
    template <Scalar T> Index alone::routine(const KernelProvider& kernels, TRC_ARGUMENTS_##routine(TRC_TYPED), T* work)         \
    {                                                                                                                            \
        return SOLVE<T>(OnThisThread<T>{kernels, work}, TRC_ARGUMENTS_##routine(TRC_GIVE), work);                                \
    }                                                                                                                            \
    template <Scalar T> Index routine(Crew& crew, TRC_ARGUMENTS_##routine(TRC_TYPED), const RoutineOptions& options)             \
    {                                                                                                                            \
        const InCall call(crew);                                                                                                 \
        require(call, TRC_ARGUMENTS_##routine(TRC_CHECK));                                                                       \
        check_factorization(FACTOR, options);                                                                                    \
        /* refined and scaled at home */                                                                                         \
        const ToldAtTheEnd told{[&] { tell_written(crew, TRC_ARGUMENTS_##routine(TRC_CHECK)); }};                                \
        return SOLVE<T>(OnWorkers<T>{crew, options}, TRC_ARGUMENTS_##routine(TRC_GIVE), static_cast<T*>(nullptr));               \
    }
TRC_EXPERT(gesvx, "getrf", solve_general)
TRC_EXPERT(posvx, "potrf", solve_positive)

// The signatures call the scalar T.
#define TRC_INSTANTIATE(routine, ...)                                                                                            \
    template Index alone::routine(const KernelProvider&, TRC_ARGUMENTS_##routine(TRC_TYPED), T*);                                \
    template Index routine(Crew&, TRC_ARGUMENTS_##routine(TRC_TYPED), const RoutineOptions&);
#define T float
TRC_EXPERT_ROUTINES(TRC_INSTANTIATE)
#undef T
#define T double
TRC_EXPERT_ROUTINES(TRC_INSTANTIATE)
#undef T
#define T std::complex<float>
TRC_EXPERT_ROUTINES(TRC_INSTANTIATE)
#undef T
#define T std::complex<double>
TRC_EXPERT_ROUTINES(TRC_INSTANTIATE)
#undef T

} // namespace trencadis
