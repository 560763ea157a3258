#pragma once
#include "base/types.hpp"
#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace trencadis {

/// How our own kernels cut a product on one kind of core: micro-tiles of mr x nr, blocks mc x kc of A and kc x nc of B.
struct NativeBlocks {
    char precision; ///< s, d, c or z
    std::string kind;
    int cores;
    Index mr, nr, kc, mc, nc;
};

/// A row per precision and kind of core of the machine, for the instruction set in use; derived from its caches
/// (blas/level3/block_sizes.hpp).
std::vector<NativeBlocks> native_blocks(const Machine& machine);

} // namespace trencadis
