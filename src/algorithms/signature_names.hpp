#pragma once
#include <span>
#include <string_view>

namespace trencadis {

enum class Precisions { all, real, complex };

/// What signatures.hpp says of a routine, for lists and pages.
struct SignatureNames {
    std::string_view routine;
    std::span<const std::string_view> arguments; ///< in BLAS's and LAPACK's order, without work arrays and info
    Precisions precisions = Precisions::all;
};
/// BLAS, then LAPACK, then norms.
std::span<const SignatureNames> signature_names();

} // namespace trencadis
