#pragma once
#include <atomic>

namespace trencadis::ult {

/// Dekker's pattern (each side writes, fences, reads what the other wrote) where one side is frequent and the other rare: the
/// frequent one pays a compiler barrier, the rare one asks the kernel to put a full fence into every running thread of the
/// process (membarrier, Linux 4.14). Where the kernel cannot, both pay a full fence.
void prepare_fences();
void heavy_fence();
extern bool asymmetric_fences; ///< set once by prepare_fences, before the first worker starts

inline void full_fence()
{
#if defined(__SANITIZE_THREAD__)
    std::atomic<int> word{0}; // the sanitizer does not model fences; a locked instruction is one on the machine
    word.fetch_add(0, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline void light_fence()
{
    if (asymmetric_fences) std::atomic_signal_fence(std::memory_order_seq_cst);
    else full_fence();
}

} // namespace trencadis::ult
