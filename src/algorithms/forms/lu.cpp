#include "algorithms/forms/form.hpp"
#include "algorithms/forms/incremental.hpp"
#include "algorithms/getrf.hpp"
#include "algorithms/tile_size.hpp"
#include "algorithms/tournament_lu.hpp"
#include "algorithms/unpivoted_lu.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

/// LU: of an m x n matrix, with the pivots as second operand where they are LAPACK's (docs/decisions/0055).
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

template <Scalar T> class Panel final : public Layout {
public:
    Panel(Place& place, const Problem& x)
        : A_(place.tiles<T>(x.m, x.n, panel_rows(x), x.nb)), pivots_(pivots_of<T>(place, x)), cut_(cut_of(x))
    {
    }
    void submit(Flow& flow) override { getrf(flow, A_, pivots_, cut_); }

private:
    TileMatrix<T> A_;
    Index* pivots_;
    PanelCut cut_;
};

/// A matrix of one panel needs no images.
template <Scalar T> class Packed final : public Layout {
public:
    Packed(Place& place, const Problem& x) : A_(place.columns<T>(x.m, x.n), panel_rows(x), x.nb), cut_(cut_of(x))
    {
        if (x.n > x.nb) images_.emplace(x.m, x.n, x.nb, place.images());
        pivots_ = pivots_of<T>(place, x);
    }
    void submit(Flow& flow) override
    {
        if (images_) getrf_packed(flow, A_, *images_, pivots_, cut_);
        else getrf(flow, A_, pivots_, cut_);
    }

private:
    TileMatrix<T> A_;
    std::optional<LuImages<T>> images_;
    Index* pivots_;
    PanelCut cut_;
};

template <Scalar T, ColumnUpdates updates> class Kastors final : public Layout {
public:
    Kastors(Place& place, const Problem& x)
        : A_(place.tiles<T>(x.m, x.n, x.nb, x.nb)), pivots_(pivots_of<T>(place, x)),
          tokens_(place.tokens(A_.row_tiles() + 1, own_))
    {
    }
    void submit(Flow& flow) override { getrf_kastors(flow, updates, A_, pivots_, tokens_); }

private:
    TileMatrix<T> A_;
    Index* pivots_;
    std::vector<char> own_;
    char* tokens_;
};
template <Scalar T> using Queued = Kastors<T, ColumnUpdates::queued>;
template <Scalar T> using Concurrent = Kastors<T, ColumnUpdates::concurrent>;

template <Scalar T> class Unpivoted final : public Layout {
public:
    Unpivoted(Place& place, const Problem& x) : A_(place.tiles<T>(x.m, x.n, x.nb, x.nb))
    {
        if (!place.in_memory()) return;
        Index* const pivots = pivots_of<T>(place, x);
        std::iota(pivots, pivots + std::min(x.m, x.n), Index(1));
    }
    void submit(Flow& flow) override { getrf_nopiv(flow, A_); }

private:
    TileMatrix<T> A_;
};

template <Scalar T> class Tournament final : public Layout {
public:
    Tournament(Place& place, const Problem& x)
        : A_(place.tiles<T>(x.m, x.n, x.nb, x.nb)), rounds_(x.m, x.nb, place.images()), pivots_(pivots_of<T>(place, x))
    {
    }
    void submit(Flow& flow) override { getrf_tournament(flow, A_, rounds_, pivots_); }

private:
    TileMatrix<T> A_;
    TournamentRounds<T> rounds_;
    Index* pivots_;
};

using Names = std::string_view;
constexpr Names panel_kernels[] = {"getrf_panel", "swptr", "gemm", "laswp"};
constexpr Names packed_kernels[] = {"getrf_panel", "pack", "swptr", "gemm", "laswp"};
constexpr Names nopiv_kernels[] = {"getrf_nopiv", "trsm", "gemm"};
constexpr Names tournament_kernels[] = {"tournament", "getrf_nopiv", "getrf_panel", "trsm", "swptr", "gemm", "laswp"};
constexpr Names incremental_kernels[] = {"getrf", "gessm", "tstrf", "ssssm"};
constexpr KernelRoutine own[] = {KernelRoutine::gemm, KernelRoutine::trsm};

constexpr Form getrf_forms[] = {
    {.name = "packed",
     .tile = packed_lu_tile,
     .lay = TRC_LAY(Packed),
     .kernels = packed_kernels,
     .packs_images = true,
     .own = own},
    {.name = "panel", .tile = lu_tile, .lay = TRC_LAY(Panel), .kernels = panel_kernels},
    {.name = "kastors", .tile = lu_tile, .lay = TRC_LAY(Queued), .kernels = panel_kernels},
    {.name = "kastors-cw", .tile = lu_tile, .lay = TRC_LAY(Concurrent), .kernels = panel_kernels},
    {.name = "nopiv", .tile = lu_tile, .lay = TRC_LAY(Unpivoted), .kernels = nopiv_kernels},
    {.name = "tournament", .tile = lu_tile, .lay = TRC_LAY(Tournament), .kernels = tournament_kernels},
    {.name = incremental_word,
     .tile = lu_tile,
     .lay = TRC_LAY(IncrementalLayout),
     .kernels = incremental_kernels,
     .apart = "leaves no factors and pivots of LAPACK's form; call gesv, or IncrementalLu"},
};
constexpr Form getrs_forms[] = {{.name = "in-place", .tile = lu_tile}};

} // namespace

forms::Forms forms::getrf() { return getrf_forms; }
forms::Forms forms::getrs() { return getrs_forms; }

} // namespace trencadis
