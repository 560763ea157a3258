#pragma once
#include "engines/starpu/doorbell.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <shared_mutex>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

/// StarPU-MPI's thread looks for messages without a pause as long as any is due, and holds the lock that others need to submit
/// theirs all but a moment of that time. On a machine whose cores are all at work it takes one from them, and who wants its lock
/// waits for a time slice. There is no setting for it. So the functions that it works with are replaced, in StarPU-MPI's own
/// table of functions and nowhere else: after a round of tests that found nothing it sleeps, where it is about to take another
/// lock and holds none, until its doorbell is rung: by a thread of this process that has submitted something, or by another
/// process of this machine that has sent to it or received from it. What comes from other machines it finds by
/// looking again after a moment, the longer the longer nothing has come.
namespace trencadis::polite_polling {

using Clock = std::chrono::steady_clock;

/// The doorbells of a communicator's processes, by their ranks there.
struct Neighbours {
    MPI_Comm comm;
    std::vector<std::unique_ptr<Doorbell>> doorbells;
};
class Neighbourhood {
public:
    Doorbell own;

    void enter(Neighbours neighbours)
    {
        const std::unique_lock lock(mutex_);
        for (const auto& doorbell : neighbours.doorbells) strangers_ += !doorbell->is_near();
        all_.push_back(std::move(neighbours));
    }
    void leave(MPI_Comm comm)
    {
        const std::unique_lock lock(mutex_);
        const auto gone = std::ranges::find(all_, comm, &Neighbours::comm);
        if (gone == all_.end()) return;
        for (const auto& doorbell : gone->doorbells) strangers_ -= !doorbell->is_near();
        all_.erase(gone);
    }
    void ring(MPI_Comm comm, int rank)
    {
        const std::shared_lock lock(mutex_);
        const auto of = std::ranges::find(all_, comm, &Neighbours::comm);
        if (of != all_.end() && rank >= 0 && std::size_t(rank) < of->doorbells.size()) of->doorbells[std::size_t(rank)]->ring();
    }
    /// Every process with which this one has to do rings here, and messages come in one piece.
    bool all_ring() const { return strangers_ == 0 && !own.dumb(); }

private:
    std::shared_mutex mutex_;
    std::vector<Neighbours> all_;
    std::atomic<int> strangers_{0};
};
inline Neighbourhood& neighbourhood()
{
    static auto* const only = new Neighbourhood; // for good: the thread may outlive static objects
    return *only;
}

/// Of the thread that looks for messages.
struct Looking {
    const MPI_Request* first = nullptr; ///< that was tested in vain in this round
    bool in_vain = false;               ///< a whole round
    std::uint32_t heard = 0;            ///< rings before the round
    Clock::time_point found = Clock::now();
    bool late = false;        ///< nobody has rung before this round
    int rung = 0, missed = 0; ///< rounds that have found something
    /// Where messages come in pieces after all, those are not rung for.
    bool trusts() const { return missed <= 3 + rung / 50; }
    /// A message that is under way.
    struct Due {
        const MPI_Request* request;
        MPI_Comm comm;
        int other;
        bool receives;
        bool in_pieces; ///< both sides have to look for one after the other
    };
    std::vector<Due> due;
};
inline thread_local Looking looking;
inline thread_local bool looks = false; ///< this is that thread

/// What that thread is asked to do in the midst of something else, once that is over.
inline thread_local void (*postponed)() = nullptr;
inline bool later(void (*what)())
{
    if (looks) postponed = what;
    return looks;
}

inline int test(MPI_Request* request, int* flag, MPI_Status* status)
{
    looks = true;
    if (!looking.first) looking.heard = neighbourhood().own.rings();
    const int result = PMPI_Test(request, flag, status);
    if (!*flag) {
        looking.in_vain = looking.in_vain || looking.first == request;
        if (!looking.first) looking.first = request;
        return result;
    }
    looking.first = nullptr;
    looking.in_vain = false;
    looking.found = Clock::now();
    ++(std::exchange(looking.late, false) ? looking.missed : looking.rung);
    const auto of = std::ranges::find(looking.due, request, &Looking::Due::request);
    if (of == looking.due.end()) return result;
    if (of->receives) neighbourhood().ring(of->comm, of->other); // which may use again what it has sent
    looking.due.erase(of);
    return result;
}

/// What does not lie in one piece is copied by way of small buffers.
inline void begins(const MPI_Request* request, MPI_Datatype type, MPI_Comm comm, int other, bool receives)
{
    MPI_Aint begin = 0, extent = 0;
    int bytes = 0;
    const bool told =
        PMPI_Type_get_true_extent(type, &begin, &extent) == MPI_SUCCESS && PMPI_Type_size(type, &bytes) == MPI_SUCCESS;
    const bool in_pieces = !told || extent != bytes;
    if (receives || in_pieces) looking.due.push_back({request, comm, other, receives, in_pieces});
}

inline int send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request)
{
    const int result = PMPI_Isend(data, count, type, to, tag, comm, request);
    begins(request, type, comm, to, false);
    neighbourhood().ring(comm, to);
    return result;
}

inline int receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request)
{
    const int result = PMPI_Irecv(data, count, type, from, tag, comm, request);
    if (from >= 0) begins(request, type, comm, from, true);
    return result;
}

/// Other threads tell it so that there is something to do.
inline int broadcast(pthread_cond_t* condition)
{
    const int result = pthread_cond_broadcast(condition);
    if (!looks) neighbourhood().own.ring();
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
    if (postponed) std::exchange(postponed, nullptr)();
    if (looking.in_vain) {
        static thread_local const bool quick = be_quick();
        (void)quick;
        const auto quickly = std::clamp<Clock::duration>((Clock::now() - looking.found) / 4, 10us, 50us);
        bool rung = neighbourhood().all_ring() && looking.trusts();
        for (const Looking::Due& due : looking.due) {
            if (!due.in_pieces) continue;
            rung = false;
            neighbourhood().ring(due.comm, due.other); // for the next piece
        }
        const Clock::duration time = rung ? 1ms : quickly;
        neighbourhood().own.sleep(looking.heard, time);
        looking.late = rung && neighbourhood().own.rings() == looking.heard;
        looking.in_vain = false;
        looking.first = nullptr;
    }
    return pthread_mutex_lock(mutex);
}

/// Looks again and again, asleep in between, since others may have much to do on the same cores.
inline int wait(MPI_Request request)
{
    using namespace std::chrono_literals;
    std::chrono::nanoseconds pause = 0ns;
    for (int done = 0;; pause = std::min<std::chrono::nanoseconds>(pause + pause / 4 + 2us, 500us)) {
        if (const int failure = PMPI_Test(&request, &done, MPI_STATUS_IGNORE); done || failure != MPI_SUCCESS) return failure;
        std::this_thread::sleep_for(pause);
    }
}

/// The end of a run waits for all processes, on that thread. StarPU-MPI's own end waits for those of the world, of which some may
/// have no part in it; and all messages of ours have arrived by then.
inline std::atomic<bool> ends{false};
inline int barrier(MPI_Comm comm)
{
    if (ends && comm == MPI_COMM_WORLD) return MPI_SUCCESS;
    MPI_Request request = MPI_REQUEST_NULL;
    const int failure = PMPI_Ibarrier(comm, &request);
    return failure == MPI_SUCCESS ? wait(request) : failure;
}

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
    redirect(*library, "MPI_Isend", reinterpret_cast<void*>(&send));
    redirect(*library, "MPI_Irecv", reinterpret_cast<void*>(&receive));
    redirect(*library, "pthread_cond_broadcast", reinterpret_cast<void*>(&broadcast));
    redirect(*library, "MPI_Barrier", reinterpret_cast<void*>(&barrier));
}

} // namespace trencadis::polite_polling
