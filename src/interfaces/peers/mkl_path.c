/* libtrencadis-mkl-path.so: loaded before MKL in the process of the peer `mkl-intel` of `trencadis compare`, and nowhere else.
   MKL looks for its maker's processors and takes older kernels on all others. It lets its users name a branch of its kernels
   (MKL_CBWR), which it ignores there; but what asks for that name can be answered from outside, and it is this answer that
   decides which kernels are loaded. Nothing else about the branch, such as its rules for equal bits, is asked here. */

enum { off = 0, avx2 = 10, avx512 = 12, avx512_with_vnni = 14 }; /* MKL_CBWR_* of mkl_types.h */

__attribute__((visibility("default"))) int mkl_serv_cbwr_get_nolock(int what)
{
    (void)what;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return __builtin_cpu_supports("avx512vnni") ? avx512_with_vnni : avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2 : off;
}

/* Asked by versions up to 2020. */
__attribute__((visibility("default"))) int mkl_serv_intel_cpu_true(void) { return 1; }
