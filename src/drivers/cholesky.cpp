#include "algorithms/empty_cholesky.hpp"
#include "algorithms/potrf.hpp"
#include "algorithms/signatures.hpp"
#include "algorithms/tile_size.hpp"
#include "drivers/alone.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/packed_calls.hpp"
#include "drivers/routine.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/operations.hpp"
#include "matrix/tile_storage.hpp"

#include <memory>

namespace trencadis {
namespace {

template <Scalar T> Index factor_tile(const Crew& crew, Index n, const RoutineOptions& options)
{
    return options.nb ? options.nb : cholesky_tile(n, sizeof(T), crew.workers());
}

/// The matrix to factor as the algorithm wants it: its lower triangle, in place, or in tiles that are copied in and out.
template <Scalar T> class FactorMatrix {
public:
    FactorMatrix(Uplo uplo, Index n, T* A, Index lda, Index nb, const RoutineOptions& options)
        : op_(uplo == Uplo::lower ? Op::none : herm_op<T>), user_({A, n, n, lda}, nb, nb)
    {
        if (wants_tile_layout(options)) storage_ = std::make_unique<TileStorage<T>>(n, n, nb, nb);
    }
    TileMatrix<T> lower() const { return (storage_ ? storage_->matrix() : user_).with(op_); }
    void copy_in(Flow& flow) const
    {
        if (storage_) copy(flow, user_.with(op_), lower());
    }
    void copy_out(Flow& flow) const
    {
        if (storage_) copy(flow, lower(), user_.with(op_));
    }

private:
    static void copy(Flow& flow, TileMatrix<T> from, TileMatrix<T> to)
    {
        for (Index j = 0; j < from.tiles(); ++j) {
            task::copy_lower(flow, from(j, j), to(j, j));
            for (Index i = j + 1; i < from.tiles(); ++i) task::copy(flow, from(i, j), to(i, j));
        }
    }
    Op op_;
    TileMatrix<T> user_;
    std::unique_ptr<TileStorage<T>> storage_;
};

/// The matrix to factor in place, and the images of its packed tiles.
template <Scalar T> struct PackedFactor {
    PackedFactor(const Crew& crew, Uplo uplo, Index n, T* A, Index lda, const RoutineOptions& options)
        : nb(options.nb ? std::min(options.nb, n) : packed_cholesky_tile(n, sizeof(T), crew.workers())),
          lower(TileMatrix<T>({A, n, n, lda}, nb, nb).with(uplo == Uplo::lower ? Op::none : herm_op<T>)), images(n, nb)
    {
    }
    Index nb;
    TileMatrix<T> lower;
    CholeskyImages<T> images;
};

} // namespace

namespace alone {

template <Scalar T> Index potrf(const KernelProvider& kernels, Uplo uplo, Index n, T* A, Index lda)
{
    return n == 0 ? 0 : kernels.potrf(uplo, n, A, lda);
}

template <Scalar T>
Index potrs(const KernelProvider& kernels, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb)
{
    if (n > 0 && nrhs > 0) kernels.potrs(uplo, n, nrhs, A, lda, B, ldb);
    return 0;
}

template <Scalar T> Index posv(const KernelProvider& kernels, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb)
{
    const Index info = potrf(kernels, uplo, n, A, lda);
    if (info == 0) potrs(kernels, uplo, n, nrhs, A, lda, B, ldb);
    return info;
}

} // namespace alone

template <Scalar T> Index potrf(Crew& crew, Uplo uplo, Index n, T* A, Index lda, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_potrf(TRC_CHECK));
    check_options("potrf", options);
    if (n == 0) return 0;
    if (runs_directly(crew, operations::potrf(double(n)).flops<T>(), options, Work::factorization))
        return alone::potrf(crew.kernels(), uplo, n, A, lda);
    std::optional<PackedFactor<T>> packed;
    if (runs_packed(crew, "potrf", options)) make_images(packed, options, crew, uplo, n, A, lda, options);
    if (packed) return run_routine(crew, options, [&](Flow& flow) { potrf_packed(flow, packed->lower, packed->images); });
    const Index nb = factor_tile<T>(crew, n, options);
    const FactorMatrix<T> matrix(uplo, n, A, lda, nb, options);
    return run_routine(crew, options, [&](Flow& flow) {
        matrix.copy_in(flow);
        if (options.variant == "two-level") potrf_two_level(flow, matrix.lower(), nested_cholesky_tile(nb));
        else potrf(flow, matrix.lower());
        matrix.copy_out(flow);
    });
}

template <Scalar T>
void potrs(Crew& crew, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_potrs(TRC_CHECK));
    check_options("potrs", options);
    if (n == 0 || nrhs == 0) return;
    if (solves_one_vector(crew, nrhs, options) ||
        runs_directly(crew, operations::potrs(double(n), double(nrhs)).flops<T>(), options))
        return void(alone::potrs(crew.kernels(), uplo, n, nrhs, A, lda, B, ldb));
    const Index nb = factor_tile<T>(crew, n, options);
    const TileMatrix<T> lower = readable(A, n, n, lda, nb, nb).with(uplo == Uplo::lower ? Op::none : herm_op<T>);
    const TileMatrix<T> X({B, n, nrhs, ldb}, nb, rhs_tile(crew, nb, nrhs, options));
    run_routine(crew, options, [&](Flow& flow) { potrs(flow, lower, X); });
}

template <Scalar T>
Index posv(Crew& crew, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_posv(TRC_CHECK));
    check_options("posv", options);
    if (n == 0) return 0;
    if (runs_directly(crew, operations::posv(double(n), double(nrhs)).flops<T>(), options, Work::factorization))
        return alone::posv(crew.kernels(), uplo, n, nrhs, A, lda, B, ldb);
    std::optional<PackedFactor<T>> packed;
    if (runs_packed(crew, "posv", options)) make_images(packed, options, crew, uplo, n, A, lda, options);
    if (packed) {
        const TileMatrix<T> X({B, n, nrhs, ldb}, packed->nb, rhs_tile(crew, packed->nb, nrhs, options));
        return run_routine(crew, options, [&](Flow& flow) { posv(flow, packed->lower, X, &packed->images); });
    }
    const Index nb = factor_tile<T>(crew, n, options);
    const FactorMatrix<T> matrix(uplo, n, A, lda, nb, options);
    const TileMatrix<T> X({B, n, nrhs, ldb}, nb, rhs_tile(crew, nb, nrhs, options));
    return run_routine(crew, options, [&](Flow& flow) {
        matrix.copy_in(flow);
        posv(flow, matrix.lower(), X);
        matrix.copy_out(flow);
    });
}

Index tasks(Crew& crew, Index tile_rows, const RoutineOptions& options)
{
    argument::Size{"tile_rows", tile_rows}.require(2);
    check_options("tasks", options);
    constexpr Index most = 3000; // 4.5e9 tasks; the table of addresses stays within the machine's integers and memory
    if (tile_rows > most)
        throw Error(ErrorCode::bad_argument, 2,
                    "tile_rows is " + std::to_string(tile_rows) + ", must be at most " + std::to_string(most));
    const auto names = std::make_unique_for_overwrite<char[]>(std::size_t(tile_rows * tile_rows));
    run_routine(crew, options, [&](Flow& flow) { empty_cholesky(flow, names.get(), tile_rows); });
    return empty_cholesky_tasks(tile_rows);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index alone::potrf(const KernelProvider&, Uplo, Index, T*, Index);                                                  \
    template Index alone::potrs(const KernelProvider&, Uplo, Index, Index, const T*, Index, T*, Index);                          \
    template Index alone::posv(const KernelProvider&, Uplo, Index, Index, T*, Index, T*, Index);                                 \
    template Index potrf(Crew&, Uplo, Index, T*, Index, const RoutineOptions&);                                                  \
    template void potrs(Crew&, Uplo, Index, Index, const T*, Index, T*, Index, const RoutineOptions&);                           \
    template Index posv(Crew&, Uplo, Index, Index, T*, Index, T*, Index, const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
