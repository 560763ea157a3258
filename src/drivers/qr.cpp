#include "blas/factorizations/qr.hpp"
#include "algorithms/blocked_qr.hpp"
#include "algorithms/signatures.hpp"
#include "algorithms/tile_size.hpp"
#include "blas/factorizations/pivoted_qr.hpp"
#include "drivers/alone.hpp"
#include "drivers/asking.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/routine.hpp"
#include "drivers/tall_qr.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <complex>
#include <new>
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

/// What a flow of blocks of reflectors of length `order` needs beside the matrix; less where there is no memory for wide blocks,
/// and no slots where there is none for narrow ones: the calling thread alone needs a ninth.
template <Scalar T> struct Blocks {
    Index nb;
    std::optional<ReflectorSlots<T>> slots;

    Blocks(Index order, Index wanted) : nb(wanted)
    {
        for (;;) try {
                slots.emplace(order, nb);
                return;
            } catch (const Error& failure) {
                if (failure.code() != ErrorCode::out_of_memory) throw;
                if (nb <= 8) return;
                nb = nb / 2;
            }
    }
};
template <Scalar T> Index block_size(const Crew& crew, Index k, const RoutineOptions& options)
{
    return std::min(options.nb ? options.nb : qr_tile(k, sizeof(T), crew.workers()), k);
}

template <Scalar T> bool factor_by_tasks(Crew& crew, Storage storage, MatrixView<T> A, T* tau, const RoutineOptions& options)
{
    const Index order = storage == Storage::columns ? A.rows : A.cols;
    const Blocks<T> blocks(order, block_size<T>(crew, std::min(A.rows, A.cols), options));
    if (!blocks.slots) return false;
    run_routine(crew, options, [&](Flow& flow) { factor_blocked(flow, storage, A, blocks.nb, tau, *blocks.slots); });
    return true;
}
/// Of k numbers; none where there is no memory for them.
template <Scalar T> std::vector<T> numbers(Index k)
{
    try {
        return std::vector<T>(std::size_t(k));
    } catch (const std::bad_alloc&) {
        return {};
    }
}

/// Panels as wide as geqrf's, or the next multiple of the caller's blocks, the triangles of which are on the diagonals of theirs.
template <Scalar T>
bool factor_keeping_triangles(Crew& crew, MatrixView<T> A, const KeptFactors<T>& kept, const RoutineOptions& options)
{
    const Index k = std::min(A.rows, A.cols), tuned = block_size<T>(crew, k, options);
    const Blocks<T> blocks(A.rows, std::max<Index>(1, tuned / kept.width) * kept.width);
    std::vector<T> tau = numbers<T>(k);
    if (!blocks.slots || blocks.nb % kept.width || tau.empty()) return false;
    run_routine(crew, options,
                [&](Flow& flow) { factor_blocked(flow, Storage::columns, A, blocks.nb, tau.data(), *blocks.slots, kept); });
    return true;
}
/// The scalars of reflectors, which are on the diagonals of their triangles.
template <Scalar T> std::vector<T> scalars_of(Index k, Index nb, const T* t, Index ldt)
{
    std::vector<T> tau = numbers<T>(k);
    for (std::size_t j = 0; j < tau.size(); ++j) tau[j] = t[Index(j) % nb + Index(j) * ldt];
    return tau;
}

template <Scalar T>
bool form_by_tasks(Crew& crew, Storage storage, Index k, MatrixView<T> A, const T* tau, const RoutineOptions& options)
{
    const Index order = storage == Storage::columns ? A.rows : A.cols;
    const Blocks<T> blocks(order, block_size<T>(crew, k, options));
    if (!blocks.slots) return false;
    run_routine(crew, options, [&](Flow& flow) { form_blocked(flow, storage, k, A, blocks.nb, tau, *blocks.slots); });
    return true;
}
template <Scalar T>
bool apply_by_tasks(Crew& crew, Storage storage, Side side, Op op, Index k, const T* A, Index lda, const T* tau, MatrixView<T> C,
                    const RoutineOptions& options)
{
    const bool left = side == Side::left;
    const Index order = left ? C.rows : C.cols, others = left ? C.cols : C.rows;
    const Blocks<T> blocks(order, block_size<T>(crew, k, options));
    if (!blocks.slots) return false;
    const bool columns = storage == Storage::columns;
    const MatrixView<T> V{const_cast<T*>(A), columns ? order : k, columns ? k : order, lda};
    const Index strip = rhs_tile(crew, std::max<Index>(blocks.nb, 96), others, options);
    run_routine(crew, options, [&](Flow& flow) {
        apply_blocked(flow, storage, {side, op == Op::none ? op : Op::conj_trans}, k, V, blocks.nb, tau, C, strip, *blocks.slots);
    });
    return true;
}
/// Products with a vector are shared without tasks, step by step; the update of a block is a product as others.
template <Scalar T> blas::PivotingHelp<T> helpers(Crew& crew, const std::function<bool()>& interrupted)
{
    return {.share =
                [&crew](Index chunks, Flops flops, const std::function<void(Team&)>& work) {
                    constexpr Flops worth_it = 1e4;
                    return flops >= worth_it && crew.can_share(flops) && crew.share_out(chunks, work);
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
    argument::require(TRC_ARGUMENTS_geqrf(TRC_CHECK));
    const Form* const asked = check_options("geqrf", options);
    require_lapack_layout(asked);
    if (m == 0 || n == 0) return;
    if (!short_call(crew, operations::geqrf(double(m), double(n)).flops<T>(), options) &&
        (geqrf_by_rows(crew, m, n, A, lda, tau, asked, options) ||
         factor_by_tasks<T>(crew, Storage::columns, {A, m, n, lda}, tau, options)))
        return;
    alone::geqrf(crew.kernels(), m, n, A, lda, tau);
}

template <Scalar T> void geqp3(Crew& crew, Index m, Index n, T* A, Index lda, Index* jpvt, T* tau, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_geqp3(TRC_CHECK));
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
    const auto help = helpers<T>(crew, options.interrupted);
    blas::factor_free_columns(m, n - done, done, rest, lda, jpvt + done, tau + done, room, help);
}

template <Scalar T> void gelqf(Crew& crew, Index m, Index n, T* A, Index lda, T* tau, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_gelqf(TRC_CHECK));
    check_options("gelqf", options);
    if (m == 0 || n == 0) return;
    if (short_call(crew, operations::geqrf(double(m), double(n)).flops<T>(), options) ||
        !factor_by_tasks<T>(crew, Storage::rows, {A, m, n, lda}, tau, options))
        alone::gelqf(crew.kernels(), m, n, A, lda, tau);
}

template <Scalar T>
void orgqr(Crew& crew, Index m, Index n, Index k, T* A, Index lda, const T* tau, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_orgqr(TRC_CHECK));
    check_options("orgqr", options);
    if (k == 0 || short_call(crew, operations::orgqr(double(m), double(n), double(k)).flops<T>(), options) ||
        !form_by_tasks<T>(crew, Storage::columns, k, {A, m, n, lda}, tau, options))
        alone::orgqr(crew.kernels(), m, n, k, A, lda, tau);
}

template <Scalar T>
void orglq(Crew& crew, Index m, Index n, Index k, T* A, Index lda, const T* tau, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_orglq(TRC_CHECK));
    check_options("orglq", options);
    if (k == 0 || short_call(crew, operations::orgqr(double(n), double(m), double(k)).flops<T>(), options) ||
        !form_by_tasks<T>(crew, Storage::rows, k, {A, m, n, lda}, tau, options))
        alone::orglq(crew.kernels(), m, n, k, A, lda, tau);
}

template <Scalar T>
void ormqr(Crew& crew, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc,
           const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_ormqr(TRC_CHECK));
    check_options("ormqr", options);
    if (m == 0 || n == 0 || k == 0) return;
    const Index order = side == Side::left ? m : n, others = side == Side::left ? n : m;
    const bool few = side == Side::left && n <= blas::few_columns && options.nb == 0 && options.variant.empty();
    if (few || short_call(crew, operations::ormqr(double(order), double(others), double(k)).flops<T>(), options) ||
        !apply_by_tasks<T>(crew, Storage::columns, side, op, k, A, lda, tau, {C, m, n, ldc}, options))
        alone::ormqr(crew.kernels(), side, op, m, n, k, A, lda, tau, C, ldc);
}

template <Scalar T>
void ormlq(Crew& crew, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc,
           const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_ormlq(TRC_CHECK));
    check_options("ormlq", options);
    if (m == 0 || n == 0 || k == 0) return;
    const Index order = side == Side::left ? m : n, others = side == Side::left ? n : m;
    if (short_call(crew, operations::ormqr(double(order), double(others), double(k)).flops<T>(), options) ||
        !apply_by_tasks<T>(crew, Storage::rows, side, op, k, A, lda, tau, {C, m, n, ldc}, options))
        alone::ormlq(crew.kernels(), side, op, m, n, k, A, lda, tau, C, ldc);
}

template <Scalar T>
void geqrt(Crew& crew, Index m, Index n, Index nb, T* A, Index lda, T* t, Index ldt, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_geqrt(TRC_CHECK));
    check_options("geqrt", options);
    if (m == 0 || n == 0) return;
    if (short_call(crew, operations::geqrf(double(m), double(n)).flops<T>(), options) ||
        !factor_keeping_triangles<T>(crew, {A, m, n, lda}, {t, ldt, nb}, options))
        alone::geqrt(crew.kernels(), m, n, nb, A, lda, t, ldt);
}

template <Scalar T>
void gemqrt(Crew& crew, Side side, Op op, Index m, Index n, Index k, Index nb, const T* V, Index ldv, const T* t, Index ldt, T* C,
            Index ldc, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_gemqrt(TRC_CHECK));
    check_options("gemqrt", options);
    if (m == 0 || n == 0 || k == 0) return;
    const Index order = side == Side::left ? m : n, others = side == Side::left ? n : m;
    const bool is_short = short_call(crew, operations::ormqr(double(order), double(others), double(k)).flops<T>(), options);
    const std::vector<T> tau = is_short ? std::vector<T>() : scalars_of(k, nb, t, ldt);
    if (tau.empty() || !apply_by_tasks<T>(crew, Storage::columns, side, op, k, V, ldv, tau.data(), {C, m, n, ldc}, options))
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
