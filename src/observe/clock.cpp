#include "observe/clock.hpp"

#include "base/lasting.hpp"

#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>

#include <fstream>
#include <mutex>
#include <new>
#include <string>
#endif

namespace trencadis::detail {

std::int64_t monotonic_ns()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

#if defined(__x86_64__)

constinit TickRate tick_rate;

namespace {

/// A reading of both clocks. The counter is read first, so that times derived from it are never behind
/// times read from the kernel before.
struct Reading {
    std::uint64_t ticks;
    std::int64_t ns;
    std::uint64_t width; ///< ticks the kernel's answer took: the uncertainty
};

/// The narrowest of several: one in which nothing else ran.
Reading read_both()
{
    Reading best{0, 0, ~std::uint64_t{0}};
    for (int attempt = 0; attempt < 16; ++attempt) {
        const std::uint64_t before = __rdtsc();
        const std::int64_t ns = monotonic_ns();
        const std::uint64_t width = __rdtsc() - before;
        if (width < best.width) best = {before, ns, width};
    }
    return best;
}

/// Does the processor promise a counter of constant rate that never stops (CPUID 0x80000007, EDX bit 8)?
bool counter_is_invariant()
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8)) != 0;
}

/// The kernel strikes the counter from its list when it finds it out of step between packages. No list
/// (a container without /sys): the processor's word is enough.
bool kernel_trusts_counter()
{
    std::ifstream list("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    if (!list) return true;
    for (std::string source; list >> source;)
        if (source == "tsc") return true;
    return false;
}

/// Some hypervisors trap the instruction; then the kernel's clock is the faster one.
bool counter_is_fast()
{
    constexpr int readings = 64;
    const std::int64_t start = monotonic_ns();
    for (int i = 0; i < readings; ++i) (void)__rdtsc();
    const std::int64_t middle = monotonic_ns();
    for (int i = 0; i < readings; ++i) (void)monotonic_ns();
    const std::int64_t end = monotonic_ns();
    return middle - start <= end - middle;
}

constexpr std::int64_t calibration_ns = 10'000'000;

/// A first reading, and once `calibration_ns` have passed the rate between it and now.
class Calibration {
public:
    Calibration() : usable_(counter_is_invariant() && kernel_trusts_counter() && counter_is_fast()), first_(read_both()) {}

    std::int64_t now()
    {
        const std::int64_t now = monotonic_ns();
        if (!usable_ || now - first_.ns < calibration_ns) return now;
        const std::scoped_lock lock(mutex_);
        if (tick_rate.scale.load(std::memory_order_relaxed) == 0) publish(read_both());
        return now;
    }

private:
    void publish(const Reading& last)
    {
        // In whole numbers: a caller's thread may do this, whose floating-point exceptions are its own.
        const unsigned __int128 scaled = static_cast<unsigned __int128>(last.ns - first_.ns) << 32;
        tick_rate.base_ticks = last.ticks;
        tick_rate.base_ns = last.ns;
        tick_rate.scale.store(static_cast<std::uint64_t>(scaled / (last.ticks - first_.ticks)), std::memory_order_release);
    }

    const bool usable_;
    const Reading first_;
    ProcessLock mutex_;
};

} // namespace

std::int64_t now_before_calibration()
{
    static constinit Lasting<Calibration> calibration;
    if (calibration.is_made()) return calibration.get().now();
    // Whoever makes a session holds this for long, and may be waiting for a lock under which its threads ask for the time.
    const std::unique_lock lock(first_uses(), std::try_to_lock);
    try {
        if (lock) return calibration.get().now();
    } catch (const std::bad_alloc&) { // who asks for the time is not to fail where there is no memory
    }
    return monotonic_ns();
}

#endif

} // namespace trencadis::detail
