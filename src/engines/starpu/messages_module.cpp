#include "base/error.hpp"
#include "base/float_modes.hpp"
#include "base/without_signals.hpp"
#include "engines/starpu/communicators.hpp"
#include "engines/starpu/end_of_mpi.hpp"
#include "engines/starpu/messages.hpp"
#include "engines/starpu/polite_polling.hpp"
#include "engines/starpu/priority_rank.hpp"
#include "engines/starpu/private_environment.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <starpu_mpi.h>

namespace trencadis {
namespace {

pid_t initialised_in = 0; ///< by us; a forked child has no part in it

void finalize()
{
    int done = 0;
    if (initialised_in == getpid() && MPI_Finalized(&done) == MPI_SUCCESS && !done) MPI_Finalize();
}

/// Initialises MPI where nobody has.
void require_mpi()
{
    int there = 0, gone = 0;
    MPI_Initialized(&there);
    MPI_Finalized(&gone);
    if (gone) throw Error(ErrorCode::environment, "MPI was finalised in this process; engine 'starpu-mpi' needs it");
    if (!there) {
        const bool alone = !std::getenv("OMPI_COMM_WORLD_SIZE") && !std::getenv("PMIX_RANK");
        const StandardFloatModes modes; // threads inherit them
        const WithoutSignals signals;
        // One process by itself needs no daemon of Open MPI's.
        const PrivateEnvironment environment({alone ? "OMPI_MCA_ess_singleton_isolated=1" : "OMPI_MCA_mpi_yield_when_idle=1"});
        int given = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
        initialised_in = getpid();
        std::atexit(finalize);
    }
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        throw Error(ErrorCode::environment,
                    std::string("MPI was initialised with MPI_THREAD_") + (level == MPI_THREAD_SINGLE ? "SINGLE" : "FUNNELED") +
                        ", and engine 'starpu-mpi' calls it from threads of its own; initialise it by MPI_Init_thread with "
                        "MPI_THREAD_MULTIPLE, or at least MPI_THREAD_SERIALIZED");
}

bool is_there_for_this_thread()
{
    int there = 0, gone = 0, level = MPI_THREAD_SINGLE, first = 0;
    MPI_Initialized(&there);
    MPI_Finalized(&gone);
    if (!there || gone) return false;
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&first);
    return level >= MPI_THREAD_SERIALIZED || first;
}

EndOfMpi& end_of_mpi();

using Text = std::array<char, 1024>;
Text text_of(std::string_view words)
{
    Text text{};
    std::copy_n(words.begin(), std::min(words.size(), text.size() - 1), text.begin());
    return text;
}

/// A failure as one process tells all of it.
struct Told {
    int code = int(ErrorCode::environment), argument = 0;
    Text text{};

    explicit Told(const std::exception* failure)
    {
        if (const auto* const error = dynamic_cast<const Error*>(failure)) {
            code = int(error->code());
            argument = error->argument();
        }
        if (failure) text = text_of(failure->what());
    }
    [[noreturn]] void raise(int process, int processes) const
    {
        const std::string whose = processes > 1 ? "process " + std::to_string(process) + ": " : "";
        throw Error(ErrorCode(code), argument, whose + text.data());
    }
};

/// Before anything is made together: throws what the first process has to say that can make nothing. That one returns.
void meet(MPI_Comm whole, const std::exception* failure)
{
    int rank = 0, size = 1;
    MPI_Comm_rank(whole, &rank);
    MPI_Comm_size(whole, &size);
    int first = failure ? rank : size;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, whole);
    if (first == size) return;
    Told told(failure);
    MPI_Bcast(&told, sizeof told, MPI_BYTE, first, whole);
    if (!failure) told.raise(first, size);
}

class Group final : public StarpuGroup {
public:
    explicit Group(MPI_Comm whole)
    {
        const EndOfMpi::Call call(end_of_mpi());
        MPI_Comm_dup(whole, &comm_);
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
        meet_neighbours();
    }
    /// StarPU-MPI listens on communicators that it knows as long as it runs, so who ended it frees them.
    ~Group() override;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    MPI_Comm comm() const { return comm_; }

    void barrier() override
    {
        wait([&](MPI_Request* request) { return MPI_Ibarrier(comm_, request); });
    }
    void broadcast(void* data, std::size_t bytes, int root) override
    {
        constexpr std::size_t most = std::size_t(1) << 30;
        for (char* at = static_cast<char*>(data); bytes > 0;) {
            const std::size_t now = std::min(bytes, most);
            wait([&](MPI_Request* request) { return MPI_Ibcast(at, int(now), MPI_BYTE, root, comm_, request); });
            at += now;
            bytes -= now;
        }
    }
    void smallest(std::span<std::int64_t> numbers) override { reduce(numbers, MPI_INT64_T, MPI_MIN); }
    void largest(std::span<double> numbers) override { reduce(numbers, MPI_DOUBLE, MPI_MAX); }
    void sum(std::span<double> numbers) override
    {
        std::vector<double> all(numbers.size() * std::size_t(size_));
        const int count = int(numbers.size());
        wait([&](MPI_Request* request) {
            return MPI_Iallgather(numbers.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, comm_, request);
        });
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = 0;
            for (std::size_t p = 0; p < std::size_t(size_); ++p) numbers[i] += all[p * numbers.size() + i];
        }
    }
    void agree(std::string_view what) override;
    void throw_together(const std::exception* failure) override;

    void send(StarpuRuntime::Handle handle, int to, std::int64_t tag, double priority, void (*done)(void*),
              void* argument) override
    {
        check(starpu_mpi_isend_detached_prio(handle, to, tag, priority_rank(priority), comm_, done, argument), "send");
    }
    void receive(StarpuRuntime::Handle handle, int from, std::int64_t tag, void (*done)(void*), void* argument) override
    {
        check(starpu_mpi_irecv_detached(handle, from, tag, comm_, done, argument), "receive");
    }
    void settle() override { starpu_mpi_wait_for_all(comm_); }
    void abort(const char* why) override
    {
        std::fprintf(stderr, "trencadis: process %d of %d: %s; all of them end, since the others wait for it\n", rank_, size_,
                     why);
        MPI_Abort(comm_, 2);
        std::abort();
    }

private:
    /// Processes of one machine ring each other's doorbells.
    void meet_neighbours()
    {
        const Doorbell::Address own = polite_polling::neighbourhood().own.address();
        std::vector<Doorbell::Address> all(static_cast<std::size_t>(size_));
        wait([&](MPI_Request* request) {
            return MPI_Iallgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm_, request);
        });
        polite_polling::Neighbours neighbours{comm_, {}};
        for (const Doorbell::Address& address : all) neighbours.doorbells.push_back(std::make_unique<Doorbell>(address));
        polite_polling::neighbourhood().enter(std::move(neighbours));
    }
    static void check(int failure, const char* what)
    {
        if (failure)
            throw Error(ErrorCode::environment,
                        std::string("StarPU-MPI does not ") + what + " (" + std::to_string(failure) + ")");
    }
    template <class T> void reduce(std::span<T> numbers, MPI_Datatype type, MPI_Op op)
    {
        wait([&](MPI_Request* request) {
            return MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), int(numbers.size()), type, op, comm_, request);
        });
    }
    template <class Begin> static void wait(Begin&& begin)
    {
        const EndOfMpi::Call call(end_of_mpi());
        MPI_Request request;
        begin(&request);
        polite_polling::wait(request);
    }
    /// The first process for which it is so; size(): none.
    int first_with(bool so)
    {
        std::int64_t first = so ? rank_ : size_;
        smallest({&first, 1});
        return int(first);
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
};

void Group::agree(std::string_view what)
{
    if (size_ == 1) return;
    const Text ours = text_of(what);
    Text first = ours;
    broadcast(first.data(), first.size(), 0);
    const int other = first_with(first != ours);
    if (other == size_) return;
    Text others = ours;
    broadcast(others.data(), others.size(), other);
    throw Error(ErrorCode::bad_argument, std::string("process 0 calls ") + first.data() + ", process " + std::to_string(other) +
                                             " calls " + others.data() + "; all processes must make the same call");
}

void Group::throw_together(const std::exception* failure)
{
    const int first = first_with(failure != nullptr);
    if (first == size_) return;
    Told told(failure);
    broadcast(&told, sizeof told, first);
    told.raise(first, size_);
}

class Behind final : public StarpuMessages {
public:
    std::string runtime() const override
    {
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(version, &length);
        const std::string_view all(version, std::size_t(length));
        return std::string(all.substr(0, all.find(',')));
    }
    std::unique_ptr<StarpuGroup> join(const void* communicator) override
    {
        try {
            require_mpi();
        } catch (const Error& error) {
            refuse(communicator, error);
            throw;
        }
        end_.watch();
        const MPI_Comm whole = communicator ? checked_communicator(*static_cast<const MPI_Comm*>(communicator)) : MPI_COMM_WORLD;
        const EndOfMpi::Call call(end_);
        meet(whole, nullptr);
        return std::make_unique<Group>(whole);
    }
    void refuse(const void* communicator, const std::exception& failure) override
    try {
        if (!is_there_for_this_thread()) return;
        meet(communicator ? checked_communicator(*static_cast<const MPI_Comm*>(communicator)) : MPI_COMM_WORLD, &failure);
    } catch (const Error&) { // no communicator
    }
    void start(const StarpuGroup& first) override
    {
        const EndOfMpi::Call call(end_);
        polite_polling::begin(reinterpret_cast<const void*>(&starpu_mpi_shutdown));
        const StandardFloatModes modes;
        const WithoutSignals signals;
        const PrivateEnvironment environment({"STARPU_MPI_NOBIND=1", "STARPU_SILENT=1"});
        if (const int failure = starpu_mpi_init_comm(nullptr, nullptr, 0, static_cast<const Group&>(first).comm()))
            throw Error(ErrorCode::environment, "StarPU-MPI does not start (" + std::to_string(failure) + ")");
        running_ = true;
    }
    void stop() override
    {
        const std::lock_guard lock(mutex_);
        if (!running_) return; // it ended with MPI
        polite_polling::ends = true;
        starpu_mpi_shutdown();
        polite_polling::ends = false;
        running_ = false;
        for (MPI_Comm comm : left_) MPI_Comm_free(&comm);
        left_.clear();
    }
    bool later(void (*what)()) override { return polite_polling::later(what); }
    void call_begins() override { end_.call_begins(); }
    void call_ends() override { end_.call_ends(); }
    bool cancels_calls() override { return end_.cancels(); }
    EndOfMpi& end() { return end_; }

    void leave(MPI_Comm comm)
    {
        const std::lock_guard lock(mutex_);
        polite_polling::neighbourhood().leave(comm);
        int gone = 0;
        MPI_Finalized(&gone);
        if (gone) return;
        if (running_) left_.push_back(comm);
        else MPI_Comm_free(&comm);
    }
    static Behind& only()
    {
        static auto* const messages = new Behind; // for good: its threads may outlive static objects
        return *messages;
    }

private:
    std::mutex mutex_;
    bool running_ = false;
    std::vector<MPI_Comm> left_;
    EndOfMpi end_{[this] { stop(); }};
};

EndOfMpi& end_of_mpi() { return Behind::only().end(); }

Group::~Group() { Behind::only().leave(comm_); }

} // namespace
} // namespace trencadis

extern "C" __attribute__((visibility("default"))) trencadis::StarpuMessages* trc_starpu_mpi_v4()
{
    return &trencadis::Behind::only();
}
