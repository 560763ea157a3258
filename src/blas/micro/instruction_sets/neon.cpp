#include "blas/micro/micro_kernel_body.hpp"

namespace trencadis {
using namespace blas;

// Every 64-bit Arm processor has it.
extern const InstructionSet instruction_set_neon;
const InstructionSet instruction_set_neon{
    {"neon", "Advanced SIMD of 64-bit Arm: 32 registers of 16 bytes; 8 x 6 doubles",
     "Arm Architecture Reference Manual for A-profile architecture"},
    [] { return true; },
    Family<float, 16, 4, 6>::entry(),
    Family<double, 16, 4, 6>::entry(),
    Family<std::complex<float>, 16, 2, 6>::entry(),
    Family<std::complex<double>, 16, 2, 6>::entry(),
};

} // namespace trencadis
