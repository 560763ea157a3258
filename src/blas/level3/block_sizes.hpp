#pragma once
#include "blas/micro/micro_kernel.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace trencadis {
struct Machine;
}

namespace trencadis::blas {

/// Caches as one core sees them, in bytes; a shared one counts with the core's part.
struct CacheSizes {
    Index l1 = 32 << 10, l2 = 512 << 10;
    Index l3 = 0; ///< 0: none, B comes from memory
};

/// How the loops around a micro-kernel are cut (Goto, van de Geijn 2008; derivation: Low, Igual, Smith, Quintana-Orti 2016):
/// a panel kc x nr of B stays in L1, a block mc x kc of A in L2, a block kc x nc of B in L3. mc is a multiple of mr, nc of nr.
/// They differ between the kinds of core of one chip; mr, nr and kc do not, so that packed operands can be shared.
struct BlockSizes {
    Index kc, mc, nc;
    friend bool operator==(const BlockSizes&, const BlockSizes&) = default;
};

/// The sizes for a micro-kernel on a core with these caches; elements are `element_bytes` long.
///     kc: half of L1 holds the panel of B, the other half what streams past it, panels of A and tiles of C;
///         a multiple of 8 within 64 .. 512 (beyond, the time for C is below one percent)
///     mc: half of L2 holds the block of A, the other half panels of B, tiles of C and what other tasks left there
///     nc: half of L3 holds the block of B; at most 4096
BlockSizes derive_block_sizes(Index mr, Index nr, Index element_bytes, const CacheSizes& caches);

/// "kc,mc,nc" as three positive numbers, mc and nc rounded to whole panels. Error{bad_argument} with the text and what would be
/// right.
BlockSizes parse_block_sizes(std::string_view text, Index mr, Index nr);

/// The sizes of one kind of core, as a table shows them.
struct KindBlocks {
    std::string kind;
    int cores;
    CacheSizes caches; ///< of the first core of the kind
    BlockSizes sizes;
};
/// One row per kind of core of a machine; kc is that of the kind with the smallest L1, or, where sums are to be the same on every
/// machine (base/same_sums.hpp), of an L1 of 32 KiB.
std::vector<KindBlocks> block_table(const Machine& machine, Index mr, Index nr, Index element_bytes, bool same_sums = false);

/// The sizes for the core kind that the operating system's core number `cpu` belongs to; -1 or unknown: the first kind. Read from
/// the machine at the first call. TRENCADIS_BLOCKS="kc,mc,nc" overrides all (tests force tiny blocks with it), but kc where sums
/// are to be the same on every machine; if it cannot be read, every call throws Error{bad_argument}. They are to be so where the
/// calling thread has a SameSums, and with TRENCADIS_REPRODUCIBLE=1 everywhere.
template <Scalar T> const BlockSizes& block_sizes(int cpu = -1);

} // namespace trencadis::blas
