#include "algorithms/blocked_qr.hpp"
#include "algorithms/forms/form.hpp"
#include "algorithms/forms/tile_qr.hpp"
#include "algorithms/tall_qr.hpp"
#include "algorithms/tile_size.hpp"
#include "base/registry.hpp"
#include "blas/factorizations/pivoted_qr.hpp"

#include <algorithm>
#include <string>
#include <vector>

/// QR and LQ (docs/decisions/0056 and 0057). The calls of 'blocked' and 'tsqr' make do with less memory, which their drivers
/// arrange; what is simulated of 'blocked' is square.
namespace trencadis {
namespace {

/// n columns with n reflectors.
template <Scalar T> struct Reflectors : Layout {
    Reflectors(Place& place, const Problem& x)
        : A(place.columns<T>(x.n, x.n)), tau(place.vector<T>(A.cols)), slots(A.rows, x.nb, place.images()), nb(x.nb)
    {
    }
    MatrixView<T> A;
    T* tau;
    ReflectorSlots<T> slots;
    Index nb;
};
template <Scalar T> struct Factored final : Reflectors<T> {
    using Reflectors<T>::Reflectors;
    void submit(Flow& flow) override { factor_blocked(flow, Storage::columns, this->A, this->nb, this->tau, this->slots); }
};
template <Scalar T> struct Formed final : Reflectors<T> {
    using Reflectors<T>::Reflectors;
    void submit(Flow& flow) override
    {
        form_blocked(flow, Storage::columns, this->A.cols, this->A, this->nb, this->tau, this->slots);
    }
};
template <Scalar T> struct Applied final : Reflectors<T> {
    Applied(Place& place, const Problem& x) : Reflectors<T>(place, x), C(place.columns<T>(x.n, x.n)) {}
    void submit(Flow& flow) override
    {
        apply_blocked(flow, Storage::columns, {Side::left, Op::none}, C.rows, this->A, this->nb, this->tau, C, this->nb,
                      this->slots);
    }
    MatrixView<T> C;
};

/// m x n by blocks of nb rows. What it keeps beside its squares are plain flags of its own, which nobody reads in a simulation.
template <Scalar T> struct Tall final : Layout {
    Tall(Place& place, const Problem& x)
    {
        if (x.n == 0) return;
        const MatrixView<T> A = place.columns<T>(x.m, x.n);
        T* const tau = place.vector<T>(x.n);
        const Index blocks = std::clamp<Index>(x.m / x.nb, 2, std::max<Index>(2, x.m / x.n));
        call.emplace(x.m, x.n, A.data, A.ld, tau, blocks, IllConditioned::factored, place.images());
    }
    void submit(Flow& flow) override
    {
        if (call) call->submit(flow);
    }
    std::optional<TallQr<T>> call;
};

Index rows_of_block(Index, Index n, std::size_t, int) { return TallQr<double>::usual_rows(std::max<Index>(n, 1)); }

Index tile(Index m, Index n, std::size_t element, int workers) { return qr_tile(std::min(m, n), element, workers); }
/// Of its free columns.
Index pivoting_tile(Index, Index n, std::size_t, int) { return blas::pivoting_block(n); }

using Names = std::string_view;
constexpr Names blocked_kernels[] = {"geqrf_panel", "pack", "larfb"}, applied_kernels[] = {"larft", "pack", "larfb"};
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

constexpr Form geqrf_forms[] = {
    {.name = "blocked", .tile = tile, .lay = TRC_LAY(Factored), .kernels = blocked_kernels, .packs_images = true},
    {.name = "tsqr",
     .tile = tile,
     .lay = TRC_LAY(Tall),
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
constexpr Form gelqf_forms[] = {{.name = "blocked", .tile = tile}};
constexpr Form orgqr_forms[] = {
    {.name = "blocked", .tile = tile, .lay = TRC_LAY(Formed), .kernels = applied_kernels, .packs_images = true}};
constexpr Form ormqr_forms[] = {
    {.name = "blocked", .tile = tile, .lay = TRC_LAY(Applied), .kernels = applied_kernels, .packs_images = true}};

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
forms::Forms forms::ormqr() { return ormqr_forms; }

} // namespace trencadis
