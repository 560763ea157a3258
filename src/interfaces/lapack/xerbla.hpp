#pragma once
#include "base/types.hpp"

/// How BLAS and LAPACK tell of bad arguments: they call a routine that the program may replace.
namespace trencadis::face {

/// Calls the program's xerbla_ with `routine` ("dgemm") in capitals padded to six letters, and the argument's number. Where the
/// process has none, one line on standard error in its place. Returns: what then becomes of the call is xerbla's decision, which
/// may also be to throw or to end the thread.
void bad_fortran_argument(const char* routine, int number);

/// Calls the program's cblas_xerbla with `routine` ("cblas_dgemm") and the argument's number as the reference's C functions do:
/// that of the column-major call, with RowMajorStrg, where there is one, saying whether it was turned round. `form` takes
/// `value`.
void bad_cblas_argument(const char* routine, bool row_major, int number, const char* form = "", int value = 0);

/// LAPACKE's report, by the host's LAPACKE_xerbla where there is one; returns `info`, which is -1011 where there is no memory to
/// transpose.
Index bad_lapacke_argument(const char* routine, Index info);

} // namespace trencadis::face
