#include "algorithms/blocked_qr.hpp"
#include "algorithms/forms/form.hpp"
#include "algorithms/forms/tall_qr.hpp"
#include "algorithms/forms/tile_qr.hpp"
#include "algorithms/tile_size.hpp"
#include "base/registry.hpp"
#include "blas/factorizations/pivoted_qr.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <vector>

/// QR and LQ (docs/decisions/0056 and 0057), of the operands as LAPACK has them.
namespace trencadis {
namespace {

/// Slots for blocks of nb reflectors of length `order`; of fewer where there is no memory for so many. Throws where there is none
/// for narrow ones: the calling thread alone needs a ninth.
template <Scalar T> struct Blocks {
    Index nb;
    std::optional<ReflectorSlots<T>> slots;

    /// Of k reflectors, each block a multiple of `width` unless there is but one.
    Blocks(Place& place, const Problem& x, Index order, Index k, Index width = 1)
        : nb(std::min(x.nb ? x.nb : qr_tile(k, sizeof(T), x.workers), k))
    {
        nb = std::max<Index>(1, nb / width) * width;
        while (!fits(place, order)) nb = nb / 2;
        if (nb % width) throw Error(ErrorCode::out_of_memory, "no memory for blocks of reflectors as wide as those to be kept");
    }

private:
    bool fits(Place& place, Index order)
    {
        try {
            slots.emplace(order, nb, place.images());
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory || nb <= 8) throw;
            return false;
        }
        return true;
    }
};
template <Scalar T> Index length(Storage storage, MatrixView<T> A) { return storage == Storage::columns ? A.rows : A.cols; }

/// A and tau.
template <Scalar T, Storage storage> struct Factored final : Layout {
    Factored(Place& place, const Problem& x)
        : A(place.columns<T>(x.m, x.n)), tau(place.vector<T>(std::min(x.m, x.n))),
          blocks(place, x, length(storage, A), std::min(x.m, x.n))
    {
    }
    void submit(Flow& flow) override { factor_blocked(flow, storage, A, blocks.nb, tau, *blocks.slots); }
    MatrixView<T> A;
    T* tau;
    Blocks<T> blocks;
};

/// tau where the caller has none.
template <Scalar T> struct OwnScalars {
    OwnScalars(Place& place, Index count)
    try : own(std::size_t(place.in_memory() ? count : 0)), data(place.in_memory() ? own.data() : place.names<T>(count, 1)) {
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory, "no memory for the scalars of the reflectors");
    }
    std::vector<T> own;
    T* data;
};

/// A and t: the triangles of every `inner` reflectors are kept, and tau is nobody's.
template <Scalar T> struct FactoredKeeping final : Layout {
    FactoredKeeping(Place& place, const Problem& x)
        : A(place.columns<T>(x.m, x.n)), t(place.columns<T>(x.inner, std::min(x.m, x.n))), tau(place, t.cols),
          blocks(place, x, A.rows, t.cols, x.inner)
    {
    }
    void submit(Flow& flow) override
    {
        const Index width = t.rows;
        factor_blocked(flow, Storage::columns, A, blocks.nb, tau.data, *blocks.slots, {t.data, t.ld, width});
    }
    MatrixView<T> A, t;
    OwnScalars<T> tau;
    Blocks<T> blocks;
};

/// A, whose first k columns (rows) are reflectors, and tau.
template <Scalar T, Storage storage> struct Formed final : Layout {
    Formed(Place& place, const Problem& x)
        : k(x.k), A(place.columns<T>(x.m, x.n)), tau(place.vector<T>(k)), blocks(place, x, length(storage, A), k)
    {
    }
    void submit(Flow& flow) override { form_blocked(flow, storage, k, A, blocks.nb, tau, *blocks.slots); }
    Index k;
    MatrixView<T> A;
    const T* tau;
    Blocks<T> blocks;
};

/// op(Q) C or C op(Q), with Q's reflectors V.
template <Scalar T> struct Application {
    Application(Place& place, const Problem& x, Storage of)
        : storage(of), order(x.side == Side::left ? x.m : x.n), others(x.side == Side::left ? x.n : x.m), k(x.k),
          V(of == Storage::columns ? place.columns<T>(order, k) : place.columns<T>(k, order)), how{x.side, x.op == Op::none
                                                                                                               ? x.op
                                                                                                               : Op::conj_trans}
    {
    }
    void submit(Flow& flow, const T* tau, MatrixView<T> C, Index strip, const Blocks<T>& blocks) const
    {
        apply_blocked(flow, storage, how, k, V, blocks.nb, tau, C, strip, *blocks.slots);
    }
    /// Columns (rows) of a tile of C.
    Index strip(const Problem& x, const Blocks<T>& blocks) const
    {
        return x.nb ? x.nb : right_sides_tile(std::max<Index>(blocks.nb, 96), others, x.workers);
    }
    Storage storage;
    Index order, others, k;
    MatrixView<T> V;
    task::Application how;
};
/// V, tau and C.
template <Scalar T, Storage storage> struct Applied final : Layout {
    Applied(Place& place, const Problem& x)
        : Q(place, x, storage), tau(place.vector<T>(x.k)), C(place.columns<T>(x.m, x.n)), blocks(place, x, Q.order, x.k),
          strip(Q.strip(x, blocks))
    {
    }
    void submit(Flow& flow) override { Q.submit(flow, tau, C, strip, blocks); }
    Application<T> Q;
    const T* tau;
    MatrixView<T> C;
    Blocks<T> blocks;
    Index strip;
};
/// V, t and C: tau is on the diagonals of the triangles in t, of `inner` reflectors each.
template <Scalar T> struct AppliedKept final : Layout {
    AppliedKept(Place& place, const Problem& x)
        : Q(place, x, Storage::columns), tau(place, x.k), C(scalars_and_next(place, x, tau)), blocks(place, x, Q.order, x.k),
          strip(Q.strip(x, blocks))
    {
    }
    void submit(Flow& flow) override { Q.submit(flow, tau.data, C, strip, blocks); }

    static MatrixView<T> scalars_and_next(Place& place, const Problem& x, OwnScalars<T>& tau)
    {
        const MatrixView<T> t = place.columns<T>(x.inner, x.k);
        for (std::size_t j = 0; j < tau.own.size(); ++j) tau.own[j] = t.data[Index(j) % x.inner + Index(j) * t.ld];
        return place.columns<T>(x.m, x.n);
    }
    Application<T> Q;
    OwnScalars<T> tau;
    MatrixView<T> C;
    Blocks<T> blocks;
    Index strip;
};
template <Scalar T> using FactoredQr = Factored<T, Storage::columns>;
template <Scalar T> using FactoredLq = Factored<T, Storage::rows>;
template <Scalar T> using FormedQ = Formed<T, Storage::columns>;
template <Scalar T> using FormedOfLq = Formed<T, Storage::rows>;
template <Scalar T> using AppliedQ = Applied<T, Storage::columns>;
template <Scalar T> using AppliedOfLq = Applied<T, Storage::rows>;

Index rows_of_block(Index, Index n, std::size_t, int) { return TallQr<double>::usual_rows(std::max<Index>(n, 1)); }

Index tile(Index m, Index n, std::size_t element, int workers) { return qr_tile(std::min(m, n), element, workers); }
/// Of its free columns.
Index pivoting_tile(Index, Index n, std::size_t, int) { return blas::pivoting_block(n); }

using Names = std::string_view;
constexpr Names qr_kernels[] = {"geqrf_panel", "pack", "larfb"}, lq_kernels[] = {"gelqf_panel", "pack", "larfb"},
                kept_kernels[] = {"geqrf_panel", "keep", "pack", "larfb"}, applied_kernels[] = {"larft", "pack", "larfb"};
constexpr Names tall_kernels[] = {"gram_qr", "judge_blocks", "reflect_block",    "ttqrt",
                                  "begin_q", "ttmqr",        "reconstruct_head", "reconstruct_block"};
constexpr Names flat_kernels[] = {"geqrt", "unmqr", "tsqrt", "tsmqr"}, tree_kernels[] = {"geqrt", "unmqr", "ttqrt", "ttmqr"};

template <TileQrForm form> struct OfTiles {
    template <Scalar T> struct Laid final : TileQrLayout<T> {
        Laid(Place& place, const Problem& x) : TileQrLayout<T>(form, place, x) {}
    };
    static constexpr bool is_flat = form == TileQrForm::flat || form == TileQrForm::plasma;
    static constexpr Form made{.name = tile_qr_words[std::size_t(form)],
                               .tile = lu_tile,
                               .lay = TRC_LAY(Laid),
                               .kernels = is_flat ? std::span<const Names>(flat_kernels) : std::span<const Names>(tree_kernels),
                               .apart = "leaves no V and tau of LAPACK's layout; call TileQr"};
};

using Lay = void (*)(LayoutRoom&, Place&, const Problem&);
constexpr Form blocked(std::span<const Names> kernels, const Lay (&lay)[4])
{
    return {.name = "blocked",
            .tile = tile,
            .lay = {lay[0], lay[1], lay[2], lay[3]},
            .kernels = kernels,
            .cuts = true,
            .packs_images = true};
}

constexpr Form geqrf_forms[] = {
    blocked(qr_kernels, TRC_LAY(FactoredQr)),
    {.name = "tsqr",
     .tile = tile,
     .lay = TRC_LAY(TallLayout),
     .kernels = tall_kernels,
     .packs_images = true,
     .simulated_tile = rows_of_block,
     .tall_rows = TallQr<double>::least_tall},
    OfTiles<TileQrForm::flat>::made,
    OfTiles<TileQrForm::plasma>::made,
    OfTiles<TileQrForm::binary>::made,
    OfTiles<TileQrForm::greedy>::made,
    OfTiles<TileQrForm::fibonacci>::made,
};
constexpr Form geqp3_forms[] = {{.name = "blocked", .tile = pivoting_tile}};
constexpr Form gelqf_forms[] = {blocked(lq_kernels, TRC_LAY(FactoredLq))};
constexpr Form orgqr_forms[] = {blocked(applied_kernels, TRC_LAY(FormedQ))};
constexpr Form orglq_forms[] = {blocked(applied_kernels, TRC_LAY(FormedOfLq))};
constexpr Form ormqr_forms[] = {blocked(applied_kernels, TRC_LAY(AppliedQ))};
constexpr Form ormlq_forms[] = {blocked(applied_kernels, TRC_LAY(AppliedOfLq))};
constexpr Form geqrt_forms[] = {blocked(kept_kernels, TRC_LAY(FactoredKeeping))};
constexpr Form gemqrt_forms[] = {blocked(applied_kernels, TRC_LAY(AppliedKept))};
constexpr Form gels_forms[] = {{.name = "blocked", .tile = tile}}; // calls of others

} // namespace

TileQrForm tile_qr_form(std::string_view name)
{
    const auto at = std::find(std::begin(tile_qr_words), std::end(tile_qr_words), name);
    if (at != std::end(tile_qr_words)) return TileQrForm(at - std::begin(tile_qr_words));
    throw Error(ErrorCode::bad_argument,
                unknown_name("form of tile QR", name, std::vector(std::begin(tile_qr_words), std::end(tile_qr_words))));
}

forms::Forms forms::geqrf() { return geqrf_forms; }
forms::Forms forms::geqp3() { return geqp3_forms; }
forms::Forms forms::gelqf() { return gelqf_forms; }
forms::Forms forms::orgqr() { return orgqr_forms; }
forms::Forms forms::orglq() { return orglq_forms; }
forms::Forms forms::ormqr() { return ormqr_forms; }
forms::Forms forms::ormlq() { return ormlq_forms; }
forms::Forms forms::geqrt() { return geqrt_forms; }
forms::Forms forms::gemqrt() { return gemqrt_forms; }
forms::Forms forms::gels() { return gels_forms; }

} // namespace trencadis
