/* Solves a small positive definite system: A x = b. */
#include <stdio.h>
#include <trencadis/trencadis.h>

int main(void)
{
    double a[9] = {4, 1, 0, 1, 3, 1, 0, 1, 2}, b[3] = {6, 10, 8}; /* column-major */
    int64_t info;
    if (trc_dposv(NULL, 'L', 3, 1, a, 3, b, 3, &info) != TRC_OK) return fprintf(stderr, "%s\n", trc_last_error_message()), 2;
    if (info > 0) return fprintf(stderr, "the leading minor of order %lld is not positive definite\n", (long long)info), 1;
    printf("x = %g %g %g\n", b[0], b[1], b[2]);
    return 0;
}
