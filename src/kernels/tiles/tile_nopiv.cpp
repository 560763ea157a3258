#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_operations.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/unpivoted_lu.hpp"
#include "matrix/operations.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

using kernel_flops::weight_of;
template <Scalar T> struct NopivArgs {
    Index m, n, first;

    Flops flops() const { return weight_of<T> * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0);
        factor_unpivoted(kernels_of(context), m, n, A.data, A.ld);
        if (const Index zero = zero_on_diagonal(std::min(m, n), A.data, A.ld)) context.outcome().report(first + zero);
    }
};

template <Scalar T> struct DivideArgs {
    Index m, n;

    Flops flops() const { return operations::triangular(double(n), double(m)).template flops<T>(); }
    Index chunks() const { return chunk_count(m, flops()); }
    void run(TaskContext& context)
    {
        const Stored<const T> U = stored<const T>(context, 0);
        const Stored<T> B = stored<T>(context, 1);
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, m);
            divide_by_upper(kernels_of(context), r.size(), n, U.data, U.ld, B.data + r.begin, B.ld);
        }
    }
};

} // namespace

template <Scalar T> void getrf_nopiv(Flow& flow, Tile<T> A, Index first)
{
    static constexpr Codelet codelet = codelet_of<NopivArgs<T>>("getrf_nopiv");
    assert(A.op == Op::none);
    flow.submit(codelet, NopivArgs<T>{A.rows, A.cols, first}, {readwrite(A)});
}

template <Scalar T> void divide(Flow& flow, Tile<T> U, Tile<T> B)
{
    static constexpr Codelet codelet = codelet_of<DivideArgs<T>>("trsm", "nopiv");
    flow.submit(codelet, DivideArgs<T>{B.rows, B.cols}, {read(U), readwrite(B)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf_nopiv(Flow&, Tile<T>, Index);                                                                            \
    template void divide(Flow&, Tile<T>, Tile<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
