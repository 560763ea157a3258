#include "blas/micro/micro_kernel_body.hpp"

namespace trencadis {
using namespace blas;

// Not chosen by itself: neon, which stands before it in the build list, runs wherever this does.
extern const InstructionSet instruction_set_neon_8x4;
const InstructionSet instruction_set_neon_8x4{
    {"neon-8x4", "Advanced SIMD with tiles of 8 x 4 doubles", "Arm Architecture Reference Manual for A-profile architecture"},
    [] { return true; },
    Family<float, 16, 2, 8>::entry(),
    Family<double, 16, 4, 4>::entry(),
    Family<std::complex<float>, 16, 2, 4>::entry(),
    Family<std::complex<double>, 16, 2, 4>::entry(),
};

} // namespace trencadis
