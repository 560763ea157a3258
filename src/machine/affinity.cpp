#include "machine/affinity.hpp"

#include <cerrno>
#include <sched.h>
#include <unistd.h>

namespace trencadis {
namespace {

/// Of a thread, 0: the calling one. The system refuses a set that is smaller than its own, whose size it does not tell.
std::vector<int> affinity_of(pid_t thread)
{
    std::vector<int> cpus;
    for (int most = 1024; cpus.empty() && most <= 1 << 20; most *= 4) {
        cpu_set_t* const set = CPU_ALLOC(most);
        if (!set) break;
        const std::size_t bytes = CPU_ALLOC_SIZE(most);
        const bool read = sched_getaffinity(thread, bytes, set) == 0;
        for (int cpu = 0; read && cpu < most; ++cpu)
            if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
        CPU_FREE(set);
        if (!read && errno != EINVAL) break;
    }
    return cpus;
}

} // namespace

std::vector<int> usable_processors()
{
    std::vector<int> own = affinity_of(0), of_first_thread = affinity_of(getpid());
    return of_first_thread.size() > own.size() ? of_first_thread : own;
}

} // namespace trencadis
