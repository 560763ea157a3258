#include "kernels/tiles/tile_operations.hpp"
#include "kernels/tiles/triangular_args.hpp"

namespace trencadis::task {

template <Scalar T> void trmm(Flow& flow, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<TriangularArgs<T, Triangular::multiply>>("trmm");
    flow.submit(codelet, triangular_args<T, Triangular::multiply>(side, uplo, diag, alpha, A, B, guard), {read(A), readwrite(B)});
}

#define TRC_INSTANTIATE(T) template void trmm(Flow&, Side, Uplo, Diag, T, Tile<T>, Tile<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
