#include "algorithms/signatures.hpp"
#include "blas/batches/side_by_side.hpp"
#include "drivers/alone.hpp"
#include "drivers/each.hpp"
#include "drivers/linear_algebra.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <complex>
#include <tuple>

namespace trencadis {
namespace {

/// What every matrix of a batch must be; where there are none it need not be anywhere.
argument::Matrix of_batch(argument::Matrix each, Index count)
{
    if (count == 0) each.region.cols = 0;
    return each;
}
/// Matrices of a batch lie `stride` elements apart, unless there is nothing in them.
template <Scalar T> void check_stride(int number, const char* name, Index stride, Index count, const argument::Matrix& each)
{
    const auto [ld, rows, cols] = std::tuple{each.region.ld, each.region.rows, each.region.cols};
    const auto refuse = [&](const std::string& what) {
        throw Error(ErrorCode::bad_argument, number, std::string(name) + " is " + std::to_string(stride) + what);
    };
    if (count <= 1 || rows == 0 || cols == 0) return;
    if (stride < ld * cols)
        refuse(", must be at least ld times columns = " + std::to_string(ld * cols) + ": each matrix is written");
    Index bytes = 0;
    if (__builtin_mul_overflow(stride, count, &bytes) || __builtin_mul_overflow(bytes, Index(sizeof(T)), &bytes))
        refuse(", which with " + std::to_string(count) + " matrices is beyond the address space");
}
/// Throws where `b` overlaps one of the matrices like `a`.
template <Scalar T>
void check_apart_from_all(int number, const argument::Matrix& b, argument::Matrix a, Index stride, Index count)
{
    const T* const first = static_cast<const T*>(a.region.data);
    const Index distance = (static_cast<const char*>(b.region.data) - static_cast<const char*>(a.region.data)) / Index(sizeof(T));
    const Index begin = distance - a.region.ld * a.region.cols, end = distance + b.region.ld * b.region.cols;
    for (Index i = std::max<Index>(0, begin / std::max<Index>(stride, 1)); i < count && i * stride < end; ++i) {
        a.region.data = first + i * stride;
        b.require_apart(number, a);
    }
}
/// Throws where a right side, which is argument `number`, overlaps a matrix, its own or another problem's.
template <Scalar T>
void check_apart(int number, argument::Matrix b, Index stride_b, argument::Matrix a, Index stride_a, Index count)
{
    const auto next = [](argument::Matrix& x, Index stride) { x.region.data = static_cast<const T*>(x.region.data) + stride; };
    if (count == 0 || a.region.rows == 0 || a.region.cols == 0 || b.region.cols == 0) return;
    const auto begin = [](const argument::Matrix& x) { return static_cast<const char*>(x.region.data); };
    const auto end = [&](const argument::Matrix& x, Index stride) {
        return begin(x) + ((count - 1) * stride + x.region.ld * x.region.cols) * Index(sizeof(T));
    };
    if (end(a, stride_a) <= begin(b) || end(b, stride_b) <= begin(a)) return; // all of one before all of the other, as mostly
    if (stride_a != stride_b) {
        for (Index i = 0; i < count; ++i, next(b, stride_b)) check_apart_from_all<T>(number, b, a, stride_a, count);
        return;
    }
    // In records the first right side has the matrices beside and after it as any has them, the last one those before it.
    check_apart_from_all<T>(number, b, a, stride_a, count);
    next(b, (count - 1) * stride_b);
    check_apart_from_all<T>(number, b, a, stride_a, count);
}
void check_infos(int number, const Index* info, Index count)
{
    if (!info && count > 0)
        throw Error(ErrorCode::bad_argument, number, "info is null, must point to " + std::to_string(count) + " integers");
}

/// Are they our own, which work on several small matrices at the same time?
template <Scalar T> bool side_by_side(const KernelProvider& kernels, const blas::Batch<T>& batch, KernelRoutine factorization)
{
    return kernels.native(factorization) && (batch.nrhs == 0 || kernels.native(KernelRoutine::trsm)) &&
           blas::side_by_side(batch.m, batch.n);
}

/// `run` for the problems in groups, as many as share vectors; `each` flops a problem.
template <Scalar T>
void for_each_group(Crew& crew, const RoutineOptions& options, const blas::Batch<T>& batch, Flops each,
                    void (*run)(const blas::Batch<T>&))
{
    const Index width = blas::lanes<T>(), groups = (batch.count + width - 1) / width;
    for_each_problem(crew, options, groups, each * double(width), [&](const KernelProvider&, Index group) {
        const Index first = group * width;
        run(batch.part(first, std::min(width, batch.count - first)));
    });
}

/// All factorizations and solutions by Cholesky's method; `one(kernels, i)` computes problem i alone.
template <Scalar T, class One>
void cholesky(Crew& crew, const RoutineOptions& options, const blas::Batch<T>& batch, Flops each, const One& one)
{
    if (crew.keeps_copies()) crew.will_write(nullptr, 0); // the problems lie anywhere
    if (side_by_side(crew.kernels(), batch, KernelRoutine::potrf))
        return for_each_group(crew, options, batch, each, blas::cholesky_batch<T>);
    for_each_problem(crew, options, batch.count, each, one);
}
/// The same by LU.
template <Scalar T, class One>
void lu(Crew& crew, const RoutineOptions& options, const blas::Batch<T>& batch, Flops each, const One& one)
{
    if (crew.keeps_copies()) crew.will_write(nullptr, 0); // the problems lie anywhere
    if (side_by_side(crew.kernels(), batch, KernelRoutine::getrf))
        return for_each_group(crew, options, batch, each, blas::lu_batch<T>);
    for_each_problem(crew, options, batch.count, each, one);
}

} // namespace

template <Scalar T>
void potrf_batch(Crew& crew, Uplo uplo, Index n, T* A, Index lda, Index stride_a, Index count, Index* info,
                 const RoutineOptions& options)
{
    const argument::Matrix a = of_batch(TRC_CHECK_TRIANGLE_INOUT(A, lda, n, uplo), count);
    const InCall call(crew);
    require(call, TRC_CHECK_FLAG(Uplo, uplo, "uplo"), TRC_CHECK_SIZE(n), a);
    argument::Size{"count", count}.require(6);
    check_stride<T>(5, "stride_a", stride_a, count, a);
    check_infos(7, info, count);
    const blas::Batch<T> batch{count, n, n, A, lda, stride_a, uplo, nullptr, info, 0, nullptr, 0, 0};
    cholesky(crew, options, batch, operations::potrf(double(n)).flops<T>(),
             [&](const KernelProvider& kernels, Index i) { info[i] = alone::potrf(kernels, uplo, n, A + i * stride_a, lda); });
}

template <Scalar T>
void posv_batch(Crew& crew, Uplo uplo, Index n, Index nrhs, T* A, Index lda, Index stride_a, T* B, Index ldb, Index stride_b,
                Index count, Index* info, const RoutineOptions& options)
{
    const argument::Matrix a = of_batch(TRC_CHECK_INOUT(A, lda, n, n), count),
                           b = of_batch(TRC_CHECK_INOUT(B, ldb, n, nrhs), count);
    const InCall call(crew);
    require(call, TRC_CHECK_FLAG(Uplo, uplo, "uplo"), TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs), a);
    argument::Size{"count", count}.require(10);
    check_stride<T>(6, "stride_a", stride_a, count, a);
    b.require(7);
    check_stride<T>(9, "stride_b", stride_b, count, b);
    check_apart<T>(7, b, stride_b, a, stride_a, count);
    check_infos(11, info, count);
    const Flops each = operations::posv(double(n), double(nrhs)).flops<T>();
    const blas::Batch<T> batch{count, n, n, A, lda, stride_a, uplo, nullptr, info, nrhs, B, ldb, stride_b};
    cholesky(crew, options, batch, each, [&](const KernelProvider& kernels, Index i) {
        info[i] = alone::posv(kernels, uplo, n, nrhs, A + i * stride_a, lda, B + i * stride_b, ldb);
    });
}

template <Scalar T>
void getrf_batch(Crew& crew, Index m, Index n, T* A, Index lda, Index stride_a, Index* ipiv, Index count, Index* info,
                 const RoutineOptions& options)
{
    const argument::Matrix a = of_batch(TRC_CHECK_INOUT(A, lda, m, n), count);
    const InCall call(crew);
    require(call, TRC_CHECK_SIZE(m), TRC_CHECK_SIZE(n), a);
    argument::Size{"count", count}.require(7);
    check_stride<T>(5, "stride_a", stride_a, count, a);
    const Index steps = std::min(m, n);
    argument::Pivots{"ipiv", ipiv, steps * count, 0}.require(6);
    check_infos(8, info, count);
    const Flops each = operations::getrf(double(m), double(n)).flops<T>();
    const blas::Batch<T> batch{count, m, n, A, lda, stride_a, Uplo::lower, ipiv, info, 0, nullptr, 0, 0};
    lu(crew, options, batch, each, [&](const KernelProvider& kernels, Index i) {
        info[i] = alone::getrf(kernels, m, n, A + i * stride_a, lda, ipiv + i * steps);
    });
}

template <Scalar T>
void gesv_batch(Crew& crew, Index n, Index nrhs, T* A, Index lda, Index stride_a, Index* ipiv, T* B, Index ldb, Index stride_b,
                Index count, Index* info, const RoutineOptions& options)
{
    const argument::Matrix a = of_batch(TRC_CHECK_INOUT(A, lda, n, n), count),
                           b = of_batch(TRC_CHECK_INOUT(B, ldb, n, nrhs), count);
    const InCall call(crew);
    require(call, TRC_CHECK_SIZE(n), TRC_CHECK_SIZE(nrhs), a);
    argument::Size{"count", count}.require(10);
    check_stride<T>(5, "stride_a", stride_a, count, a);
    argument::Pivots{"ipiv", ipiv, n * count, 0}.require(6);
    b.require(7);
    check_stride<T>(9, "stride_b", stride_b, count, b);
    check_apart<T>(7, b, stride_b, a, stride_a, count);
    check_infos(11, info, count);
    const Flops each = operations::gesv(double(n), double(nrhs)).flops<T>();
    const blas::Batch<T> batch{count, n, n, A, lda, stride_a, Uplo::lower, ipiv, info, nrhs, B, ldb, stride_b};
    lu(crew, options, batch, each, [&](const KernelProvider& kernels, Index i) {
        info[i] = alone::gesv(kernels, n, nrhs, A + i * stride_a, lda, ipiv + i * n, B + i * stride_b, ldb);
    });
}

template <Scalar T>
void alone::gesv_batch(const KernelProvider& kernels, Index n, Index nrhs, T* A, Index lda, Index stride_a, Index* ipiv, T* B,
                       Index ldb, Index stride_b, Index count, Index* info)
{
    const blas::Batch<T> batch{count, n, n, A, lda, stride_a, Uplo::lower, ipiv, info, nrhs, B, ldb, stride_b};
    if (side_by_side(kernels, batch, KernelRoutine::getrf)) return blas::lu_batch(batch);
    for (Index i = 0; i < count; ++i)
        info[i] = alone::gesv(kernels, n, nrhs, A + i * stride_a, lda, ipiv + i * n, B + i * stride_b, ldb);
}

template <Scalar T>
void alone::posv_batch(const KernelProvider& kernels, Uplo uplo, Index n, Index nrhs, T* A, Index lda, Index stride_a, T* B,
                       Index ldb, Index stride_b, Index count, Index* info)
{
    const blas::Batch<T> batch{count, n, n, A, lda, stride_a, uplo, nullptr, info, nrhs, B, ldb, stride_b};
    if (side_by_side(kernels, batch, KernelRoutine::potrf)) return blas::cholesky_batch(batch);
    for (Index i = 0; i < count; ++i) info[i] = alone::posv(kernels, uplo, n, nrhs, A + i * stride_a, lda, B + i * stride_b, ldb);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void potrf_batch(Crew&, Uplo, Index, T*, Index, Index, Index, Index*, const RoutineOptions&);                       \
    template void posv_batch(Crew&, Uplo, Index, Index, T*, Index, Index, T*, Index, Index, Index, Index*,                       \
                             const RoutineOptions&);                                                                             \
    template void getrf_batch(Crew&, Index, Index, T*, Index, Index, Index*, Index, Index*, const RoutineOptions&);              \
    template void gesv_batch(Crew&, Index, Index, T*, Index, Index, Index*, T*, Index, Index, Index, Index*,                     \
                             const RoutineOptions&);                                                                             \
    template void alone::gesv_batch(const KernelProvider&, Index, Index, T*, Index, Index, Index*, T*, Index, Index, Index,      \
                                    Index*);                                                                                     \
    template void alone::posv_batch(const KernelProvider&, Uplo, Index, Index, T*, Index, Index, T*, Index, Index, Index, Index*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
