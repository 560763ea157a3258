#include "graph/task_flow.hpp"
#include "interfaces/c/edge.hpp"

// Who runs inside what, and until when.

namespace trencadis::c {
namespace {

thread_local constinit RunningTask* running_task = nullptr;

/// Not inlined: where units move between threads, the address is looked up again after each wait.
[[gnu::noinline]] RunningTask*& running() { return running_task; }

} // namespace

RunningTask::RunningTask(TaskContext& context) : context_(context) { running() = this; }
RunningTask::~RunningTask() { running() = nullptr; }

bool RunningTask::is_inside(const Flow& flow)
{
    const RunningTask* const task = running();
    for (const Flow* own = task ? task->context_.own_flow() : nullptr; own; own = own->parent())
        if (own == &flow) return true;
    return false;
}

RunningTask::Kept::Kept() : mine_(running()) {}
RunningTask::Kept::~Kept() { running() = mine_; }

namespace {

Session& begin(trc_session* session)
{
    if (!session) return Session::standard();
    session->begin_call();
    return session->session;
}

} // namespace

SessionInCall::SessionInCall(trc_session* session) : counted_(session), session_(begin(session)) {}
SessionInCall::~SessionInCall()
{
    if (counted_) counted_->end_call();
}

} // namespace trencadis::c

using namespace trencadis;

void trc_session::begin_call()
{
    int now = calls_.load(std::memory_order_relaxed);
    do
        if (now & closed) throw Error(ErrorCode::bad_argument, "the session is being destroyed; no call can begin any more");
    while (!calls_.compare_exchange_weak(now, now + one_call, std::memory_order_acquire, std::memory_order_relaxed));
}

/// The last one wakes who closes the session, which is there until then.
void trc_session::end_call()
{
    if (calls_.fetch_sub(one_call, std::memory_order_acq_rel) == one_call + closed) closing_->wake();
}

void trc_session::close()
{
    refuse_if_flows_live();
    if (forks_so_far() != made_after) return; // calls of that time are running in another process
    Sleeper me;
    if (calls_.load(std::memory_order_relaxed) & closed)
        throw Error(ErrorCode::bad_argument, 1, "session is being destroyed already");
    closing_ = &me;
    if (calls_.fetch_or(closed, std::memory_order_acq_rel) != 0) me.sleep();
    try {
        refuse_if_flows_live(); // one of the calls may have made one
    } catch (...) {
        calls_.fetch_and(~closed, std::memory_order_release);
        throw;
    }
}

void trc_session::refuse_if_flows_live()
{
    if (const int alive = flows.load(std::memory_order_acquire))
        throw Error(ErrorCode::bad_argument, 1,
                    "session has " + std::to_string(alive) + (alive == 1 ? " flow" : " flows") +
                        " not destroyed yet; from inside its tasks it cannot be destroyed");
}
