#include "threads/last_thread.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis {

namespace {

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// A thread by process and number: after a fork the numbers of the parent's threads mean nothing.
using Name = std::uint64_t;
Name name_of(pid_t thread) { return Name(std::uint32_t(getpid())) << 32 | std::uint32_t(thread); }

/// The threads of ours. Without a lock, which a fork might find held: each takes a free place, and blocks of places stay for
/// good.
///
/// Invariant: a name is here only while its thread lives, and its number is nobody else's then.
struct Places {
    std::array<std::atomic<Name>, 126> names{};
    std::atomic<Places*> next{nullptr};

    bool take(Name name)
    {
        for (auto& place : names) {
            Name free = 0;
            if (place.load(std::memory_order_relaxed) == 0 && place.compare_exchange_strong(free, name)) return true;
        }
        return false;
    }
    template <class Visit> static bool any(Visit&& visit)
    {
        for (Places* block = &first; block; block = block->next.load(std::memory_order_acquire))
            for (auto& place : block->names)
                if (visit(place)) return true;
        return false;
    }
    static void add(Name name)
    {
        for (Places* block = &first; !block->take(name);) {
            Places* next = block->next.load(std::memory_order_acquire);
            if (!next) {
                Places* const made = new (std::nothrow) Places;
                if (!made) return; // a thread that is not here is taken for the program's
                if (block->next.compare_exchange_strong(next, made)) next = made;
                else delete made;
            }
            block = next;
        }
    }
    static void remove(Name name)
    {
        any([name](std::atomic<Name>& place) {
            Name mine = name;
            return place.compare_exchange_strong(mine, 0);
        });
    }
    static bool has(Name name)
    {
        return any([name](std::atomic<Name>& place) { return place.load() == name; });
    }
    static bool has_some()
    {
        const Name process = name_of(0);
        return any([process](std::atomic<Name>& place) { return (place.load() & ~Name(0xffffffff)) == process; });
    }

    static Places first;
};
constinit Places Places::first;

// Both by process, too. The end of the first thread is written before the threads of ours are looked for, and a thread of ours
// is written before that end is looked for, all in one order (seq_cst): one of the two sees the other, and starts the thread
// that waits.
std::atomic<pid_t> left{0};    ///< whose first thread has left
std::atomic<pid_t> waiting{0}; ///< in which somebody waits for the last one
sigset_t mask_of_the_first;    ///< written before `left`

/// Has the first thread ended, whose number stays until the process ends?
bool first_thread_is_gone()
{
    char path[64], text[512];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", int(getpid()));
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    text[std::max<ssize_t>(count, 0)] = 0;
    const char* const behind_name = std::strrchr(text, ')');
    return behind_name && behind_name[1] && (behind_name[2] == 'Z' || behind_name[2] == 'X');
}

/// Is every thread of the process one of ours? The system lists threads in the order in which they began. One that began
/// another one and is not seen had ended before its place was passed, so that the other one was in the list already: none is
/// overlooked.
bool only_ours_are_left()
{
    DIR* const threads = opendir("/proc/self/task");
    if (!threads) return false;
    bool only_ours = true;
    while (only_ours) {
        const dirent* const entry = readdir(threads);
        if (!entry) break;
        const int thread = std::atoi(entry->d_name); // 0 of the folder itself and its parent
        only_ours = thread == 0 || Places::has(name_of(thread)) || (thread == getpid() && first_thread_is_gone());
    }
    closedir(threads);
    return only_ours;
}

/// It takes no signal from the program's threads: there may be one that waits for it.
void* wait_for_the_last(void*)
{
    pthread_setname_np(pthread_self(), "trencadis-last");
    const OurThread mine;
    constexpr long shortest_ns = 1'000'000, longest_ns = 100'000'000;
    for (long ns = shortest_ns; !only_ours_are_left(); ns = std::min(2 * ns, longest_ns)) {
        const timespec pause{0, ns};
        nanosleep(&pause, nullptr);
    }
    pthread_sigmask(SIG_SETMASK, &mask_of_the_first, nullptr);
    std::exit(0);
}

void start_waiting()
{
    const pid_t process = getpid();
    if (waiting.exchange(process) == process) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, nullptr, wait_for_the_last, nullptr) == 0) pthread_detach(thread);
    else waiting.store(0); // the next thread of ours tries again
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void first_thread_leaves(void*)
{
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_of_the_first);
    left.store(getpid());
    if (Places::has_some()) start_waiting();
}

/// Of a thread's values the C library calls this one's destructor when the thread ends, and not when the process does.
pthread_key_t key;
bool has_key = false;

__attribute__((constructor)) void make_key()
{
    has_key = pthread_key_create(&key, first_thread_leaves) == 0;
    notice_the_end_of_the_first_thread();
}

} // namespace

void notice_the_end_of_the_first_thread()
{
    if (has_key && this_thread() == getpid()) pthread_setspecific(key, &key);
}

OurThread::OurThread()
{
    Places::add(name_of(this_thread()));
    const pid_t process = getpid();
    if (left.load() != process && first_thread_is_gone()) left.store(process); // we were not there when it left
    if (left.load() == process) start_waiting();
}

OurThread::~OurThread() { Places::remove(name_of(this_thread())); }

} // namespace trencadis
