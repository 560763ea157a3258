#include "algorithms/forms/products.hpp"
#include "algorithms/rank_2k.hpp"
#include "algorithms/rank_k.hpp"
#include "matrix/conjugate.hpp"

/// Products of which one triangle is wanted: syrk and herk of A and C, syr2k and her2k of A, B and C, in this order. C is n x n.
namespace trencadis {
namespace {

blas::Part part_of(Uplo uplo) { return uplo == Uplo::lower ? blas::Part::lower : blas::Part::upper; }

/// The triangle of alpha A B^f + beta C.
template <Scalar T>
PackedProduct<T> triangle_product(const Problem& x, Op f, T alpha, const blas::Operand<T>& A, const blas::Operand<T>& B, T beta,
                                  MatrixView<T> C)
{
    PackedProduct<T> product{x.n, x.n, x.k, alpha, A, B.op(f), beta, C, part_of(x.uplo)};
    product.real_diagonal = f == Op::conj_trans;
    return product;
}

template <Scalar T, bool hermitian> PackedProduct<T> rank_product(Place& place, const Problem& x)
{
    const blas::Operand<T> A = general<T>(place, x.op, x.n, x.k);
    auto product = triangle_product(x, mirror_of<T>(hermitian), factor_of<T>(x.alpha), A, A, factor_of<T>(x.beta),
                                    place.columns<T>(x.n, x.n));
    product.of_transpose = mirror_of<T>(hermitian) == Op::trans;
    return product;
}
template <Scalar T> using PackedSyrk = PackedLayout<T, rank_product<T, false>>;
template <Scalar T> using PackedHerk = PackedLayout<T, rank_product<T, true>>;

template <Scalar T, bool hermitian> PackedProduct<T> first_of_two(Place& place, const Problem& x)
{
    const blas::Operand<T> A = general<T>(place, x.op, x.n, x.k), B = general<T>(place, x.op, x.n, x.k);
    return triangle_product(x, mirror_of<T>(hermitian), factor_of<T>(x.alpha), A, B, factor_of<T>(x.beta),
                            place.columns<T>(x.n, x.n));
}
/// Both products of a rank-2k update, one after the other on the same images.
template <Scalar T, bool hermitian> struct PackedRank2k final : PackedLayout<T, first_of_two<T, hermitian>> {
    PackedRank2k(Place& place, const Problem& x) : PackedLayout<T, first_of_two<T, hermitian>>(place, x)
    {
        constexpr Op f = mirror_of<T>(hermitian);
        const PackedProduct<T>& first = this->product;
        second = triangle_product(x, f, seen_through(f, first.alpha), first.B.op(f), first.A, T(1), first.C);
    }
    void submit(Flow& flow) override
    {
        packed_product(flow, this->product, this->tiling, this->images);
        packed_product(flow, second, this->tiling, this->images);
    }
    PackedProduct<T> second;
};
template <Scalar T> using PackedSyr2k = PackedRank2k<T, false>;
template <Scalar T> using PackedHer2k = PackedRank2k<T, true>;

template <Scalar T, bool hermitian> struct InPlaceRankK final : Layout {
    using Factor = std::conditional_t<hermitian, Real<T>, T>;

    InPlaceRankK(Place& place, const Problem& x) : InPlaceRankK(place, x, product_cut<T>(x, x.n, x.n)) {}
    InPlaceRankK(Place& place, const Problem& x, ProductCut cut)
        : A(general<T>(place, x.op, x.n, x.k, cut.rows, cut.depth)),
          C(lower_triangle<T>(place, x.uplo, mirror_of<T>(hermitian), x.n, cut.rows)), alpha(factor_of<Factor>(x.alpha)),
          beta(factor_of<Factor>(x.beta))
    {
    }
    void submit(Flow& flow) override
    {
        if constexpr (hermitian) herk(flow, alpha, A, beta, C);
        else syrk(flow, alpha, A, beta, C);
    }
    TileMatrix<T> A, C;
    Factor alpha, beta;
};
template <Scalar T> using InPlaceSyrk = InPlaceRankK<T, false>;
template <Scalar T> using InPlaceHerk = InPlaceRankK<T, true>;

template <Scalar T, bool hermitian> struct InPlaceRank2k final : Layout {
    using Factor = std::conditional_t<hermitian, Real<T>, T>;

    InPlaceRank2k(Place& place, const Problem& x) : InPlaceRank2k(place, x, product_cut<T>(x, x.n, x.n)) {}
    InPlaceRank2k(Place& place, const Problem& x, ProductCut cut)
        : A(general<T>(place, x.op, x.n, x.k, cut.rows, cut.depth)), B(general<T>(place, x.op, x.n, x.k, cut.rows, cut.depth)),
          C(lower_triangle<T>(place, x.uplo, mirror_of<T>(hermitian), x.n, cut.rows)), alpha(factor_of<T>(x.alpha)),
          beta(factor_of<Factor>(x.beta))
    {
    }
    void submit(Flow& flow) override
    {
        if constexpr (hermitian) her2k(flow, alpha, A, B, beta, C);
        else syr2k(flow, alpha, A, B, beta, C);
    }
    TileMatrix<T> A, B, C;
    T alpha;
    Factor beta;
};
template <Scalar T> using InPlaceSyr2k = InPlaceRank2k<T, false>;
template <Scalar T> using InPlaceHer2k = InPlaceRank2k<T, true>;

using Names = std::string_view;
constexpr Names packed_symmetric[] = {"pack", "syrk", "gemm"}, packed_hermitian[] = {"pack", "herk", "gemm"};
constexpr Names syrk_kernels[] = {"syrk", "gemm"}, herk_kernels[] = {"herk", "gemm"};
constexpr Names syr2k_kernels[] = {"syr2k", "gemm"}, her2k_kernels[] = {"her2k", "gemm"};
using K = KernelRoutine;

constexpr Form syrk_forms[] = {packed_form(own_kernels<K::syrk, K::gemm>, packed_symmetric, TRC_LAY(PackedSyrk)),
                               on_devices(in_place_form(syrk_kernels, TRC_LAY(InPlaceSyrk)))};
constexpr Form herk_forms[] = {packed_form(own_kernels<K::herk, K::gemm>, packed_hermitian, TRC_LAY(PackedHerk)),
                               on_devices(in_place_form(herk_kernels, TRC_LAY(InPlaceHerk)))};
constexpr Form syr2k_forms[] = {packed_form(own_kernels<K::syr2k, K::gemm>, packed_symmetric, TRC_LAY(PackedSyr2k)),
                                in_place_form(syr2k_kernels, TRC_LAY(InPlaceSyr2k))};
constexpr Form her2k_forms[] = {packed_form(own_kernels<K::her2k, K::gemm>, packed_hermitian, TRC_LAY(PackedHer2k)),
                                in_place_form(her2k_kernels, TRC_LAY(InPlaceHer2k))};

} // namespace

forms::Forms forms::syrk() { return syrk_forms; }
forms::Forms forms::herk() { return herk_forms; }
forms::Forms forms::syr2k() { return syr2k_forms; }
forms::Forms forms::her2k() { return her2k_forms; }

} // namespace trencadis
