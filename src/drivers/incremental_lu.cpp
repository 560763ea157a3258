#include "drivers/incremental_lu.hpp"

#include "algorithms/forms/incremental.hpp"
#include "algorithms/graphs.hpp"
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
    if (options.variant.empty() || options.variant == incremental_word) return void(check_options("getrf", options));
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
    IncrementalLayout<T> laid;
    Index info = 0;

    Parts(Crew& on, MatrixView<T> matrix, Index size) : crew(on), n(matrix.rows), nb(size), A(matrix), laid(lay(matrix, nb)) {}
    static IncrementalLayout<T> lay(MatrixView<T> A, Index nb)
    {
        const Form& form = find_form(find_routine("getrf"), incremental_word);
        const Place::Operand operand{A.data, A.ld};
        Place memory(std::span(&operand, 1));
        return {memory, {.m = A.rows, .n = A.cols, .nb = nb, .inner = default_inner(form, nb)}};
    }
};

template <Scalar T> IncrementalLu<T>::IncrementalLu(Crew& crew, Index n, T* A, Index lda, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_CHECK_SIZE(n), TRC_CHECK_INOUT(A, lda, n, n));
    check(options);
    parts_ = std::make_unique<Parts>(crew, MatrixView<T>{A, n, n, lda}, tile(crew, n, sizeof(T), options));
    parts_->info = run_where_best(crew, options, [&](Flow& flow) { parts_->laid.submit(flow); });
}
template <Scalar T> IncrementalLu<T>::~IncrementalLu() = default;

template <Scalar T> Index IncrementalLu<T>::info() const { return parts_->info; }

template <Scalar T> void IncrementalLu<T>::solve(Index nrhs, T* B, Index ldb, const RoutineOptions& options) const
{
    const Index n = parts_->n;
    const auto written = TRC_CHECK_INOUT(B, ldb, n, nrhs);
    const InCall call(parts_->crew);
    require(call, TRC_CHECK_SIZE(nrhs), written);
    written.require_apart(2, argument::Matrix{"A", Region::all(parts_->A.data, n, n, parts_->A.ld), false});
    check(options);
    if (n == 0 || nrhs == 0) return;
    const TileMatrix<T> X({B, n, nrhs, ldb}, parts_->nb, rhs_tile(parts_->crew, parts_->nb, nrhs, {}));
    run_where_best(parts_->crew, options, [&](Flow& flow) { getrs_incremental(flow, parts_->laid.tiles, parts_->laid.by, X); });
}

#define TRC_INSTANTIATE(T) template class IncrementalLu<T>;
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
