#include "base/lasting.hpp"
#include "graph/task_flow.hpp"
#include "interfaces/c/edge.hpp"

#include <cstring>
#include <mutex>
#include <set>
#include <type_traits>
#include <vector>

using namespace trencadis;
using namespace trencadis::c;

/// A flow of one's own, or that of a context.
struct trc_flow {
    std::unique_ptr<Flow> own;
    Flow* flow = nullptr;
    trc_session* session = nullptr; ///< whose flows it is counted among; null: the standard one's, or a context's
    int made_after = forks_so_far();

    bool made_before_fork() const { return forks_so_far() != made_after; }
    void require_here() const
    {
        if (made_before_fork())
            throw Error(ErrorCode::environment,
                        "this flow was made before a fork, and its tasks are not in this process; make a new one");
    }
    void refuse_waiting_inside() const
    {
        if (RunningTask::is_inside(*flow))
            throw Error(ErrorCode::bad_argument, 1,
                        "flow is to be waited for from inside one of its own tasks, which would never end");
    }
    ~trc_flow()
    {
        if (own && made_before_fork()) keep_for_good(own.release());
        own.reset();
        if (session) session->flows.fetch_sub(1, std::memory_order_release);
    }
};

struct trc_context {
    TaskContext& context;
    trc_flow children;
};

namespace {

/// Names outlive every trace: each different one is kept once, for good.
const char* kept(const char* name)
{
    struct Names {
        ProcessLock lock;
        std::set<std::string> known;
    };
    static constinit Lasting<Names> all;
    Names& names = all.get();
    const std::lock_guard lock(names.lock);
    return names.known.insert(name ? name : "task").first->c_str();
}

/// The function and its copy of the arguments, inside the task when they are small.
class CTask {
public:
    CTask(const char* name, trc_task_function function, const void* args, std::size_t bytes) : name_(name), function_(function)
    {
        if (bytes > sizeof small_) large_ = std::make_unique<std::byte[]>(bytes);
        if (bytes > 0) std::memcpy(data(), args, bytes);
    }
    void operator()(TaskContext& context)
    {
        const RunningTask running(context);
        trc_context face{context, {}};
        if (const int result = function_(data(), &face))
            throw TaskFailed(std::string("task '") + name_ + "' returned " + std::to_string(result));
    }

private:
    void* data() { return large_ ? large_.get() : small_; }

    const char* name_;
    trc_task_function function_;
    std::unique_ptr<std::byte[]> large_;
    alignas(16) std::byte small_[80];
};
static_assert(sizeof(CTask) <= Task::inline_bytes);

Access access_of(const trc_access& access, int position)
{
    const std::string where = "accesses[" + std::to_string(position) + "]";
    std::underlying_type_t<trc_access_mode> mode; // a C caller may have put anything there
    std::memcpy(&mode, &access.mode, sizeof mode);
    if (mode > TRC_REDUCE)
        throw Error(ErrorCode::bad_argument, 6, where + ".mode is " + std::to_string(mode) + ", must be a trc_access_mode");
    require(access.data, 6, (where + ".data").c_str());
    if (mode != TRC_REDUCE) return {Datum(access.data), AccessMode(mode)};
    require(access.reduction, 6, (where + ".reduction").c_str());
    // A trc_reduction is a Reduction: the same three members.
    static_assert(sizeof(trc_reduction) == sizeof(Reduction) && offsetof(trc_reduction, combine) == offsetof(Reduction, combine));
    return {Datum(access.data), AccessMode::reduce, reinterpret_cast<const Reduction*>(access.reduction)};
}

std::vector<Access> accesses_of(const trc_access* accesses, int count)
{
    if (count < 0) throw Error(ErrorCode::bad_argument, 7, "n_accesses is " + std::to_string(count) + ", must be at least 0");
    if (count > 0) require(accesses, 6, "accesses");
    std::vector<Access> list;
    for (int i = 0; i < count; ++i) list.push_back(access_of(accesses[i], i));
    return list;
}

} // namespace

extern "C" {

int trc_flow_create(trc_flow** flow, trc_session* session, int64_t window)
{
    return guarded([&] {
        require(flow, 1, "flow");
        *flow = nullptr;
        if (window < 0)
            throw Error(ErrorCode::bad_argument, 3,
                        "window is " + std::to_string(window) + ", must be at least 1, or 0 for the session's");
        const SessionInCall workers(session);
        auto made = std::make_unique<trc_flow>();
        made->own = workers->open_flow(window);
        made->flow = made->own.get();
        if (session) session->flows.fetch_add(1, std::memory_order_relaxed);
        made->session = session;
        *flow = made.release();
    });
}

int trc_task_submit(trc_flow* flow, const char* name, trc_task_function function, const void* args, size_t args_bytes,
                    const trc_access* accesses, int n_accesses, double priority)
{
    return guarded([&] {
        require(flow, 1, "flow");
        require(reinterpret_cast<const void*>(function), 3, "function");
        if (args_bytes > 0) require(args, 4, "args");
        flow->require_here();
        const std::vector<Access> list = accesses_of(accesses, n_accesses);
        const char* const label = kept(name);
        flow->flow->submit(label, CTask(label, function, args, args_bytes), std::span<const Access>(list),
                           {.priority = priority});
    });
}

int trc_flow_wait(trc_flow* flow)
{
    return guarded([&] {
        require(flow, 1, "flow");
        flow->require_here();
        flow->refuse_waiting_inside();
        flow->flow->wait();
    });
}

int trc_flow_cancel(trc_flow* flow)
{
    return guarded([&] {
        require(flow, 1, "flow");
        flow->require_here();
        flow->flow->cancel();
    });
}

int trc_flow_destroy(trc_flow* flow)
{
    return guarded([&] {
        if (flow && !flow->own) throw Error(ErrorCode::bad_argument, 1, "flow belongs to a context, which ends it");
        if (flow) flow->refuse_waiting_inside();
        delete flow;
    });
}

trc_flow* trc_context_flow(trc_context* context)
{
    trc_flow* children = nullptr;
    guarded([&] {
        require(context, 1, "context");
        context->children.flow = &context->context.flow();
        children = &context->children;
    });
    return children;
}

void* trc_context_part(trc_context* context, int access)
{
    void* part = nullptr;
    guarded([&] {
        require(context, 1, "context");
        part = context->context.part(access);
    });
    return part;
}

int trc_context_worker(trc_context* context) { return context ? context->context.worker() : no_worker; }

} // extern "C"
