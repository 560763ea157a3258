#pragma once
#include "base/error.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace trencadis {

/// MPI may end while other threads compute: `main` returns, or the host that has begun it ends it before our sessions.
/// Then calls that are under way may end, are cancelled when that takes long, and end all processes with a line when they
/// cannot: others that are gone may never send what they wait for. Calls that come later wait for a moment, since the
/// process mostly ends meanwhile and nobody may be there to catch anything, and throw.
class EndOfMpi {
public:
    static constexpr std::chrono::seconds patience{3}, most_patience{6};

    /// `rest`: called once, when MPI is still there and no call is under way, nor will be.
    explicit EndOfMpi(std::function<void()> rest) : rest_(std::move(rest)) {}

    /// Once MPI is there. The attributes of MPI_COMM_SELF are the first that MPI_Finalize takes away.
    void watch()
    {
        const std::lock_guard lock(mutex_);
        if (watching_) return;
        int key = MPI_KEYVAL_INVALID;
        const auto end = [](MPI_Comm, int, void* self, void*) noexcept -> int {
            static_cast<EndOfMpi*>(self)->end();
            return MPI_SUCCESS;
        };
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, this);
        watching_ = getpid(); // a forked child has no part in it
    }

    /// Something that needs MPI until it ends; one may be inside another on the same thread.
    class Call {
    public:
        explicit Call(EndOfMpi& end) : end_(end) { end_.call_begins(); }
        ~Call() { end_.call_ends(); }
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

    private:
        EndOfMpi& end_;
    };
    void call_begins()
    {
        if (depth()++ > 0) return;
        std::unique_lock lock(mutex_);
        if (state_ == State::there) return (void)++under_way_;
        --depth();
        hold(lock);
        throw Error(ErrorCode::environment, "MPI was finalised in this process; engine 'starpu-mpi' needs it");
    }
    void call_ends()
    {
        if (--depth() > 0) return;
        std::unique_lock lock(mutex_);
        --under_way_;
        changed_.notify_all();
        if (state_ == State::cancelling) hold(lock);
    }
    /// Calls under way are to be cancelled.
    bool cancels()
    {
        const std::lock_guard lock(mutex_);
        return state_ == State::cancelling;
    }

private:
    enum class State { there, ending, cancelling, gone };

    static int& depth()
    {
        static thread_local int calls = 0;
        return calls;
    }
    static void hold(std::unique_lock<std::mutex>& lock)
    {
        lock.unlock();
        std::this_thread::sleep_for(patience);
        lock.lock();
    }
    void end()
    {
        if (watching_ != getpid()) return;
        std::unique_lock lock(mutex_);
        state_ = State::ending;
        const auto none = [this] { return under_way_ == 0; };
        if (!changed_.wait_for(lock, patience, none)) {
            state_ = State::cancelling;
            if (!changed_.wait_for(lock, most_patience, none)) give_up();
        }
        state_ = State::gone;
        lock.unlock();
        rest_();
    }
    [[noreturn]] static void give_up()
    {
        std::fputs("trencadis: MPI is finalised while another thread is in a call of several processes, which does not end; "
                   "all of them end\n",
                   stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
        std::_Exit(2);
    }

    const std::function<void()> rest_;
    std::mutex mutex_;
    std::condition_variable changed_;
    State state_ = State::there;
    int under_way_ = 0;
    pid_t watching_ = 0;
};

} // namespace trencadis
