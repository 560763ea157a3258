#include "algorithms/getrf.hpp"
#include "algorithms/getri.hpp"
#include "algorithms/tile_size.hpp"
#include "kernels/inverse_operations.hpp"
#include "matrix/operations.hpp"
#include "matrix/work_memory.hpp"
#include "session/arguments.hpp"
#include "session/linear_algebra.hpp"
#include "session/packed_calls.hpp"
#include "session/routine.hpp"

#include <algorithm>

namespace trencadis {
namespace {

/// Interchanges to be written, or read; `rows` is how many rows they may name.
void check_pivots(int number, const Index* pivots, Index count)
{
    if (!pivots && count > 0)
        throw Error(ErrorCode::bad_argument, number, "ipiv is null, must point to " + std::to_string(count) + " integers");
}
void check_pivots(int number, const Index* pivots, Index begin, Index end, Index rows)
{
    check_pivots(number, pivots, end);
    for (Index i = begin; i < end; ++i)
        if (pivots[i] < 1 || pivots[i] > rows)
            throw Error(ErrorCode::bad_argument, number,
                        "ipiv(" + std::to_string(i + 1) + ") is " + std::to_string(pivots[i]) + ", must be a row, 1 to " +
                            std::to_string(rows));
}

/// The matrix to factor in place and how it is cut.
template <Scalar T> struct LuCall {
    Session& session;
    std::string_view routine;
    Index m, n;
    T* A;
    Index lda;
    const RoutineOptions& options;

    /// `body(flow, tiles, cut, images)` on the session's workers; without images where the form in place is wanted.
    template <class Body> void run(const Body& body) const
    {
        std::optional<LuImages<T>> images;
        const bool packed = runs_packed(session, routine, options);
        Index nb = tile(packed);
        if (packed && n > nb) {
            make_images(images, options, m, n, nb);
            if (!images) nb = tile(false);
        }
        // A matrix of one panel has no updates: its rows need no cutting, nor its tile to be square.
        const TileMatrix<T> tiles({A, m, n, lda}, n > nb ? nb : std::max(nb, std::min(m, tallest)), nb);
        const PanelCut cut = lu_panel_cut(tiles(0, 0).cols, session.workers());
        run_routine(session, options, [&](Flow& flow) { body(flow, tiles, cut, images ? &*images : nullptr); });
    }

private:
    static constexpr Index tallest = Index(1) << 24; ///< rows of a tile
    Index tile(bool packed) const
    {
        const Index nb = options.nb ? options.nb : (packed ? packed_lu_tile : lu_tile)(m, n, sizeof(T), session.workers());
        return std::min(nb, std::max(m, n));
    }
};

/// Right-hand sides in blocks: one where there are few, else enough for the workers, or as wide as the caller's tiles.
Index rhs_tile(const Session& session, Index nb, Index nrhs, const RoutineOptions& options)
{
    if (options.nb) return options.nb;
    const Index share = (nrhs + session.workers() - 1) / session.workers();
    return std::max<Index>(1, std::min(nb, std::max<Index>(share, std::min<Index>(nrhs, 16))));
}

} // namespace

template <Scalar T> Index getrf(Session& session, Index m, Index n, T* A, Index lda, Index* pivots, const RoutineOptions& options)
{
    Arguments::size(1, "m", m);
    Arguments::size(2, "n", n);
    Arguments::matrix(3, "a", A, m, n, lda, sizeof(T), 4);
    check_pivots(5, pivots, std::min(m, n));
    check_options("getrf", options);
    if (m == 0 || n == 0) return 0;
    if (runs_directly(session, operations::getrf(double(m), double(n)).flops<T>(), options, Work::factorization))
        return session.kernels().getrf(m, n, A, lda, pivots);
    Info info;
    LuCall<T>{session, "getrf", m, n, A, lda, options}.run(
        [&](Flow& flow, TileMatrix<T> tiles, PanelCut cut, const LuImages<T>* images) {
            if (images) getrf_packed(flow, tiles, *images, pivots, info, cut);
            else getrf(flow, tiles, pivots, info, cut);
        });
    return info.value();
}

template <Scalar T>
void getrs(Session& session, Op op, Index n, Index nrhs, const T* A, Index lda, const Index* pivots, T* B, Index ldb,
           const RoutineOptions& options)
{
    Arguments::size(2, "n", n);
    Arguments::size(3, "nrhs", nrhs);
    Arguments::matrix(4, "a", A, n, n, lda, sizeof(T), 5);
    check_pivots(6, pivots, 0, n, n);
    Arguments::matrix(7, "b", B, n, nrhs, ldb, sizeof(T), 8);
    Arguments::apart(7, "b", Region::all(B, n, nrhs, ldb), "a", Region::all(A, n, n, lda));
    check_options("getrs", options);
    if (n == 0 || nrhs == 0) return;
    if (runs_directly(session, operations::getrs(double(n), double(nrhs)).flops<T>(), options))
        return session.kernels().getrs(op, n, nrhs, A, lda, pivots, B, ldb);
    const Index nb = options.nb ? options.nb : lu_tile(n, n, sizeof(T), session.workers());
    const TileMatrix<T> X({B, n, nrhs, ldb}, nb, rhs_tile(session, nb, nrhs, options));
    run_routine(session, options, [&](Flow& flow) { getrs(flow, op, readable(A, n, n, lda, nb, nb), pivots, X); });
}

template <Scalar T>
Index gesv(Session& session, Index n, Index nrhs, T* A, Index lda, Index* pivots, T* B, Index ldb, const RoutineOptions& options)
{
    Arguments::size(1, "n", n);
    Arguments::size(2, "nrhs", nrhs);
    Arguments::matrix(3, "a", A, n, n, lda, sizeof(T), 4);
    check_pivots(5, pivots, n);
    Arguments::matrix(6, "b", B, n, nrhs, ldb, sizeof(T), 7);
    Arguments::apart(6, "b", Region::all(B, n, nrhs, ldb), "a", Region::all(A, n, n, lda));
    check_options("gesv", options);
    if (n == 0) return 0;
    if (runs_directly(session, operations::gesv(double(n), double(nrhs)).flops<T>(), options, Work::factorization)) {
        const Index info = session.kernels().getrf(n, n, A, lda, pivots);
        if (info == 0 && nrhs > 0) session.kernels().getrs(Op::none, n, nrhs, A, lda, pivots, B, ldb);
        return info;
    }
    Info info;
    LuCall<T>{session, "gesv", n, n, A, lda, options}.run(
        [&](Flow& flow, TileMatrix<T> tiles, PanelCut cut, const LuImages<T>* images) {
            const Index nb = tiles(0, 0).rows;
            const TileMatrix<T> X({B, n, nrhs, ldb}, nb, rhs_tile(session, nb, nrhs, options));
            gesv(flow, tiles, pivots, X, info, cut, images);
        });
    return info.value();
}

template <Scalar T> Index getri(Session& session, Index n, T* A, Index lda, const Index* pivots, const RoutineOptions& options)
{
    Arguments::size(1, "n", n);
    Arguments::matrix(2, "a", A, n, n, lda, sizeof(T), 3);
    check_pivots(4, pivots, 0, n, n);
    check_options("getri", options);
    for (Index i = 0; i < n; ++i)
        if (A[i + i * lda] == T(0)) return i + 1;
    if (n == 0) return 0;
    const bool direct = runs_directly(session, operations::getri(double(n)).flops<T>(), options, Work::factorization);
    const Index nb = std::min(n, options.nb ? options.nb : lu_tile(n, n, sizeof(T), session.workers()));
    const WorkMemory memory(std::size_t(n) * std::size_t(direct ? n : 2 * nb) * sizeof(T));
    T* const work = static_cast<T*>(memory.data());
    if (direct) getri(session.kernels(), n, A, lda, pivots, work);
    else
        run_routine(session, options, [&](Flow& flow) {
            getri(flow, TileMatrix<T>({A, n, n, lda}, nb, nb), pivots, TileMatrix<T>({work, n, 2 * nb, n}, nb, nb));
        });
    return 0;
}

template <Scalar T> void laswp(Index m, Index n, T* A, Index lda, Index first, Index last, const Index* pivots, bool backward)
{
    Arguments::size(1, "m", m);
    Arguments::size(2, "n", n);
    Arguments::matrix(3, "a", A, m, n, lda, sizeof(T), 4);
    Arguments::size(5, "first", first);
    if (last > m)
        throw Error(ErrorCode::bad_argument, 6, "last is " + std::to_string(last) + ", must be at most m = " + std::to_string(m));
    check_pivots(7, pivots, first, last, m);
    if (first < last)
        blas::laswp(n, A, lda, first, last, pivots, backward ? blas::Interchanges::backward : blas::Interchanges::forward);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index getrf(Session&, Index, Index, T*, Index, Index*, const RoutineOptions&);                                      \
    template void getrs(Session&, Op, Index, Index, const T*, Index, const Index*, T*, Index, const RoutineOptions&);            \
    template Index gesv(Session&, Index, Index, T*, Index, Index*, T*, Index, const RoutineOptions&);                            \
    template Index getri(Session&, Index, T*, Index, const Index*, const RoutineOptions&);                                       \
    template void laswp(Index, Index, T*, Index, Index, Index, const Index*, bool);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
