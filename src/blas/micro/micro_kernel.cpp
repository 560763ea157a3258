#include "blas/micro/micro_kernel.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/lasting.hpp"

#include <string>

namespace trencadis::blas {
namespace {

const InstructionSet& choose()
{
    if (const char* const name = environment("TRENCADIS_INSTRUCTION_SET"); name && *name) return find_instruction_set(name);
    const auto entries = instruction_set_entries(); // the last one, "generic", runs everywhere
    std::size_t i = 0;
    while (i + 1 < entries.size() && !entries[i]->runs_here()) ++i;
    return *entries[i];
}

} // namespace

const InstructionSet& instruction_set()
{
    static constinit Lasting<const InstructionSet> chosen;
    return chosen.get([] { return &choose(); });
}

const InstructionSet& find_instruction_set(std::string_view name)
{
    const InstructionSet& set = find_entry("instruction set", instruction_set_entries(), name);
    if (!set.runs_here())
        throw Error(ErrorCode::bad_argument, std::string("instruction set '") + set.name + "' is not that of this processor");
    return set;
}

} // namespace trencadis::blas
