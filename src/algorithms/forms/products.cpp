#include "algorithms/forms/form.hpp"
#include "algorithms/gemm.hpp"
#include "algorithms/gemm_shared_panel.hpp"
#include "algorithms/packed_product.hpp"
#include "algorithms/packed_trsm.hpp"
#include "algorithms/rank_k.hpp"
#include "algorithms/tile_size.hpp"
#include "algorithms/trsm.hpp"

#include <algorithm>

/// Products and triangular solves. Calls have factors, transpositions and structures, which the drivers lay out; here stands what
/// is simulated, of square matrices.
namespace trencadis {
namespace {

template <Scalar T> TileMatrix<T> square(Place& place, const Problem& x) { return place.tiles<T>(x.n, x.n, x.nb, x.nb); }

template <Scalar T> struct PackedTiles : Layout {
    PackedTiles(Place& place, Index nb, const PackedProduct<T>& of)
        : product(of), tiling{nb, nb, nb}, images(product, tiling, place.images())
    {
    }
    void submit(Flow& flow) override { packed_product(flow, product, tiling, images); }

    /// C <- A op(B) + C in `part` of C.
    static PackedProduct<T> of(MatrixView<T> A, MatrixView<T> B, Op op, MatrixView<T> C, blas::Part part)
    {
        const auto left = blas::general<T>(A.data, A.ld), right = blas::general<T>(B.data, B.ld, op);
        return {C.rows, C.cols, A.cols, T(1), left, right, T(1), C, part};
    }
    PackedProduct<T> product;
    ProductTiling tiling;
    ProductImages<T> images;
};
template <Scalar T> struct PackedGemm final : PackedTiles<T> {
    PackedGemm(Place& place, const Problem& x) : PackedTiles<T>(place, x.nb, laid(place, x.n)) {}
    static PackedProduct<T> laid(Place& place, Index n)
    {
        const MatrixView<T> A = place.columns<T>(n, n), B = place.columns<T>(n, n), C = place.columns<T>(n, n);
        return PackedTiles<T>::of(A, B, Op::none, C, blas::Part::all);
    }
};
template <Scalar T> struct PackedSyrk final : PackedTiles<T> {
    PackedSyrk(Place& place, const Problem& x) : PackedTiles<T>(place, x.nb, laid(place, x.n)) {}
    static PackedProduct<T> laid(Place& place, Index n)
    {
        const MatrixView<T> A = place.columns<T>(n, n), C = place.columns<T>(n, n);
        return PackedTiles<T>::of(A, A, Op::trans, C, blas::Part::lower);
    }
};
template <Scalar T> struct PackedTrsm final : Layout {
    PackedTrsm(Place& place, const Problem& x)
        : A(place.columns<T>(x.n, x.n)), B(place.columns<T>(x.n, x.n)),
          system{Side::left, Uplo::lower, Op::none, Diag::non_unit, x.n, x.n, T(1), A.data, A.ld, B}, tiling{x.nb, x.nb},
          images(system, tiling, place.images())
    {
    }
    void submit(Flow& flow) override { packed_trsm(flow, system, tiling, images); }
    MatrixView<T> A, B;
    PackedSystem<T> system;
    SystemTiling tiling;
    SystemImages<T> images;
};

template <Scalar T> struct InPlaceGemm final : Layout {
    InPlaceGemm(Place& place, const Problem& x) : A(square<T>(place, x)), B(square<T>(place, x)), C(square<T>(place, x)) {}
    void submit(Flow& flow) override { gemm(flow, T(1), A, B, T(1), C); }
    TileMatrix<T> A, B, C;
};
/// P: the panel of B that is packed.
template <Scalar T> struct SharedPanel final : Layout {
    SharedPanel(Place& place, const Problem& x)
        : A(square<T>(place, x)), B(square<T>(place, x)), C(square<T>(place, x)),
          P(place.tiles<T>(std::min(x.n, x.nb), x.n, x.nb, x.nb))
    {
    }
    void submit(Flow& flow) override { gemm_shared_panel(flow, A, B, P, C); }
    TileMatrix<T> A, B, C, P;
};
template <Scalar T> struct InPlaceSyrk final : Layout {
    InPlaceSyrk(Place& place, const Problem& x) : A(square<T>(place, x)), C(square<T>(place, x)) {}
    void submit(Flow& flow) override { syrk(flow, T(1), A, T(1), C); }
    TileMatrix<T> A, C;
};
template <Scalar T> struct InPlaceTrsm final : Layout {
    InPlaceTrsm(Place& place, const Problem& x) : A(square<T>(place, x)), B(square<T>(place, x)) {}
    void submit(Flow& flow) override { trsm(flow, Uplo::lower, Diag::non_unit, T(1), A, B); }
    TileMatrix<T> A, B;
};

// Tile sizes.
template <Scalar T> Index columns_of_product(Index m, Index n, int workers)
{
    const blas::Operand<T> any{static_cast<const T*>(nullptr), 1, m};
    return product_tiling(PackedProduct<T>{m, n, n, T(1), any, any, T(0), {nullptr, m, n, m}}, workers).cols;
}
template <Scalar T> Index depth_of_system(Index m, Index n, int workers)
{
    const T* const none = nullptr;
    const PackedSystem<T> system{Side::right, Uplo::upper, Op::none, Diag::non_unit, m, n, T(1), none, n, {nullptr, m, n, m}};
    return system_tiling(system, workers).depth;
}
/// By the size of an element, for the scalars that our kernels know.
#define TRC_BY_SIZE(f)                                                                                                           \
    (bytes == sizeof(float)                  ? f<float>(m, n, workers)                                                           \
     : bytes == sizeof(std::complex<double>) ? f<std::complex<double>>(m, n, workers)                                            \
                                             : f<double>(m, n, workers))
Index packed_columns(Index m, Index n, std::size_t bytes, int workers) { return TRC_BY_SIZE(columns_of_product); }
Index packed_depth(Index m, Index n, std::size_t bytes, int workers) { return TRC_BY_SIZE(depth_of_system); }
#undef TRC_BY_SIZE
Index simulated_tile(Index, Index n, std::size_t element, int workers) { return cholesky_tile(n, element, workers); }

// All that a product's forms are named and cut as; what is simulated of some is added below.
constexpr Form packed(std::span<const KernelRoutine> own)
{
    return {.name = "packed", .tile = packed_columns, .packs_images = true, .own = own, .simulated_tile = simulated_tile};
}
constexpr Form packed_solve(std::span<const KernelRoutine> own)
{
    Form form = packed(own);
    form.tile = packed_depth;
    return form;
}
constexpr Form in_place = {.name = "in-place", .tile = product_tile, .simulated_tile = simulated_tile};

using Names = std::string_view;
constexpr Names packed_gemm_kernels[] = {"pack", "gemm"}, gemm_kernels[] = {"gemm"};
constexpr Names packed_syrk_kernels[] = {"pack", "syrk", "gemm"}, syrk_kernels[] = {"syrk", "gemm"};
constexpr Names packed_trsm_kernels[] = {"pack", "trsm", "gemm"}, trsm_kernels[] = {"trsm", "gemm"};

using Lay = std::unique_ptr<Layout> (*)(Place&, const Problem&);
constexpr Form with_graph(Form form, std::span<const Names> kernels, const Lay (&lay)[4])
{
    form.kernels = kernels;
    for (int i = 0; i < 4; ++i) form.lay[i] = lay[i];
    return form;
}
constexpr Form named(Form form, Names name)
{
    form.name = name;
    return form;
}
constexpr Form only_simulated(Form form)
{
    form.called = false;
    return form;
}

using enum KernelRoutine;
template <KernelRoutine... all> constexpr KernelRoutine own[] = {all...};

constexpr Form gemm_forms[] = {
    with_graph(packed(own<gemm>), packed_gemm_kernels, TRC_LAY(PackedGemm)),
    named(packed(own<gemm>), "nodes"),
    with_graph(in_place, gemm_kernels, TRC_LAY(InPlaceGemm)),
    only_simulated(with_graph(named(in_place, "shared-panel"), packed_gemm_kernels, TRC_LAY(SharedPanel))),
};
constexpr Form syrk_forms[] = {with_graph(packed(own<syrk, gemm>), packed_syrk_kernels, TRC_LAY(PackedSyrk)),
                               with_graph(in_place, syrk_kernels, TRC_LAY(InPlaceSyrk))};
constexpr Form trsm_forms[] = {with_graph(packed_solve(own<trsm, gemm>), packed_trsm_kernels, TRC_LAY(PackedTrsm)),
                               with_graph(in_place, trsm_kernels, TRC_LAY(InPlaceTrsm))};
template <KernelRoutine routine> constexpr Form product_forms[] = {packed(own<routine, gemm>), in_place};
constexpr Form solve_forms[] = {packed_solve(own<trsm, gemm>), in_place};

} // namespace

forms::Forms forms::gemm() { return gemm_forms; }
forms::Forms forms::symm() { return product_forms<KernelRoutine::symm>; }
forms::Forms forms::hemm() { return product_forms<KernelRoutine::hemm>; }
forms::Forms forms::syrk() { return syrk_forms; }
forms::Forms forms::herk() { return product_forms<KernelRoutine::herk>; }
forms::Forms forms::syr2k() { return product_forms<KernelRoutine::syr2k>; }
forms::Forms forms::her2k() { return product_forms<KernelRoutine::her2k>; }
forms::Forms forms::trmm() { return product_forms<KernelRoutine::trmm>; }
forms::Forms forms::trsm() { return trsm_forms; }
forms::Forms forms::trtrs() { return solve_forms; }

} // namespace trencadis
