#pragma once

/// How BLAS and LAPACK tell of bad arguments: they call a routine that the program may replace.
namespace trencadis::face {

/// Calls the program's xerbla_ with `routine` ("dgemm") in capitals padded to six, and the argument's number. Where the process has
/// none, one line on standard error in its place. Returns: what then becomes of the call is xerbla's decision, which may also
/// be to throw or to end the thread.
void bad_fortran_argument(const char* routine, int number);

/// Calls the program's cblas_xerbla with `routine` ("cblas_dgemm") and the argument's number as the reference's C functions do: that
/// of the column-major call, with RowMajorStrg, where there is one, saying whether it was turned round. `form` takes `value`.
void bad_cblas_argument(const char* routine, bool row_major, int number, const char* form = "", int value = 0);

} // namespace trencadis::face
