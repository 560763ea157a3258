// Level 3 operations by cuBLAS.
#include "devices/cuda/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <complex>

namespace trencadis::devices::cuda {
namespace {

BlasOp op(char letter) { return letter == 'N' ? op_none : letter == 'T' ? op_transposed : op_conjugated; }
BlasFill fill(char letter) { return letter == 'L' ? fill_lower : fill_upper; }
void* at(const Spot& spot) { return reinterpret_cast<void*>(spot.memory + spot.offset); } // NOLINT(performance-no-int-to-ptr)

/// A factor in the precision of the call, in this process's memory. cuBLAS reads complex ones by instructions that want them
/// aligned to their size, which C++ does not give them.
class Factor {
public:
    Factor(char precision, std::complex<double> x)
        : s_(float(x.real())), d_(x.real()), c_(float(x.real()), float(x.imag())), z_(x), precision_(precision)
    {
    }
    const void* get() const
    {
        switch (precision_) {
        case 's': return &s_;
        case 'd': return &d_;
        case 'c': return &c_;
        default: return &z_;
        }
    }
    const void* real() const { return precision_ == 's' || precision_ == 'c' ? static_cast<const void*>(&s_) : &d_; }

private:
    float s_;
    double d_;
    alignas(2 * sizeof(float)) std::complex<float> c_;
    alignas(2 * sizeof(double)) std::complex<double> z_;
    char precision_;
};

BlasStatus run(const BlasRoutines& routines, Blas blas, const Level3Call& x, const Spots& place)
{
    const Factor alpha(x.precision, x.alpha), beta(x.precision, x.beta);
    // Nobody says that cuBLAS reads no factors where alpha is 0, as BLAS reads none: a product of none has none to read.
    const int m(static_cast<int>(x.m)), n(static_cast<int>(x.n)), k(x.alpha == 0.0 ? 0 : static_cast<int>(x.k)),
        lda(static_cast<int>(x.lda)), ldb(static_cast<int>(x.ldb)), ldc(static_cast<int>(x.ldc));
    void *const A = at(place.A), *const B = at(place.B), *const C = at(place.C);
    switch (x.routine) {
    case Level3Call::Routine::gemm:
        return routines.gemm(blas, op(x.op_a), op(x.op_b), m, n, k, alpha.get(), A, lda, B, ldb, beta.get(), C, ldc);
    case Level3Call::Routine::syrk:
        return routines.syrk(blas, fill(x.uplo), op(x.op_a), n, k, alpha.get(), A, lda, beta.get(), C, ldc);
    case Level3Call::Routine::herk:
        return routines.herk(blas, fill(x.uplo), op(x.op_a), n, k, alpha.real(), A, lda, beta.real(), C, ldc);
    case Level3Call::Routine::trsm:
    case Level3Call::Routine::potrf:
    case Level3Call::Routine::getrf:
    case Level3Call::Routine::laswp: break; // all but the first are cuSOLVER's
    }
    // cuBLAS multiplies what is there by an alpha of 0 in a part of the rows: a product of nothing reads nothing.
    if (x.alpha == 0.0) return routines.gemm(blas, op_none, op_none, m, n, 0, alpha.get(), C, ldc, C, ldc, alpha.get(), C, ldc);
    return routines.trsm(blas, x.side == 'L' ? side_left : side_right, fill(x.uplo), op(x.op_a),
                         x.diag == 'N' ? diag_stored : diag_unit, m, n, alpha.get(), A, lda, C, ldc);
}

} // namespace

Status CudaDriver::compute(const Level3Call& call, const Spots& place)
{
    using Routine = Level3Call::Routine;
    const bool square = call.routine == Routine::syrk || call.routine == Routine::herk || call.routine == Routine::potrf;
    if (call.n == 0 || (call.m == 0 && !square)) return {};
    const Index largest = std::max({call.m, call.n, call.k, call.lda, call.ldb, call.ldc});
    if (largest > INT_MAX) return {Fault::kernel, fmt::format("a matrix of {} rows: cuBLAS counts to {}", largest, INT_MAX)};
    const Current current(*this);
    if (current.failed()) return current.loss();
    if (call.routine == Routine::potrf) return factor(call, place.C);
    if (call.routine == Routine::getrf) return factor_lu(call, place);
    if (call.routine == Routine::laswp) return exchange(call, place);
    const BlasStatus code = run(api_.routines(call.precision), blas_, call, place);
    constexpr BlasStatus no_memory = 3;
    if (code == 0) return {};
    return {code == no_memory ? Fault::out_of_memory : Fault::kernel,
            fmt::format("{} for a kernel of {} x {} x {}", name_of_blas(code), call.m, call.n, call.k)};
}

} // namespace trencadis::devices::cuda
