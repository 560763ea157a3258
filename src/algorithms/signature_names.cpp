#include "algorithms/signature_names.hpp"

#include "algorithms/signatures.hpp"

namespace trencadis {
namespace {

#define TRC_DEFINE(routine, ...) constexpr std::string_view routine##_names[] = {TRC_ARGUMENTS_##routine(TRC_NAME)};
TRC_BLAS_ROUTINES(TRC_DEFINE)
TRC_LAPACK_ROUTINES(TRC_DEFINE)
TRC_NORM_ROUTINES(TRC_DEFINE)
#undef TRC_DEFINE

#define TRC_ROW(routine, complex_only) {#routine, routine##_names, complex_only},
constexpr SignatureNames table[] = {TRC_REAL_BLAS_ROUTINES(TRC_ROW, false) TRC_HERMITIAN_BLAS_ROUTINES(TRC_ROW, true)
                                        TRC_LAPACK_ROUTINES(TRC_ROW, false) TRC_REAL_NORM_ROUTINES(TRC_ROW, false)
                                            TRC_HERMITIAN_NORM_ROUTINES(TRC_ROW, true)};
#undef TRC_ROW

} // namespace

std::span<const SignatureNames> signature_names() { return table; }

} // namespace trencadis
