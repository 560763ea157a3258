#pragma once
#include "base/types.hpp"

namespace trencadis {

/// Runs `rounds` rounds of independent double precision multiply-adds with the widest vectors this processor has, and
/// returns the flops done. Touches no memory: what it measures is the core's arithmetic, the ceiling of any kernel.
Flops fma_burst(long rounds);
/// Flops per second of the calling thread's core: the best of some short bursts, 0.1 ms in all, made once in a process. A guess
/// for where no speed is kept (measure_speed); a core that was asleep is not at its clock yet. Thread-safe.
double fma_peak();
/// The instruction set fma_burst uses here: "avx512", "avx2" or "generic".
const char* fma_instruction_set();

} // namespace trencadis
