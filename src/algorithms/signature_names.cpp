#include "algorithms/signature_names.hpp"

#include "algorithms/signatures.hpp"

namespace trencadis {
namespace {

#define TRC_DEFINE(routine, ...) constexpr std::string_view routine##_names[] = {TRC_ARGUMENTS_##routine(TRC_NAME)};
TRC_BLAS_ROUTINES(TRC_DEFINE)
TRC_LAPACK_ROUTINES(TRC_DEFINE)
TRC_NORM_ROUTINES(TRC_DEFINE)
TRC_REFLECTOR_ROUTINES(TRC_DEFINE)
#undef TRC_DEFINE

#define TRC_ROW(routine, precisions) {#routine, routine##_names, Precisions::precisions},
#define TRC_UNITARY_ROW(name, routine, precisions) {#name, routine##_names, Precisions::precisions},
constexpr SignatureNames table[] = {
    TRC_REAL_BLAS_ROUTINES(TRC_ROW, all) TRC_HERMITIAN_BLAS_ROUTINES(TRC_ROW, complex) TRC_PLAIN_ROUTINES(TRC_ROW, all)
        TRC_SCRATCH_ROUTINES(TRC_ROW, all) TRC_WORKSPACE_ROUTINES(TRC_ROW, all) TRC_PIVOTED_ROUTINES(TRC_ROW, all)
            TRC_ORTHOGONAL_ROUTINES(TRC_ROW, real) TRC_UNITARY_NAMES(TRC_UNITARY_ROW, complex)
                TRC_REFLECTOR_ROUTINES(TRC_ROW, all) TRC_ESTIMATE_ROUTINES(TRC_ROW, all) TRC_REAL_NORM_ROUTINES(TRC_ROW, all)
                    TRC_HERMITIAN_NORM_ROUTINES(TRC_ROW, complex)};
#undef TRC_ROW
#undef TRC_UNITARY_ROW

} // namespace

std::span<const SignatureNames> signature_names() { return table; }

} // namespace trencadis
