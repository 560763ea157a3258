#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

/// StarPU-MPI's thread looks for messages without a pause as long as any is due, and holds the lock that others need to submit
/// theirs all but a moment of that time. On a machine whose cores are all at work it takes one from them, and who wants its lock
/// waits for a time slice. There is no setting for it. So the two functions that it polls with are replaced, in StarPU-MPI's own
/// table of functions and nowhere else: after a test that found nothing it sleeps for a moment, the longer the longer nothing has
/// come, where it is about to take another lock and holds none.
namespace trencadis::polite_polling {

using Clock = std::chrono::steady_clock;
struct Looking {
    bool in_vain = false;
    Clock::time_point found = Clock::now();
};
inline thread_local Looking looking;

inline int test(MPI_Request* request, int* flag, MPI_Status* status)
{
    const int result = PMPI_Test(request, flag, status);
    looking.in_vain = !*flag;
    if (*flag) looking.found = Clock::now();
    return result;
}

/// It sleeps for as long as it says, and when it wakes it goes before threads that compute: it has asked for the shortest time
/// slice (Linux 6.12 and later; before, it waits for theirs to end).
inline bool be_quick()
{
    struct {
        std::uint32_t size = 48, policy = SCHED_OTHER;
        std::uint64_t flags = 0;
        std::int32_t nice = 0;
        std::uint32_t priority = 0;
        std::uint64_t runtime_ns = 100'000, deadline_ns = 0, period_ns = 0;
    } wish;
    wish.nice = getpriority(PRIO_PROCESS, 0);
    prctl(PR_SET_TIMERSLACK, 1000);
    return syscall(SYS_sched_setattr, 0, &wish, 0) == 0;
}

inline int lock(pthread_mutex_t* mutex)
{
    using namespace std::chrono_literals;
    if (looking.in_vain) {
        static thread_local const bool quick = be_quick();
        (void)quick;
        looking.in_vain = false;
        std::this_thread::sleep_for(std::clamp<Clock::duration>((Clock::now() - looking.found) / 4, 10us, 50us));
    }
    return pthread_mutex_lock(mutex);
}

/// StarPU-MPI's end waits, on its thread, for all processes of the world, of which some may have no part in it; and all messages
/// of ours have arrived by then.
inline std::atomic<bool> ends{false};
inline int barrier(MPI_Comm comm) { return ends && comm == MPI_COMM_WORLD ? MPI_SUCCESS : PMPI_Barrier(comm); }

/// In the table of a library that is loaded: what it calls by that name from now on.
inline void redirect(const link_map& library, const char* name, void* to)
{
    const ElfW(Rela)* calls = nullptr;
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    std::size_t bytes = 0;
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
        if (entry->d_tag == DT_PLTRELSZ) bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    }
    if (!calls || !symbols || !names) return; // then it polls as it always does
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < bytes / sizeof *calls; ++i) {
        if (std::strcmp(names + symbols[ELF64_R_SYM(calls[i].r_info)].st_name, name) != 0) continue;
        const std::uintptr_t slot = library.l_addr + calls[i].r_offset, begin = slot / page * page;
        if (mprotect(reinterpret_cast<void*>(begin), slot + sizeof(void*) - begin, PROT_READ | PROT_WRITE) != 0) return;
        *reinterpret_cast<void**>(slot) = to;
    }
}

/// `inside`: any function of the library that is to poll so.
inline void begin(const void* inside)
{
    Dl_info info;
    link_map* library = nullptr;
    if (!dladdr1(inside, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) || !library) return;
    redirect(*library, "MPI_Test", reinterpret_cast<void*>(&test));
    redirect(*library, "pthread_mutex_lock", reinterpret_cast<void*>(&lock));
    redirect(*library, "MPI_Barrier", reinterpret_cast<void*>(&barrier));
}

} // namespace trencadis::polite_polling
