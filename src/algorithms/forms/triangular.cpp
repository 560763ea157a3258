#include "algorithms/forms/products.hpp"
#include "algorithms/packed_trsm.hpp"
#include "algorithms/trmm.hpp"
#include "algorithms/trsm.hpp"
#include "matrix/conjugate.hpp"

/// Products and systems with a triangular matrix: A and B, in this order.
namespace trencadis {
namespace {

Index order_of(const Problem& x) { return x.side == Side::left ? x.m : x.n; }
Index others_of(const Problem& x) { return x.side == Side::left ? x.n : x.m; }

template <Scalar T> PackedProduct<T> triangular_product(Place& place, const Problem& x)
{
    using InPlace = typename PackedProduct<T>::InPlace;
    const Index order = order_of(x);
    const blas::Operand<T> A = structured<T>(place, blas::Structure::triangular, x, order, x.op);
    const MatrixView<T> C = place.columns<T>(x.m, x.n);
    const blas::Operand<T> B = blas::general<T>(C.data, C.ld);
    const bool left = x.side == Side::left;
    PackedProduct<T> product{x.m, x.n, order, factor_of<T>(x.alpha), left ? A : B, left ? B : A, T(0), C};
    product.in_place = left ? InPlace::B : InPlace::A;
    return product;
}
template <Scalar T> using PackedTrmm = PackedLayout<T, triangular_product<T>>;

template <Scalar T> PackedSystem<T> system_of(Place& place, const Problem& x)
{
    const MatrixView<T> A = place.columns<T>(order_of(x), order_of(x));
    return {x.side, x.uplo, x.op, x.diag, x.m, x.n, factor_of<T>(x.alpha), A.data, A.ld, place.columns<T>(x.m, x.n)};
}
template <Scalar T> struct PackedTrsm : Layout {
    PackedTrsm(Place& place, const Problem& x)
        : system(system_of<T>(place, x)), tiling(x.nb ? square_tiling(system, x.nb) : system_tiling(system, x.workers)),
          images(system, tiling, place.images())
    {
    }
    void submit(Flow& flow) override { packed_trsm(flow, system, tiling, images); }
    PackedSystem<T> system;
    SystemTiling tiling;
    SystemImages<T> images;
};

/// The algorithms know A on the left of B only: X op(A) is f(op(A)) f(X) seen through f, with the transposition f that is not at
/// odds with op.
template <Scalar T> struct Triangular : Layout {
    Triangular(Place& place, const Problem& x) : Triangular(place, x, product_cut<T>(x, order_of(x), others_of(x)).rows) {}
    Triangular(Place& place, const Problem& x, Index nb)
        : A(place.tiles<T>(order_of(x), order_of(x), nb, nb).with(x.op)), B(place.tiles<T>(x.m, x.n, nb, nb)),
          uplo(x.op == Op::none ? x.uplo : opposite(x.uplo)), diag(x.diag), alpha(factor_of<T>(x.alpha))
    {
        if (x.side == Side::left) return;
        const Op f = x.op == Op::trans ? Op::trans : herm_op<T>;
        A = A.with(f);
        B = B.with(f);
        uplo = opposite(uplo);
        alpha = seen_through(f, alpha);
    }
    TileMatrix<T> A, B;
    Uplo uplo;
    Diag diag;
    T alpha;
};
template <Scalar T> struct InPlaceTrmm final : Triangular<T> {
    using Triangular<T>::Triangular;
    void submit(Flow& flow) override { trmm(flow, this->uplo, this->diag, this->alpha, this->A, this->B); }
};
template <Scalar T> struct InPlaceTrsm : Triangular<T> {
    using Triangular<T>::Triangular;
    void submit(Flow& flow) override { trsm(flow, this->uplo, this->diag, this->alpha, this->A, this->B); }
};

/// A system of order n with right sides.
Problem with_right_sides(Problem x)
{
    x.m = x.n;
    x.n = x.nrhs;
    return x;
}
template <class OfSystem> struct WithRightSides final : OfSystem {
    WithRightSides(Place& place, const Problem& x) : OfSystem(place, with_right_sides(x)) {}
};
template <Scalar T> using PackedTrtrs = WithRightSides<PackedTrsm<T>>;
template <Scalar T> using InPlaceTrtrs = WithRightSides<InPlaceTrsm<T>>;

template <Scalar T> Index depth_of_system(Index m, Index n, int workers)
{
    const T* const none = nullptr;
    const PackedSystem<T> system{Side::right, Uplo::upper, Op::none, Diag::non_unit, m, n, T(1), none, n, {nullptr, m, n, m}};
    return system_tiling(system, workers).depth;
}
/// By the size of an element, for the scalars that our kernels know.
Index packed_depth(Index m, Index n, std::size_t bytes, int workers)
{
    return bytes == sizeof(float)                  ? depth_of_system<float>(m, n, workers)
           : bytes == sizeof(std::complex<double>) ? depth_of_system<std::complex<double>>(m, n, workers)
                                                   : depth_of_system<double>(m, n, workers);
}

using Names = std::string_view;
using K = KernelRoutine;
constexpr Names packed_trmm_kernels[] = {"pack", "gemm"}, trmm_kernels[] = {"trmm", "gemm"};
constexpr Names packed_trsm_kernels[] = {"pack", "trsm", "gemm"}, trsm_kernels[] = {"trsm", "gemm"};
constexpr Form packed_system_form(const Lay (&lay)[4])
{
    Form form = packed_form(own_kernels<K::trsm, K::gemm>, packed_trsm_kernels, lay);
    form.tile = packed_depth;
    return form;
}

constexpr Form trmm_forms[] = {packed_form(own_kernels<K::trmm, K::gemm>, packed_trmm_kernels, TRC_LAY(PackedTrmm)),
                               in_place_form(trmm_kernels, TRC_LAY(InPlaceTrmm))};
constexpr Form trsm_forms[] = {packed_system_form(TRC_LAY(PackedTrsm)),
                               on_devices(in_place_form(trsm_kernels, TRC_LAY(InPlaceTrsm)))};
constexpr Form trtrs_forms[] = {packed_system_form(TRC_LAY(PackedTrtrs)),
                                on_devices(in_place_form(trsm_kernels, TRC_LAY(InPlaceTrtrs)))};

} // namespace

forms::Forms forms::trmm() { return trmm_forms; }
forms::Forms forms::trsm() { return trsm_forms; }
forms::Forms forms::trtrs() { return trtrs_forms; }

} // namespace trencadis
