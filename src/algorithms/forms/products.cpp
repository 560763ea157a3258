#include "algorithms/forms/products.hpp"

#include "algorithms/gemm.hpp"
#include "algorithms/gemm_shared_panel.hpp"
#include "algorithms/symm.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>

/// gemm, symm and hemm: A, B and C, in this order.
namespace trencadis {
namespace {

template <Scalar T> using PackedGemm = PackedLayout<T, whole_product<T>>;

template <Scalar T> struct InPlaceGemm final : Layout {
    InPlaceGemm(Place& place, const Problem& x) : InPlaceGemm(place, x, product_cut<T>(x, x.m, x.n)) {}
    InPlaceGemm(Place& place, const Problem& x, ProductCut cut)
        : A(general<T>(place, x.op, x.m, x.k, cut.rows, cut.depth)), B(general<T>(place, x.op_b, x.k, x.n, cut.depth, cut.cols)),
          C(place.tiles<T>(x.m, x.n, cut.rows, cut.cols)), alpha(factor_of<T>(x.alpha)), beta(factor_of<T>(x.beta))
    {
    }
    void submit(Flow& flow) override { gemm(flow, alpha, A, B, beta, C); }
    TileMatrix<T> A, B, C;
    T alpha, beta;
};
/// Square; P: the panel of B that is packed.
template <Scalar T> struct SharedPanel final : Layout {
    SharedPanel(Place& place, const Problem& x)
        : A(square(place, x)), B(square(place, x)), C(square(place, x)), P(place.tiles<T>(std::min(x.n, x.nb), x.n, x.nb, x.nb))
    {
    }
    static TileMatrix<T> square(Place& place, const Problem& x) { return place.tiles<T>(x.n, x.n, x.nb, x.nb); }
    void submit(Flow& flow) override { gemm_shared_panel(flow, A, B, P, C); }
    TileMatrix<T> A, B, C, P;
};

Index order_of(const Problem& x) { return x.side == Side::left ? x.m : x.n; }

template <Scalar T, blas::Structure structure> PackedProduct<T> side_product(Place& place, const Problem& x)
{
    const Index order = order_of(x);
    const blas::Operand<T> A = structured<T>(place, structure, x, order), B = general<T>(place, Op::none, x.m, x.n);
    const bool left = x.side == Side::left;
    return {x.m, x.n, order, factor_of<T>(x.alpha), left ? A : B, left ? B : A, factor_of<T>(x.beta), place.columns<T>(x.m, x.n)};
}
template <Scalar T> using PackedSymm = PackedLayout<T, side_product<T, blas::Structure::symmetric>>;
template <Scalar T> using PackedHemm = PackedLayout<T, side_product<T, blas::Structure::hermitian>>;

/// A on the right is the mirrored product, with f(B), f(C) and the factors as f leaves them.
template <Scalar T, bool hermitian> struct InPlaceSide final : Layout {
    static constexpr Op mirror = mirror_of<T>(hermitian);

    InPlaceSide(Place& place, const Problem& x) : InPlaceSide(place, x, product_cut<T>(x, x.m, x.n).rows) {}
    InPlaceSide(Place& place, const Problem& x, Index nb)
        : f(x.side == Side::left ? Op::none : mirror), A(lower_triangle<T>(place, x.uplo, mirror, order_of(x), nb)),
          B(place.tiles<T>(x.m, x.n, nb, nb).with(f)), C(place.tiles<T>(x.m, x.n, nb, nb).with(f)),
          alpha(seen_through(f, factor_of<T>(x.alpha))), beta(seen_through(f, factor_of<T>(x.beta)))
    {
    }
    void submit(Flow& flow) override
    {
        if constexpr (hermitian) hemm(flow, alpha, A, B, beta, C);
        else symm(flow, alpha, A, B, beta, C);
    }
    Op f;
    TileMatrix<T> A, B, C;
    T alpha, beta;
};
template <Scalar T> using InPlaceSymm = InPlaceSide<T, false>;
template <Scalar T> using InPlaceHemm = InPlaceSide<T, true>;

template <Scalar T> Index columns_of_product(Index m, Index n, int workers)
{
    const blas::Operand<T> any{static_cast<const T*>(nullptr), 1, m};
    return product_tiling(PackedProduct<T>{m, n, n, T(1), any, any, T(0), {nullptr, m, n, m}}, workers).cols;
}

constexpr Form by_nodes(Form form)
{
    form.name = "nodes";
    form.by_nodes = true;
    form.simulated = false;
    return form;
}
constexpr Form shared_panel(Form form)
{
    form.name = "shared-panel";
    form.called = false;
    return form;
}

using Names = std::string_view;
constexpr Names packed_kernels[] = {"pack", "gemm"}, gemm_kernels[] = {"gemm"};
constexpr Names symm_kernels[] = {"symm", "gemm"}, hemm_kernels[] = {"hemm", "gemm"};
using K = KernelRoutine;

constexpr Form gemm_forms[] = {
    packed_form(own_kernels<K::gemm>, packed_kernels, TRC_LAY(PackedGemm)),
    by_nodes(packed_form(own_kernels<K::gemm>, {}, TRC_LAY(NodesLayout))),
    on_devices(in_place_form(gemm_kernels, TRC_LAY(InPlaceGemm))),
    shared_panel(in_place_form(packed_kernels, TRC_LAY(SharedPanel))),
};
constexpr Form symm_forms[] = {packed_form(own_kernels<K::symm, K::gemm>, packed_kernels, TRC_LAY(PackedSymm)),
                               in_place_form(symm_kernels, TRC_LAY(InPlaceSymm))};
constexpr Form hemm_forms[] = {packed_form(own_kernels<K::hemm, K::gemm>, packed_kernels, TRC_LAY(PackedHemm)),
                               in_place_form(hemm_kernels, TRC_LAY(InPlaceHemm))};

} // namespace

Index packed_columns(Index m, Index n, std::size_t bytes, int workers)
{
    // By the size of an element, for the scalars that our kernels know.
    return bytes == sizeof(float)                  ? columns_of_product<float>(m, n, workers)
           : bytes == sizeof(std::complex<double>) ? columns_of_product<std::complex<double>>(m, n, workers)
                                                   : columns_of_product<double>(m, n, workers);
}

forms::Forms forms::gemm() { return gemm_forms; }
forms::Forms forms::symm() { return symm_forms; }
forms::Forms forms::hemm() { return hemm_forms; }

} // namespace trencadis
