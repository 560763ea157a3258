#pragma once
#include "base/error.hpp"
#include "base/lasting.hpp"
#include "base/uncancelled.hpp"
#include "graph/task_context.hpp"
#include "graph/waiting.hpp"
#include "session/session.hpp"
#include "trencadis/trencadis.h"

#include <atomic>
#include <cxxabi.h>
#include <new>
#include <string>

/// From exceptions to codes, and from letters to flags: all that the C functions add.
namespace trencadis::c {

/// A task's function returned something else than 0.
class TaskFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Keeps the message of the exception now being handled for trc_last_error_message, and returns its code.
int code_of_current_exception() noexcept;

/// The task whose function the calling thread runs, if any. Units share threads: while a task waits in a call, another one's
/// function may run on its thread, so that each call puts back what was there (RunningTask::Kept).
class RunningTask {
public:
    explicit RunningTask(TaskContext& context);
    ~RunningTask();
    RunningTask(const RunningTask&) = delete;
    RunningTask& operator=(const RunningTask&) = delete;

    /// Is the caller inside a task of this flow, or of one inside it? Then it would wait for itself.
    static bool is_inside(const Flow& flow);

    class Kept {
    public:
        Kept();
        ~Kept();

    private:
        RunningTask* const mine_;
    };

private:
    TaskContext& context_;
};

/// Runs `body`; 0, or the code of what it threw. Lets the end of a thread through, which looks like an exception.
template <class Body> int guarded(Body&& body)
{
    const Uncancelled uncancelled;
    const RunningTask::Kept kept;
    try {
        body();
        return TRC_OK;
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        return code_of_current_exception();
    }
}

/// Throws Error{bad_argument, argument} when `pointer` is null.
void require(const void* pointer, int argument, const char* name);

/// A session for the length of a call, the standard one for null: it is not destroyed meanwhile. Throws Error{bad_argument}
/// when its destruction has begun.
class SessionInCall {
public:
    explicit SessionInCall(trc_session* session);
    ~SessionInCall();
    SessionInCall(const SessionInCall&) = delete;
    SessionInCall& operator=(const SessionInCall&) = delete;
    operator Session&() const { return session_; }
    operator Crew&() const { return session_; } ///< for routines: two conversions are one too many
    Session* operator->() const { return &session_; }

private:
    trc_session* const counted_;
    Session& session_;
};
inline SessionInCall session_of(trc_session* session) { return SessionInCall(session); }

} // namespace trencadis::c

struct trc_session {
    trencadis::Session session;
    std::atomic<int> flows{0}; ///< that have not been destroyed

    explicit trc_session(const trencadis::SessionOptions& options) : session(options) {}
    void begin_call();
    void end_call();
    /// Returns when no call is running and none can begin. Throws Error{bad_argument, 1} when a flow lives: nothing is changed
    /// then.
    void close();

private:
    void refuse_if_flows_live();
    static constexpr int closed = 1, one_call = 2;
    std::atomic<int> calls_{0};             ///< running ones times one_call, + closed
    trencadis::Sleeper* closing_ = nullptr; ///< who waits for the last call; written before `closed`
    const int made_after = trencadis::forks_so_far();
};
