#include "blas/micro/micro_kernel.hpp"

// What cmake/Registry.cmake writes from the list in src/blas/CMakeLists.txt.
namespace trencadis {

extern const blas::InstructionSet instruction_set_neon;
extern const blas::InstructionSet instruction_set_neon_8x4;
extern const blas::InstructionSet instruction_set_neon_4x4;
extern const blas::InstructionSet instruction_set_generic;

std::span<const blas::InstructionSet* const> instruction_set_entries()
{
    static const blas::InstructionSet* const entries[] = {&instruction_set_neon, &instruction_set_neon_8x4,
                                                          &instruction_set_neon_4x4, &instruction_set_generic};
    return entries;
}

} // namespace trencadis
