#include "threads/thread_handle.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis {

ThreadHandle ThreadHandle::mine()
{
    thread_local ThreadHandle mine;
    if (mine.id == 0) {
        mine.id = static_cast<pid_t>(syscall(SYS_gettid));
        if (pthread_getcpuclockid(pthread_self(), &mine.clock) != 0) mine.clock = CLOCK_THREAD_CPUTIME_ID;
    }
    return mine;
}

std::int64_t ThreadHandle::cpu_ns() const
{
    timespec time;
    if (id == 0 || clock_gettime(clock, &time) != 0) return -1;
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

bool ThreadHandle::move_to(int cpu) const
{
    if (id == 0 || cpu < 0 || cpu >= CPU_SETSIZE) return false;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(id, sizeof set, &set) == 0;
}

} // namespace trencadis
