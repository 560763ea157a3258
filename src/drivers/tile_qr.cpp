#include "drivers/tile_qr.hpp"

#include "algorithms/forms/tile_qr.hpp"
#include "algorithms/graphs.hpp"
#include "algorithms/signatures.hpp"
#include "algorithms/tile_size.hpp"
#include "algorithms/trsm.hpp"
#include "drivers/routine.hpp"
#include "matrix/diagonal.hpp"

#include <algorithm>
#include <complex>
#include <string>

namespace trencadis {
namespace {

TileQrForm form_of(const RoutineOptions& options)
{
    return options.variant.empty() ? TileQrForm::greedy : tile_qr_form(options.variant);
}

Index tile(const Crew& crew, Index m, Index n, std::size_t element, const RoutineOptions& options)
{
    const Index most = std::max<Index>({m, n, 1});
    return std::clamp<Index>(options.nb ? options.nb : lu_tile(m, n, element, crew.workers()), 1, most);
}

} // namespace

template <Scalar T> struct TileQr<T>::Parts {
    Crew& crew;
    Index m, n, nb;
    MatrixView<T> A;
    TileQrLayout<T> laid;

    Parts(Crew& on, TileQrForm form, MatrixView<T> matrix, Index size)
        : crew(on), m(matrix.rows), n(matrix.cols), nb(size), A(matrix), laid(lay(form, matrix, nb))
    {
    }
    static TileQrLayout<T> lay(TileQrForm form, MatrixView<T> A, Index nb)
    {
        const Form& object = find_form(find_routine("geqrf"), tile_qr_words[std::size_t(form)]);
        const Place::Operand operand{A.data, A.ld};
        Place memory(std::span(&operand, 1));
        return {form, memory, {.m = A.rows, .n = A.cols, .nb = nb, .inner = default_inner(object, nb)}};
    }
    argument::Matrix factors() const { return {"A", Region::all(A.data, m, n, A.ld), false}; }
    TileMatrix<T> right_sides(T* C, Index columns, Index ld) const
    {
        return {{C, m, columns, ld}, nb, rhs_tile(crew, nb, columns, {})};
    }
};

template <Scalar T> TileQr<T>::TileQr(Crew& crew, Index m, Index n, T* A, Index lda, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_CHECK_SIZE(m), TRC_CHECK_SIZE(n), TRC_CHECK_INOUT(A, lda, m, n));
    const TileQrForm form = form_of(options);
    parts_ = std::make_unique<Parts>(crew, form, MatrixView<T>{A, m, n, lda}, tile(crew, m, n, sizeof(T), options));
    if (m == 0 || n == 0) return;
    run_routine(crew, options, [&](Flow& flow) { parts_->laid.submit(flow); });
}
template <Scalar T> TileQr<T>::~TileQr() = default;

template <Scalar T> void TileQr<T>::apply(Op op, Index columns, T* C, Index ldc, const RoutineOptions& options) const
{
    const Index m = parts_->m;
    const auto written = TRC_CHECK_INOUT(C, ldc, m, columns);
    const InCall call(parts_->crew);
    require(call, TRC_CHECK_HERM_OP(op, "op"), TRC_CHECK_SIZE(columns), written);
    written.require_apart(3, parts_->factors());
    if (m == 0 || columns == 0 || parts_->n == 0) return;
    run_routine(parts_->crew, options, [&](Flow& flow) {
        apply_q(flow, op, parts_->laid.tiles, parts_->laid.by, parts_->right_sides(C, columns, ldc));
    });
}

template <Scalar T> void TileQr<T>::form(Index columns, T* Q, Index ldq, const RoutineOptions& options) const
{
    const Index m = parts_->m;
    const auto written = TRC_CHECK_INOUT(Q, ldq, m, columns);
    const InCall call(parts_->crew);
    require(call, TRC_CHECK_WITHIN(columns, 0, m), written);
    written.require_apart(2, parts_->factors());
    for (Index j = 0; j < columns; ++j) {
        std::fill_n(Q + j * ldq, m, T(0));
        Q[j * (ldq + 1)] = T(1);
    }
    apply(Op::none, columns, Q, ldq, options);
}

template <Scalar T> Index TileQr<T>::solve(Index nrhs, T* B, Index ldb, const RoutineOptions& options) const
{
    const Index m = parts_->m, n = parts_->n;
    if (m < n)
        throw Error(ErrorCode::bad_argument, 0,
                    "the matrix is " + std::to_string(m) + " x " + std::to_string(n) +
                        "; least squares need at least as many rows");
    const auto written = TRC_CHECK_INOUT(B, ldb, m, nrhs);
    const InCall call(parts_->crew);
    require(call, TRC_CHECK_SIZE(nrhs), written);
    written.require_apart(2, parts_->factors());
    apply(herm_op<T>, nrhs, B, ldb, options);
    if (const Index zero = zero_on_diagonal(n, parts_->A.data, parts_->A.ld)) return zero;
    if (n == 0 || nrhs == 0) return 0;
    const Index nb = parts_->nb;
    const TileMatrix<T> R({parts_->A.data, n, n, parts_->A.ld}, nb, nb),
        X({B, n, nrhs, ldb}, nb, rhs_tile(parts_->crew, nb, nrhs, {}));
    run_routine(parts_->crew, options, [&](Flow& flow) { trsm(flow, Uplo::upper, Diag::non_unit, T(1), R, X); });
    return 0;
}

#define TRC_INSTANTIATE(T) template class TileQr<T>;
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
