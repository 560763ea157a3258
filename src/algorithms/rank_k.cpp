#include "algorithms/rank_k.hpp"

#include "algorithms/scale_triangle.hpp"

namespace trencadis {

template <Scalar T> void syrk(Flow& flow, T alpha, TileMatrix<T> A, T beta, TileMatrix<T> C)
{
    if (alpha == T(0) || A.col_tiles() == 0) return scale_triangle(flow, beta, C, false);
    for (Index j = 0; j < C.tiles(); ++j)
        for (Index i = j; i < C.tiles(); ++i)
            for (Index l = 0; l < A.col_tiles(); ++l) {
                const T factor = l == 0 ? beta : T(1);
                if (i == j) task::syrk(flow, alpha, A(j, l), factor, C(j, j));
                else task::gemm(flow, alpha, A(i, l), trans(A(j, l)), factor, C(i, j));
            }
}

template <Scalar T> void herk(Flow& flow, Real<T> alpha, TileMatrix<T> A, Real<T> beta, TileMatrix<T> C)
{
    if (alpha == 0 || A.col_tiles() == 0) return scale_triangle(flow, T(beta), C, true);
    for (Index j = 0; j < C.tiles(); ++j)
        for (Index i = j; i < C.tiles(); ++i)
            for (Index l = 0; l < A.col_tiles(); ++l) {
                const Real<T> factor = l == 0 ? beta : Real<T>(1);
                if (i == j) task::herk(flow, alpha, A(j, l), factor, C(j, j));
                else task::gemm(flow, T(alpha), A(i, l), herm(A(j, l)), T(factor), C(i, j));
            }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syrk(Flow&, T, TileMatrix<T>, T, TileMatrix<T>);                                                               \
    template void herk(Flow&, Real<T>, TileMatrix<T>, Real<T>, TileMatrix<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
