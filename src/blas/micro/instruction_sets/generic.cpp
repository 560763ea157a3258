#include "blas/micro/micro_kernel_body.hpp"

namespace trencadis {
using namespace blas;

extern const InstructionSet instruction_set_generic;
const InstructionSet instruction_set_generic{
    {"generic", "what the compiler makes of 16-byte vectors; runs on every processor of the architecture", ""},
    [] { return true; },
    Family<float, 16, 2, 4>::entry(),
    Family<double, 16, 2, 4>::entry(),
    Family<std::complex<float>, 16, 1, 4>::entry(),
    Family<std::complex<double>, 16, 1, 4>::entry(),
};

} // namespace trencadis
