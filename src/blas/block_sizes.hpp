#pragma once
#include "blas/micro_kernel.hpp"

namespace trencadis::blas {

/// Caches as one core sees them, in bytes; a shared one counts with the core's part.
struct CacheSizes {
    Index l1 = 32 << 10, l2 = 512 << 10, l3 = 2 << 20;
};

/// How the loops around a micro-kernel are cut (Goto, van de Geijn 2008; derivation: Low, Igual, Smith, Quintana-Orti 2016):
/// a panel kc x nr of B stays in L1, a block mc x kc of A in L2, a block kc x nc of B in L3. mc is a multiple of mr, nc of nr.
/// They differ between the kinds of core of one chip; mr and nr do not, so that packed operands can be shared.
struct BlockSizes {
    Index kc, mc, nc;
};

/// The sizes for a micro-kernel on a core with these caches.
BlockSizes derive_block_sizes(Index mr, Index nr, Index element_bytes, const CacheSizes& caches);

/// The sizes for the core kind that the operating system's core number `cpu` belongs to; -1: the first kind. Read from the
/// machine at the first call. TRENCADIS_BLOCKS="kc,mc,nc" overrides all, rounded to whole panels (tests force tiny blocks with it).
template <Scalar T> const BlockSizes& block_sizes(int cpu = -1);

} // namespace trencadis::blas
