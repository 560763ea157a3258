#pragma once
#include "base/scalar.hpp"

namespace trencadis {

/// BLAS's and LAPACK's flags; the values are the letters those libraries take.
enum class Op : char { none = 'N', trans = 'T', conj_trans = 'C' };
enum class Uplo : char { lower = 'L', upper = 'U' };
enum class Side : char { left = 'L', right = 'R' };
enum class Diag : char { non_unit = 'N', unit = 'U' };
/// max |a_ij|, the largest column sum of |a_ij|, the largest row sum, the root of the sum of squares; 'O' and 'E' are other
/// letters for '1' and 'F'.
enum class Norm : char { max = 'M', one = '1', inf = 'I', frobenius = 'F' };
/// In which order elementary reflectors are multiplied, and how their vectors lie: LAPACK's direct and storev.
enum class Direction : char { forward = 'F', backward = 'B' };
enum class Storage : char { columns = 'C', rows = 'R' };
/// A system's factors are to be computed, or computed of the matrix scaled where that helps, or are given.
enum class Fact : char { compute = 'N', scale = 'E', given = 'F' };

constexpr Uplo opposite(Uplo uplo) { return uplo == Uplo::lower ? Uplo::upper : Uplo::lower; }
constexpr Side opposite(Side side) { return side == Side::left ? Side::right : Side::left; }

/// The operation that turns a stored matrix into its Hermitian transpose: for real scalars that is the transpose.
template <Scalar T> inline constexpr Op herm_op = is_complex<T> ? Op::conj_trans : Op::trans;

} // namespace trencadis
