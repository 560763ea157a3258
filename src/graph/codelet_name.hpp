#pragma once
#include "graph/codelet.hpp"

#include <string>

namespace trencadis {

/// What tells the codelet from all others of its precision: "gemm" and "gemm.packed" are both shown as gemm.
inline std::string unique_name(const Codelet& codelet)
{
    return *codelet.variant ? std::string(codelet.name) + '.' + codelet.variant : codelet.name;
}

} // namespace trencadis
