#include "session/kept_speeds.hpp"

#include <cerrno>
#include <exception>

namespace trencadis {
namespace {
constexpr std::int64_t interval_ns = 10'000'000'000;
}

KeptSpeeds::KeptSpeeds(const std::string& host, const std::string& kernels) : file_(kernel_speeds_path(host, kernels)) {}

void KeptSpeeds::note_run(const Engine& engine, std::int64_t now_ns) noexcept
{
    std::int64_t next = next_ns_.load(std::memory_order_relaxed);
    if (now_ns < next || !file_) return;
    // another caller does it
    if (!next_ns_.compare_exchange_strong(next, now_ns + interval_ns, std::memory_order_relaxed)) return;
    if (next > 0) write(engine);
}

void KeptSpeeds::end(const Engine& engine) noexcept
{
    if (file_ && next_ns_.load(std::memory_order_relaxed) > 0) write(engine);
}

/// What others have written meanwhile about other kernels stays.
void KeptSpeeds::write(const Engine& engine) const noexcept
{
    const int kept_errno = errno;
    try {
        KernelSpeeds all = KernelSpeeds::read(*file_);
        if (const KernelSpeeds seen = engine.speeds(); !seen.empty()) {
            all.merge(seen);
            all.write(*file_);
        }
    } catch (const std::exception&) { // no memory, say: they are found out anew next time
    }
    errno = kept_errno;
}

} // namespace trencadis
