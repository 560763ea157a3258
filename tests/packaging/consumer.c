/* A stranger's program, linked with -llapack -lblas: QR, least squares by it, and level 1, for which a system's BLAS has to have
 * somebody behind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void dormqr_(const char*, const char*, const int*, const int*, const int*, const double*, const int*, const double*, double*,
             const int*, double*, const int*, int*, size_t, size_t);
void dgels_(const char*, const int*, const int*, const int*, double*, const int*, double*, const int*, double*, const int*, int*,
            size_t);
double dnrm2_(const int*, const double*, const int*);
enum { m = 600, n = 200, length = 64 * m };
static double A[m * n], F[m * n], b[m], c[m], tau[n], work[length];

int main(void)
{
    const int rows = m, columns = n, one = 1, room = length;
    int info = -7;
    srand(1);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            A[i + j * m] = F[i + j * m] = (double)rand() / RAND_MAX - 0.5;
            b[i] += A[i + j * m];
        }
    for (int i = 0; i < m; ++i) c[i] = b[i];

    /* |Q'b| = |b|, and nothing of it lies below the triangle, because b = A (1, ..., 1)'. */
    dgeqrf_(&rows, &columns, F, &rows, tau, work, &room, &info);
    if (info != 0) return 1;
    dormqr_("L", "T", &rows, &one, &columns, F, &rows, tau, c, &rows, work, &room, &info, 1, 1);
    if (info != 0) return 2;
    const int rest = m - n;
    if (fabs(dnrm2_(&rows, c, &one) - dnrm2_(&rows, b, &one)) > 1e-10 || dnrm2_(&rest, c + n, &one) > 1e-10) return 3;

    dgels_("N", &rows, &columns, &one, A, &rows, b, &rows, work, &room, &info, 1);
    if (info != 0) return 4;
    for (int j = 0; j < n; ++j)
        if (fabs(b[j] - 1) > 1e-10) return 5;
    puts("right");
    return 0;
}
