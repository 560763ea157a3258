#include "drivers/incremental_lu.hpp"

#include "algorithms/graphs.hpp"
#include "algorithms/incremental_lu.hpp"
#include "algorithms/signatures.hpp"
#include "algorithms/tile_size.hpp"
#include "drivers/routine.hpp"

#include <algorithm>
#include <complex>

namespace trencadis {
namespace {

/// Of this form of getrf, whatever the caller's options are for.
void check(const RoutineOptions& options)
{
    if (options.variant.empty() || options.variant == "incremental") return check_options("getrf", options);
    throw Error(ErrorCode::bad_argument, 0,
                "variant is '" + options.variant + "'; these factors are of the variant 'incremental'");
}

Index tile(const Crew& crew, Index n, std::size_t element, const RoutineOptions& options)
{
    return std::clamp<Index>(options.nb ? options.nb : lu_tile(n, n, element, crew.workers()), 1, std::max<Index>(n, 1));
}

} // namespace

template <Scalar T> struct IncrementalLu<T>::Parts {
    Crew& crew;
    Index n, nb;
    MatrixView<T> A;
    TileMatrix<T> tiles;
    Eliminations<T> by;
    Index info = 0;

    Parts(Crew& on, MatrixView<T> matrix, Index size)
        : crew(on), n(matrix.rows), nb(size), A(matrix), tiles(A, nb, nb), by(n, n, nb, default_inner("getrf", nb))
    {
    }
};

template <Scalar T> IncrementalLu<T>::IncrementalLu(Crew& crew, Index n, T* A, Index lda, const RoutineOptions& options)
{
    argument::require(TRC_CHECK_SIZE(n), TRC_CHECK_INOUT(A, lda, n, n));
    check(options);
    parts_ = std::make_unique<Parts>(crew, MatrixView<T>{A, n, n, lda}, tile(crew, n, sizeof(T), options));
    parts_->info = run_routine(crew, options, [&](Flow& flow) { getrf_incremental(flow, parts_->tiles, parts_->by); });
}
template <Scalar T> IncrementalLu<T>::~IncrementalLu() = default;

template <Scalar T> Index IncrementalLu<T>::info() const { return parts_->info; }

template <Scalar T> void IncrementalLu<T>::solve(Index nrhs, T* B, Index ldb, const RoutineOptions& options) const
{
    const Index n = parts_->n;
    const auto written = TRC_CHECK_INOUT(B, ldb, n, nrhs);
    argument::require(TRC_CHECK_SIZE(nrhs), written);
    written.require_apart(2, argument::Matrix{"A", Region::all(parts_->A.data, n, n, parts_->A.ld), false});
    check(options);
    if (n == 0 || nrhs == 0) return;
    const TileMatrix<T> X({B, n, nrhs, ldb}, parts_->nb, rhs_tile(parts_->crew, parts_->nb, nrhs, {}));
    run_routine(parts_->crew, options, [&](Flow& flow) { getrs_incremental(flow, parts_->tiles, parts_->by, X); });
}

#define TRC_INSTANTIATE(T) template class IncrementalLu<T>;
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
