#include "blas/factorizations/qr.hpp"
#include "algorithms/signatures.hpp"
#include "blas/factorizations/pivoted_qr.hpp"
#include "drivers/alone.hpp"
#include "drivers/asking.hpp"
#include "drivers/chosen.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/lone_crew.hpp"
#include "drivers/sharing.hpp"
#include "drivers/tall_qr.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <complex>
#include <initializer_list>
#include <optional>
#include <vector>

namespace trencadis {
namespace {

constexpr blas::Direction in_blas(Direction direct)
{
    return direct == Direction::forward ? blas::Direction::forward : blas::Direction::backward;
}
constexpr blas::Storage in_blas(Storage storev)
{
    return storev == Storage::columns ? blas::Storage::columns : blas::Storage::rows;
}

/// The block reflectors of geqrt one after the other, forward or from the last: visit(first reflector, how many).
template <class Visit> void for_each_block(Index k, Index nb, bool forward, const Visit& visit)
{
    const Index blocks = (k + nb - 1) / nb;
    for (Index b = 0; b < blocks; ++b) {
        const Index i = (forward ? b : blocks - 1 - b) * nb;
        visit(i, std::min(nb, k - i));
    }
}

/// Lays the call out in one of its forms and runs it. False where there is no memory for that, not even for narrow blocks:
/// nothing has been touched then, and the calling thread alone needs less.
template <Scalar T>
bool by_tasks(Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem,
              std::initializer_list<Place::Operand> operands, bool here)
{
    const LaidOut::Operands given(operands.begin(), operands.size());
    std::optional<LaidOut> call;
    try {
        call.emplace(crew, plain_form(all), options, problem, LaidOut::scalars<T>, given);
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return false;
    }
    call->run(crew, options, here);
    return true;
}
/// Products with a vector are shared without tasks, step by step; the update of a block is a product as others.
template <Scalar T> blas::PivotingHelp<T> pivoting_help(Crew& crew, const std::function<bool()>& interrupted)
{
    return {.share =
                [&crew](Index chunks, Flops flops, const std::function<void(Team&)>& work) {
                    constexpr Flops worth_it = 1e4;
                    return flops >= worth_it && crew.can_share(in_double<T>(flops)) &&
                           crew.share_out(chunks, work, in_double<T>(flops));
                },
            .subtract =
                [&](Index m, Index n, Index k, const T* A, Index lda, const T* B, Index ldb, T* C, Index ldc) {
                    gemm(crew, Op::none, Op::conj_trans, m, n, k, T(-1), A, lda, B, ldb, T(1), C, ldc,
                         {.nb = 0, .interrupted = interrupted, .variant = {}});
                },
            .before_column = AskedBetweenSteps(interrupted)};
}
bool short_call(Crew& crew, Flops flops, const RoutineOptions& options)
{
    return runs_directly(crew, flops, options, Work::factorization);
}

} // namespace

namespace alone {

template <Scalar T> Index geqrf(const KernelProvider&, Index m, Index n, T* A, Index lda, T* tau)
{
    return blas::geqrf<T>(m, n, A, lda, tau, nullptr, 1), 0;
}

template <Scalar T> Index geqp3(const KernelProvider&, Index m, Index n, T* A, Index lda, Index* jpvt, T* tau)
{
    return blas::geqp3(m, n, A, lda, jpvt, tau), 0;
}

template <Scalar T> Index gelqf(const KernelProvider&, Index m, Index n, T* A, Index lda, T* tau)
{
    return blas::gelqf(m, n, A, lda, tau), 0;
}

template <Scalar T> Index orgqr(const KernelProvider&, Index m, Index n, Index k, T* A, Index lda, const T* tau)
{
    return blas::orgqr(m, n, k, A, lda, tau), 0;
}

template <Scalar T> Index orglq(const KernelProvider&, Index m, Index n, Index k, T* A, Index lda, const T* tau)
{
    return blas::orglq(m, n, k, A, lda, tau), 0;
}

template <Scalar T>
Index ormqr(const KernelProvider&, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C,
            Index ldc)
{
    return blas::ormqr(side, op, m, n, k, A, lda, tau, C, ldc), 0;
}

template <Scalar T>
Index ormlq(const KernelProvider&, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C,
            Index ldc)
{
    return blas::ormlq(side, op, m, n, k, A, lda, tau, C, ldc), 0;
}

template <Scalar T> Index geqrt(const KernelProvider&, Index m, Index n, Index nb, T* A, Index lda, T* t, Index ldt)
{
    constexpr Index few = 64; // at most as many as LAPACK's own calls ask for need no memory
    const Index k = std::min(m, n);
    T own[few];
    std::vector<T> more(std::size_t(nb > few ? nb : 0));
    T* const tau = nb > few ? more.data() : own;
    for_each_block(k, nb, true, [&](Index i, Index ib) {
        T* const V = A + i + i * lda;
        blas::geqrf(m - i, ib, V, lda, tau, t + i * ldt, ldt);
        blas::larfb(Side::left, Op::conj_trans, blas::Direction::forward, blas::Storage::columns, m - i, n - i - ib, ib, V, lda,
                    t + i * ldt, ldt, V + ib * lda, lda);
    });
    return 0;
}

template <Scalar T>
Index gemqrt(const KernelProvider&, Side side, Op op, Index m, Index n, Index k, Index nb, const T* V, Index ldv, const T* t,
             Index ldt, T* C, Index ldc)
{
    const bool left = side == Side::left;
    for_each_block(k, nb, left == (op != Op::none), [&](Index i, Index ib) {
        blas::larfb(side, op, blas::Direction::forward, blas::Storage::columns, left ? m - i : m, left ? n : n - i, ib,
                    V + i + i * ldv, ldv, t + i * ldt, ldt, left ? C + i : C + i * ldc, ldc);
    });
    return 0;
}

} // namespace alone

template <Scalar T> void geqrf(Crew& crew, Index m, Index n, T* A, Index lda, T* tau, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_geqrf(TRC_CHECK));
    require_lapack_layout(check_options("geqrf", options));
    if (m == 0 || n == 0) return;
    const Chosen how(crew, {"geqrf", layout_of_precision<T>, m, n}, options);
    if (how.alone()) {
        LoneCrew one(crew);
        return geqrf(one, m, n, A, lda, tau, options);
    }
    const Form* const asked = check_options("geqrf", how.options());
    const Flops flops = operations::geqrf(double(m), double(n)).flops<T>();
    const Work work = crew.shares_calls() ? work_of_qr(m, n, is_complex<T>) : Work::factorization;
    if (!how.by_caller() && !runs_directly(crew, flops, how.options(), work) &&
        (geqrf_by_rows(crew, m, n, A, lda, tau, asked, how.options(), how.here()) ||
         by_tasks<T>(crew, forms::geqrf(), how.options(), {.m = m, .n = n}, {{A, lda}, {tau}}, how.here())))
        return;
    blas::geqrf<T>(m, n, A, lda, tau, nullptr, 1, helpers<T>(crew, flops, 2 * flops, options));
}

template <Scalar T> void geqp3(Crew& crew, Index m, Index n, T* A, Index lda, Index* jpvt, T* tau, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_geqp3(TRC_CHECK));
    check_options("geqp3", options);
    const Index fixed = blas::bring_fixed_columns(m, n, A, lda, jpvt), done = std::min(m, fixed);
    T* const rest = A + done * lda;
    if (done > 0) {
        const RoutineOptions asked{.nb = 0, .interrupted = options.interrupted, .variant = {}};
        geqrf(crew, m, done, A, lda, tau, asked);
        ormqr(crew, Side::left, Op::conj_trans, m, n - done, done, A, lda, tau, rest, lda, asked);
    }
    if (done == std::min(m, n)) return;
    const blas::PivotingRoom<T> room(n - done, options.nb ? options.nb : blas::pivoting_block(n - done));
    const auto help = pivoting_help<T>(crew, options.interrupted);
    blas::factor_free_columns(m, n - done, done, rest, lda, jpvt + done, tau + done, room, help);
}

template <Scalar T> void gelqf(Crew& crew, Index m, Index n, T* A, Index lda, T* tau, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_gelqf(TRC_CHECK));
    check_options("gelqf", options);
    if (m == 0 || n == 0) return;
    const Flops flops = operations::geqrf(double(m), double(n)).flops<T>();
    if (short_call(crew, flops, options) ||
        !by_tasks<T>(crew, forms::gelqf(), options, {.m = m, .n = n}, {{A, lda}, {tau}}, is_crowded(crew, flops, options)))
        alone::gelqf(crew.kernels(), m, n, A, lda, tau);
}

template <Scalar T>
void orgqr(Crew& crew, Index m, Index n, Index k, T* A, Index lda, const T* tau, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_orgqr(TRC_CHECK));
    check_options("orgqr", options);
    const Flops flops = operations::orgqr(double(m), double(n), double(k)).flops<T>();
    if (k == 0 || short_call(crew, flops, options) ||
        !by_tasks<T>(crew, forms::orgqr(), options, {.m = m, .n = n, .k = k}, {{A, lda}, {tau}},
                     is_crowded(crew, flops, options)))
        alone::orgqr(crew.kernels(), m, n, k, A, lda, tau);
}

template <Scalar T>
void orglq(Crew& crew, Index m, Index n, Index k, T* A, Index lda, const T* tau, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_orglq(TRC_CHECK));
    check_options("orglq", options);
    const Flops flops = operations::orgqr(double(n), double(m), double(k)).flops<T>();
    if (k == 0 || short_call(crew, flops, options) ||
        !by_tasks<T>(crew, forms::orglq(), options, {.m = m, .n = n, .k = k}, {{A, lda}, {tau}},
                     is_crowded(crew, flops, options)))
        alone::orglq(crew.kernels(), m, n, k, A, lda, tau);
}

template <Scalar T>
void ormqr(Crew& crew, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc,
           const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_ormqr(TRC_CHECK));
    check_options("ormqr", options);
    if (m == 0 || n == 0 || k == 0) return;
    const Index order = side == Side::left ? m : n, others = side == Side::left ? n : m;
    const bool few = side == Side::left && n <= blas::few_columns && options.nb == 0 && options.variant.empty();
    const Flops flops = operations::ormqr(double(order), double(others), double(k)).flops<T>();
    if (few || short_call(crew, flops, options) ||
        !by_tasks<T>(crew, forms::ormqr(), options, {.m = m, .n = n, .k = k, .side = side, .op = op}, {{A, lda}, {tau}, {C, ldc}},
                     is_crowded(crew, flops, options)))
        alone::ormqr(crew.kernels(), side, op, m, n, k, A, lda, tau, C, ldc);
}

template <Scalar T>
void ormlq(Crew& crew, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc,
           const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_ormlq(TRC_CHECK));
    check_options("ormlq", options);
    if (m == 0 || n == 0 || k == 0) return;
    const Index order = side == Side::left ? m : n, others = side == Side::left ? n : m;
    const Flops flops = operations::ormqr(double(order), double(others), double(k)).flops<T>();
    if (short_call(crew, flops, options) ||
        !by_tasks<T>(crew, forms::ormlq(), options, {.m = m, .n = n, .k = k, .side = side, .op = op}, {{A, lda}, {tau}, {C, ldc}},
                     is_crowded(crew, flops, options)))
        alone::ormlq(crew.kernels(), side, op, m, n, k, A, lda, tau, C, ldc);
}

template <Scalar T>
void geqrt(Crew& crew, Index m, Index n, Index nb, T* A, Index lda, T* t, Index ldt, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_geqrt(TRC_CHECK));
    check_options("geqrt", options);
    if (m == 0 || n == 0) return;
    const Flops flops = operations::geqrf(double(m), double(n)).flops<T>();
    if (short_call(crew, flops, options) || !by_tasks<T>(crew, forms::geqrt(), options, {.m = m, .n = n, .inner = nb},
                                                         {{A, lda}, {t, ldt}}, is_crowded(crew, flops, options)))
        alone::geqrt(crew.kernels(), m, n, nb, A, lda, t, ldt);
}

template <Scalar T>
void gemqrt(Crew& crew, Side side, Op op, Index m, Index n, Index k, Index nb, const T* V, Index ldv, const T* t, Index ldt, T* C,
            Index ldc, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_gemqrt(TRC_CHECK));
    check_options("gemqrt", options);
    if (m == 0 || n == 0 || k == 0) return;
    const Index order = side == Side::left ? m : n, others = side == Side::left ? n : m;
    const Problem problem{.m = m, .n = n, .k = k, .inner = nb, .side = side, .op = op};
    const Flops flops = operations::ormqr(double(order), double(others), double(k)).flops<T>();
    if (short_call(crew, flops, options) ||
        !by_tasks<T>(crew, forms::gemqrt(), options, problem, {{V, ldv}, {t, ldt}, {C, ldc}}, is_crowded(crew, flops, options)))
        alone::gemqrt(crew.kernels(), side, op, m, n, k, nb, V, ldv, t, ldt, C, ldc);
}

template <Scalar T>
void larft(Direction direct, Storage storev, Index n, Index k, const T* V, Index ldv, const T* tau, T* t, Index ldt)
{
    argument::require(TRC_ARGUMENTS_larft(TRC_CHECK));
    blas::larft(in_blas(direct), in_blas(storev), n, k, V, ldv, tau, t, ldt);
}

template <Scalar T>
void larfb(Side side, Op op, Direction direct, Storage storev, Index m, Index n, Index k, const T* V, Index ldv, const T* t,
           Index ldt, T* C, Index ldc)
{
    argument::require(TRC_ARGUMENTS_larfb(TRC_CHECK));
    blas::larfb(side, op, in_blas(direct), in_blas(storev), m, n, k, V, ldv, t, ldt, C, ldc);
}

// The signatures call the scalar T.
#define TRC_QR_ROUTINES(DEFINE)                                                                                                  \
    DEFINE(geqrf) DEFINE(geqp3) DEFINE(gelqf) DEFINE(orgqr) DEFINE(orglq) DEFINE(ormqr) DEFINE(ormlq) DEFINE(geqrt) DEFINE(gemqrt)
#define TRC_INSTANTIATE(routine)                                                                                                 \
    template Index alone::routine(const KernelProvider&, TRC_ARGUMENTS_##routine(TRC_TYPED));                                    \
    template void routine(Crew&, TRC_ARGUMENTS_##routine(TRC_TYPED), const RoutineOptions&);
#define TRC_INSTANTIATE_PLAIN(routine, ...) template void routine(TRC_ARGUMENTS_##routine(TRC_TYPED));
#define T float
TRC_QR_ROUTINES(TRC_INSTANTIATE)
TRC_REFLECTOR_ROUTINES(TRC_INSTANTIATE_PLAIN)
#undef T
#define T double
TRC_QR_ROUTINES(TRC_INSTANTIATE)
TRC_REFLECTOR_ROUTINES(TRC_INSTANTIATE_PLAIN)
#undef T
#define T std::complex<float>
TRC_QR_ROUTINES(TRC_INSTANTIATE)
TRC_REFLECTOR_ROUTINES(TRC_INSTANTIATE_PLAIN)
#undef T
#define T std::complex<double>
TRC_QR_ROUTINES(TRC_INSTANTIATE)
TRC_REFLECTOR_ROUTINES(TRC_INSTANTIATE_PLAIN)
#undef T

} // namespace trencadis
