#include "blas/micro/micro_kernel_body.hpp"

namespace trencadis {
using namespace blas;

namespace {
bool runs_here() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
} // namespace

extern const InstructionSet instruction_set_avx2;
const InstructionSet instruction_set_avx2{
    {"avx2", "AVX2 with FMA: 16 registers of 32 bytes", "Intel 64 and IA-32 Architectures Software Developer's Manual"},
    runs_here,
    Family<float, 32, 3, 4>::entry(),
    Family<double, 32, 3, 4>::entry(),
    Family<std::complex<float>, 32, 1, 6>::entry(),
    Family<std::complex<double>, 32, 1, 6>::entry(),
};

} // namespace trencadis
