#include "blas/micro/micro_kernel_body.hpp"

namespace trencadis {
using namespace blas;

namespace {
bool runs_here()
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
}
} // namespace

extern const InstructionSet instruction_set_avx512;
const InstructionSet instruction_set_avx512{
    {"avx512", "AVX-512 F, DQ, BW, VL: 32 registers of 64 bytes", "Intel 64 and IA-32 Architectures Software Developer's Manual"},
    runs_here,
    Family<float, 64, 3, 8>::entry(),
    Family<double, 64, 3, 8>::entry(),
    Family<std::complex<float>, 64, 1, 8>::entry(),
    Family<std::complex<double>, 64, 1, 8>::entry(),
};

} // namespace trencadis
