#include "algorithms/column_lu.hpp"
#include "algorithms/cutting.hpp"
#include "algorithms/forms/device_skills.hpp"
#include "algorithms/forms/incremental.hpp"
#include "algorithms/getrf.hpp"
#include "algorithms/getri.hpp"
#include "algorithms/tile_size.hpp"
#include "algorithms/tournament_lu.hpp"
#include "algorithms/unpivoted_lu.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

/// LU: of an m x n matrix, with the pivots as second operand where they are LAPACK's (docs/decisions/0055). Solutions have
/// n x nrhs right sides as third operand.
namespace trencadis {
namespace {

/// A matrix of one panel has no updates: its rows need no cutting, nor its tile to be square.
Index panel_rows(const Problem& x)
{
    constexpr Index tallest = Index(1) << 24;
    return x.n <= x.nb ? std::max(x.nb, std::min(x.m, tallest)) : x.nb;
}
/// Where nothing is known of the units that factor them: all panels that are worth it.
PanelCut cut_of(const Problem& x)
{
    if (x.workers == 0) return {.columns = x.inner, .beside = x.n};
    return lu_panel_cut(std::min(x.nb, x.n), x.workers);
}
template <Scalar T> Index* pivots_of(Place& place, const Problem& x) { return place.vector<Index>(std::min(x.m, x.n)); }

template <Scalar T> struct Panel : Layout {
    Panel(Place& place, const Problem& x)
        : A(place.tiles<T>(x.m, x.n, panel_rows(x), x.nb)), pivots(pivots_of<T>(place, x)), cut(cut_of(x))
    {
    }
    void submit(Flow& flow) override { getrf(flow, A, pivots, cut); }

    TileMatrix<T> A;
    Index* pivots;
    PanelCut cut;
};

/// A matrix of one panel needs no images, nor does one of a few, nor tiles so large that kernels gain little by them.
template <Scalar T> struct Packed : Layout {
    Packed(Place& place, const Problem& x) : A(place.columns<T>(x.m, x.n), panel_rows(x), x.nb), cut(cut_of(x))
    {
        if (x.nb < std::min(x.n, largest_packed_tile) && !has_few_panels(x.m, x.n))
            images.emplace(x.m, x.n, x.nb, place.images());
        pivots = pivots_of<T>(place, x);
    }
    void submit(Flow& flow) override
    {
        if (images) getrf_packed(flow, A, *images, pivots, cut);
        else getrf(flow, A, pivots, cut);
    }

    TileMatrix<T> A;
    std::optional<LuImages<T>> images;
    Index* pivots;
    PanelCut cut;
};

template <Scalar T, ColumnUpdates updates> struct Kastors : Layout {
    Kastors(Place& place, const Problem& x)
        : A(place.tiles<T>(x.m, x.n, x.nb, x.nb)), pivots(pivots_of<T>(place, x)), tokens(place.tokens(A.row_tiles() + 1, own))
    {
    }
    void submit(Flow& flow) override { getrf_kastors(flow, updates, A, pivots, tokens); }

    TileMatrix<T> A;
    Index* pivots;
    std::vector<char> own;
    char* tokens;
};
template <Scalar T> using Queued = Kastors<T, ColumnUpdates::queued>;
template <Scalar T> using Concurrent = Kastors<T, ColumnUpdates::concurrent>;

/// Tiles as high as the matrix.
template <Scalar T> TileMatrix<T> block_columns(Place& place, Index rows, Index cols, Index nb)
{
    constexpr Index highest = (Index(1) << 31) - 1;
    if (rows > highest)
        throw Error(ErrorCode::bad_argument, "variant 'columns' works on whole columns, of 2^31 - 1 rows at most; leave it out");
    return place.tiles<T>(rows, cols, std::max<Index>(rows, 1), nb);
}
template <Scalar T> struct ByColumns : Layout {
    ByColumns(Place& place, const Problem& x)
        : A(block_columns<T>(place, x.m, x.n, x.nb)), by(x.m, x.n, x.nb, place.images()), pivots(pivots_of<T>(place, x)),
          together(x.together >= x.n ? A.col_tiles() : std::max<Index>(1, x.together / x.nb))
    {
    }
    void submit(Flow& flow) override { getrf_columns(flow, A, by, pivots, together); }

    TileMatrix<T> A;
    PanelInterchanges by;
    Index* pivots;
    Index together;
};
template <Scalar T> struct SolveByColumns final : ByColumns<T> {
    SolveByColumns(Place& place, const Problem& x) : ByColumns<T>(place, x), B(block_columns<T>(place, x.n, x.nrhs, x.rhs_nb)) {}
    void submit(Flow& flow) override { gesv_columns(flow, this->A, this->by, this->pivots, B, this->together); }
    TileMatrix<T> B;
};

template <Scalar T> struct Unpivoted : Layout {
    Unpivoted(Place& place, const Problem& x) : A(place.tiles<T>(x.m, x.n, x.nb, x.nb))
    {
        if (!place.in_memory()) return;
        Index* const none = pivots_of<T>(place, x);
        std::iota(none, none + std::min(x.m, x.n), Index(1));
    }
    void submit(Flow& flow) override { getrf_nopiv(flow, A); }

    TileMatrix<T> A;
    static constexpr Index* pivots = nullptr; ///< nobody looks at those that are left to the caller
};

template <Scalar T> struct Tournament : Layout {
    Tournament(Place& place, const Problem& x)
        : A(place.tiles<T>(x.m, x.n, x.nb, x.nb)), rounds(A, place.images()), pivots(pivots_of<T>(place, x))
    {
    }
    void submit(Flow& flow) override { getrf_tournament(flow, A, rounds, pivots); }

    TileMatrix<T> A;
    TournamentRounds<T> rounds;
    Index* pivots;
};

template <Scalar T> TileMatrix<T> right_sides(Place& place, const Problem& x)
{
    return place.tiles<T>(x.n, x.nrhs, x.nb, x.rhs_nb);
}

/// A factorization, and the solution with it in the same flow.
template <Scalar T, template <Scalar> class Factored> struct Solution final : Factored<T> {
    Solution(Place& place, const Problem& x) : Factored<T>(place, x), B(right_sides<T>(place, x)) {}
    void submit(Flow& flow) override
    {
        Factored<T>::submit(flow);
        getrs_after(flow, this->A, this->pivots, B);
    }
    TileMatrix<T> B;
};
template <Scalar T> using SolvePacked = Solution<T, Packed>;
template <Scalar T> using SolvePanel = Solution<T, Panel>;
template <Scalar T> using SolveQueued = Solution<T, Queued>;
template <Scalar T> using SolveConcurrent = Solution<T, Concurrent>;
template <Scalar T> using SolveUnpivoted = Solution<T, Unpivoted>;
template <Scalar T> using SolveTournament = Solution<T, Tournament>;

/// Nobody's: the factors go with the layout, so the caller's pivots are no rows, which getrs refuses.
template <Scalar T> Index* no_pivots(Place& place, const Problem& x)
{
    if (!place.in_memory()) return nullptr;
    Index* const none = pivots_of<T>(place, x);
    std::fill_n(none, x.n, Index(0));
    return none;
}
template <Scalar T> struct SolveIncremental final : Layout {
    SolveIncremental(Place& place, const Problem& x)
        : factored(place, x), pivots(no_pivots<T>(place, x)), B(right_sides<T>(place, x))
    {
    }
    void submit(Flow& flow) override
    {
        factored.submit(flow);
        getrs_incremental_after(flow, factored.tiles, factored.by, B);
    }
    IncrementalLayout<T> factored;
    const Index* pivots;
    TileMatrix<T> B;
};

template <Scalar T> struct Substitution final : Layout {
    Substitution(Place& place, const Problem& x)
        : op(x.op), A(place.tiles<T>(x.n, x.n, x.nb, x.nb)), pivots(pivots_of<T>(place, x)), B(right_sides<T>(place, x))
    {
    }
    void submit(Flow& flow) override { getrs(flow, op, A, pivots, B); }
    Op op;
    TileMatrix<T> A;
    const Index* pivots;
    TileMatrix<T> B;
};

/// A with the factors, and the pivots.
template <Scalar T> struct Inverse final : Layout {
    Inverse(Place& place, const Problem& x)
        : columns(x.n, x.nb, place.images()), A(place.tiles<T>(x.n, x.n, columns.nb(), columns.nb())),
          pivots(pivots_of<T>(place, x))
    {
    }
    void submit(Flow& flow) override { getri(flow, A, pivots, columns.tiles()); }

    TwoColumns<T> columns;
    TileMatrix<T> A;
    const Index* pivots;
};

using Names = std::string_view;
constexpr Names panel_kernels[] = {"getrf_panel", "swptr", "gemm", "laswp"};
constexpr Names packed_kernels[] = {"getrf_panel", "pack", "swptr", "gemm", "laswp"};
constexpr Names column_kernels[] = {"getrf_panel", "lu_update", "laswp", "copy"};
constexpr Names nopiv_kernels[] = {"getrf_nopiv", "trsm", "gemm"};
constexpr Names tournament_kernels[] = {"tournament", "getrf_nopiv", "getrf_panel", "trsm", "swptr", "gemm", "laswp"};
constexpr Names incremental_kernels[] = {"getrf", "gessm", "tstrf", "ssssm"};
constexpr KernelRoutine own[] = {KernelRoutine::gemm, KernelRoutine::trsm};

constexpr Form of_shared_panels{.tile = panel_lu_tile, .kernels = panel_kernels};
constexpr Form of_panels{.tile = lu_tile, .kernels = panel_kernels};
constexpr Form of_images{.tile = packed_lu_tile, .kernels = packed_kernels, .packs_images = true, .own = own};
Index column_tile(Index m, Index n, std::size_t, int) { return balanced(std::min(m, n), 512, 32); }
/// A panel, the columns that it updates where there are any, and interchanges.
Bytes column_bytes(const Problem& x, std::size_t element)
{
    return (x.nb < x.n ? 2 : 1) * double(x.m) * double(x.nb) * double(element) +
           double(sizeof(std::int32_t)) * double(std::min(x.m, x.n));
}
constexpr Index column_tiles[] = {256, 512, 1024};
constexpr Form of_columns{.tile = column_tile,
                          .kernels = column_kernels,
                          .device_tiles = column_tiles,
                          .device_bytes = column_bytes,
                          .asks_of_devices = factors_lu,
                          .for_arrays = true,
                          .by_columns = true};
constexpr Form without_pivots{.tile = lu_tile, .kernels = nopiv_kernels, .other_pivots = true};
constexpr Form by_tournament{.tile = lu_tile, .kernels = tournament_kernels, .other_pivots = true};
/// Three tiles, and what was left beside them.
Bytes incremental_bytes(const Problem& x, std::size_t element)
{
    constexpr Index inner = 32;
    return three_tiles(x, element) + double(x.nb) * double(sizeof(Index) + std::size_t(inner) * element);
}
constexpr Form by_increments{.tile = lu_tile,
                             .kernels = incremental_kernels,
                             .apart = "leaves no factors and pivots of LAPACK's form; call gesv, or IncrementalLu",
                             .device_bytes = incremental_bytes,
                             .other_pivots = true};

using Lay = void (*)(LayoutRoom&, Place&, const Problem&);
constexpr Form form(std::string_view name, Form like, const Lay (&lay)[4])
{
    like.name = name;
    for (int i = 0; i < 4; ++i) like.lay[i] = lay[i];
    return like;
}
/// With the solution, whose tasks are listed in the second place.
constexpr Form solving(Names name, Form like, std::span<const Names> kernels, const Lay (&lay)[4])
{
    like.kernels = kernels;
    return form(name, like, lay);
}

constexpr Form getrf_forms[] = {
    form("packed", of_images, TRC_LAY(Packed)),
    form("panel", of_shared_panels, TRC_LAY(Panel)),
    form("kastors", of_panels, TRC_LAY(Queued)),
    form("kastors-cw", of_panels, TRC_LAY(Concurrent)),
    form("columns", of_columns, TRC_LAY(ByColumns)),
    form("nopiv", without_pivots, TRC_LAY(Unpivoted)),
    form("tournament", by_tournament, TRC_LAY(Tournament)),
    form(incremental_word, by_increments, TRC_LAY(IncrementalLayout)),
};

constexpr Names packed_solve_kernels[] = {"getrf_panel", "pack", "swptr", "gemm", "laswp", "trsm"};
constexpr Names panel_solve_kernels[] = {"getrf_panel", "swptr", "gemm", "laswp", "trsm"};
constexpr Names column_solve_kernels[] = {"getrf_panel", "lu_update", "laswp", "copy", "trsm"};
constexpr Names incremental_solve_kernels[] = {"getrf", "gessm", "tstrf", "ssssm", "trsm", "gemm"};
constexpr Form gesv_forms[] = {
    solving("packed", of_images, packed_solve_kernels, TRC_LAY(SolvePacked)),
    solving("panel", of_shared_panels, panel_solve_kernels, TRC_LAY(SolvePanel)),
    solving("kastors", of_panels, panel_solve_kernels, TRC_LAY(SolveQueued)),
    solving("kastors-cw", of_panels, panel_solve_kernels, TRC_LAY(SolveConcurrent)),
    solving("columns", of_columns, column_solve_kernels, TRC_LAY(SolveByColumns)),
    solving("nopiv", without_pivots, nopiv_kernels, TRC_LAY(SolveUnpivoted)),
    solving("tournament", by_tournament, tournament_kernels, TRC_LAY(SolveTournament)),
    solving(incremental_word, by_increments, incremental_solve_kernels, TRC_LAY(SolveIncremental)),
};

constexpr Names substitution_kernels[] = {"laswp", "trsm", "gemm"};
constexpr Form getrs_forms[] = {
    {.name = "in-place", .tile = lu_tile, .lay = TRC_LAY(Substitution), .kernels = substitution_kernels}};
constexpr Names inverse_kernels[] = {"trtri", "trsm", "gemm", "copy", "laswp"};
constexpr Form getri_forms[] = {{.name = "in-place", .tile = lu_tile, .lay = TRC_LAY(Inverse), .kernels = inverse_kernels}};

} // namespace

forms::Forms forms::getrf() { return getrf_forms; }
forms::Forms forms::getrs() { return getrs_forms; }
forms::Forms forms::getri() { return getri_forms; }
forms::Forms forms::gesv() { return gesv_forms; }

} // namespace trencadis
