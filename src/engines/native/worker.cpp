#include "engines/native/worker.hpp"

#include "observe/clock.hpp"

#include <ctime>

namespace trencadis {

SlowPace::SlowPace(double fraction) : extra_(1 / fraction - 1), since_(now_ns()) {}

void SlowPace::between_chunks()
{
    const std::int64_t now = now_ns();
    const std::int64_t until = now + static_cast<std::int64_t>((now - since_) * extra_);
    // Sleep the bulk, so that the emulated core is really free for others, and spin the rest for precision.
    constexpr std::int64_t sleep_error_ns = 80'000;
    if (until - now > sleep_error_ns) {
        const std::int64_t ns = until - now - sleep_error_ns;
        timespec pause{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
        nanosleep(&pause, nullptr);
    }
    while (now_ns() < until) relax();
    since_ = now_ns();
}

} // namespace trencadis
