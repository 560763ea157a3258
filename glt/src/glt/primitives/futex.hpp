#pragma once
#include <atomic>
#include <cstdint>

namespace trencadis {

/// Sleeps while `word` holds `expected`, at most `timeout_ns` (negative: no limit). May return early; callers loop.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns = -1);
void futex_wake(const std::atomic<std::uint32_t>& word, int count);

/// One step of a short spin.
inline void relax()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace trencadis
