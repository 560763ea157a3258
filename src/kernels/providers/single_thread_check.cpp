#include "base/error.hpp"
#include "kernels/providers/vendor_library.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <unistd.h>

namespace trencadis {
namespace {

Seconds seconds_of(clockid_t clock)
{
    timespec t{};
    return clock_gettime(clock, &t) == 0 ? Seconds(t.tv_sec) + 1e-9 * Seconds(t.tv_nsec) : 0;
}

/// CPU time of another thread of this process (the kernel's encoding of a per-thread clock).
Seconds cpu_time(int thread) { return seconds_of(clockid_t(~unsigned(thread) << 3 | 6)); }

Seconds cpu_time(std::span<const int> threads)
{
    Seconds sum = 0;
    for (int thread : threads) sum += cpu_time(thread);
    return sum;
}

/// What the given threads and the caller used while something ran for at least 1 ms.
struct Usage {
    Seconds span, helpers, own;
};
template <class F> Usage usage(std::span<const int> helpers, F&& body)
{
    const Seconds begin = seconds_of(CLOCK_MONOTONIC), before = cpu_time(helpers), own = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    Seconds span = 0;
    do {
        body();
        span = seconds_of(CLOCK_MONOTONIC) - begin;
    } while (span < 1e-3);
    return {span, cpu_time(helpers) - before, seconds_of(CLOCK_THREAD_CPUTIME_ID) - own};
}

std::vector<int> new_threads(std::span<const int> before)
{
    std::vector<int> threads = thread_ids();
    const int self = int(syscall(SYS_gettid));
    std::erase_if(threads, [&](int t) { return t == self || std::find(before.begin(), before.end(), t) != before.end(); });
    return threads;
}

/// A product of n = 384: every threaded BLAS splits it. Its result is known exactly.
class Probe {
public:
    explicit Probe(const VendorLibrary& library) : library_(library), A_(n * n, 1.0), C_(n * n) {}
    void operator()()
    {
        if (library_.wide) call<std::int64_t>();
        else call<std::int32_t>();
        if (C_.front() != double(n) || C_.back() != double(n))
            throw Error(ErrorCode::missing_backend,
                        library_.name + " kernels: " + library_.path + " computes a wrong matrix product");
    }

private:
    static constexpr int n = 384;
    template <class Int> void call()
    {
        using Gemm = void (*)(const char*, const char*, const Int*, const Int*, const Int*, const double*, const double*,
                              const Int*, const double*, const Int*, const double*, double*, const Int*);
        const Int size = n;
        const double one = 1, zero = 0;
        reinterpret_cast<Gemm>(library_.gemm[1])("N", "N", &size, &size, &size, &one, A_.data(), &size, A_.data(), &size, &zero,
                                                 C_.data(), &size);
    }
    const VendorLibrary& library_;
    std::vector<double> A_, C_;
};

} // namespace

std::vector<int> thread_ids()
{
    std::vector<int> ids;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", failure))
        ids.push_back(std::atoi(entry.path().filename().c_str()));
    if (failure || ids.empty())
        throw Error(ErrorCode::missing_backend, "kernels: /proc/self/task cannot be read, so it cannot be verified that a "
                                                "kernel library computes on one thread");
    return ids;
}

void verify_single_thread(const VendorLibrary& library, std::span<const int> threads_before)
{
    Probe probe(library);
    probe(); // starts whatever the library starts late
    // A pool that has just been started spins for some 25 ms before it sleeps, hence several looks. Threads of the program
    // itself that began meanwhile are told apart by being as busy during a pause as during the product. CPU times are
    // compared with each other, not with the clock, so that a loaded machine does not matter.
    Usage working{};
    int evidence = 0;
    for (int look = 0; look < 6; ++look) {
        const std::vector<int> helpers = new_threads(threads_before);
        if (helpers.empty()) return;
        working = usage(helpers, probe);
        const Usage pausing = usage(helpers, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
        const bool helped = working.helpers > 0.2 * working.own;
        const bool busy_anyway = pausing.helpers / pausing.span > 0.5 * working.helpers / working.span;
        if (!helped) return;
        if (!busy_anyway) ++evidence;
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
    }
    if (evidence < 3) return;
    throw Error(ErrorCode::missing_backend, library.name + " kernels: " + library.path +
                                                " was told to use one thread but computes with about " +
                                                std::to_string(1 + std::max(1, int(working.helpers / working.own + 0.5))));
}

} // namespace trencadis
