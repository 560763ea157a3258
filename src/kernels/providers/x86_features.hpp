#pragma once

namespace trencadis {

/// Does this processor run the AVX-512 kernels of the vendor libraries (F, DQ, CD, BW, VL)? False on other architectures.
inline bool has_avx512()
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

} // namespace trencadis
