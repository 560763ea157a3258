#include "devices/opencl/kernels.hpp"

namespace trencadis::devices::opencl {

const char* const kernel_source = R"(
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifdef COMPLEX
typedef REAL2 T;
T mul(T a, T b) { return (T)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
T conj_if(int yes, T a) { return (T)(a.x, yes ? -a.y : a.y); }
/* Smith 1962: no overflow on the way to a quotient that has none. */
T over(T a, T b)
{
    if (fabs(b.x) >= fabs(b.y)) {
        const REAL r = b.y / b.x, d = b.x + b.y * r;
        return (T)((a.x + a.y * r) / d, (a.y - a.x * r) / d);
    }
    const REAL r = b.x / b.y, d = b.y + b.x * r;
    return (T)((a.x * r + a.y) / d, (a.y * r - a.x) / d);
}
int is_zero(T a) { return a.x == 0 && a.y == 0; }
#else
typedef REAL T;
T mul(T a, T b) { return a * b; }
T conj_if(int yes, T a) { return a; }
T over(T a, T b) { return a / b; }
int is_zero(T a) { return a == 0; }
#endif

/* x <- M^-1 alpha x for many x, one of them a work item's. M(i, j), i and j below n <= ORDER, is A[a + i * down + j * right],
   conjugated where it says so; lower triangular where `forward`, else upper. x(i) is B[b + i * step], the next x lies `lane`
   behind. Offsets and distances count elements. */
__kernel void solve(const int n, const int lanes, const T alpha, __global const T* A, const long a, const long down,
                    const long right, const int conjugate, const int unit, const int forward, __global T* B, const long b,
                    const long step, const long lane)
{
    const int mine = get_global_id(0);
    if (mine >= lanes) return;
    __global T* const from = B + b + mine * lane;
    T x[ORDER];
    for (int s = 0; s < n; ++s) {
        const int i = forward ? s : n - 1 - s;
        T sum = mul(alpha, from[i * step]);
        for (int r = 0; r < s; ++r) {
            const int j = forward ? r : n - 1 - r;
            sum -= mul(conj_if(conjugate, A[a + i * down + j * right]), x[j]);
        }
        if (!unit) sum = over(sum, conj_if(conjugate, A[a + i * down + i * right]));
        x[i] = sum;
    }
    for (int i = 0; i < n; ++i) from[i * step] = x[i];
}

/* C <- beta C, m x n from C[c] on: part 0 all of it, 1 the lower triangle, 2 the upper one; the diagonal of a Hermitian one
   becomes real. beta = 0: C is not read. */
__kernel void scale(const int m, const int n, const T beta, const int part, const int hermitian, __global T* C, const long c,
                    const long ldc)
{
    const int i = get_global_id(0), j = get_global_id(1);
    if (i >= m || j >= n || (part == 1 && i < j) || (part == 2 && i > j)) return;
    __global T* const at = C + c + i + j * ldc;
    T value = is_zero(beta) ? beta : mul(beta, *at);
#ifdef COMPLEX
    if (hermitian && i == j) value.y = 0;
#endif
    *at = value;
}
)";

} // namespace trencadis::devices::opencl
