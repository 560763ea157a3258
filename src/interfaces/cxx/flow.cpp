#include "trencadis/flow.hpp"

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "graph/flow.hpp"
#include "graph/task.hpp"
#include "graph/task_context.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace trencadis::face {
namespace {

trencadis::Access inner(const Access& access) { return {Datum(access.data, Bytes(access.bytes)), access.mode, access.reduction}; }

/// What graph/ understands; without an allocation for as many as most tasks have.
class InnerAccesses {
public:
    explicit InnerAccesses(std::span<const Access> accesses)
    {
        if (accesses.size() > few) many_.resize(accesses.size());
        list_ = {accesses.size() > few ? many_.data() : few_, accesses.size()};
        std::transform(accesses.begin(), accesses.end(), list_.begin(), inner);
    }
    std::span<const trencadis::Access> list() const { return list_; }

private:
    static constexpr std::size_t few = 6;
    trencadis::Access few_[few];
    std::vector<trencadis::Access> many_;
    std::span<trencadis::Access> list_;
};

} // namespace

/// A flow of one's own, or that of a context.
struct DataFlow::Inside {
    std::unique_ptr<Flow> own;
    Flow& flow;
    const int made_after = forks_so_far();

    ~Inside()
    {
        if (forks_so_far() != made_after) keep_for_good(own.release()); // its tasks are not in this process
    }
    Flow& here() const
    {
        if (forks_so_far() != made_after)
            throw Error(ErrorCode::environment,
                        "this flow was made before a fork, and its tasks are not in this process; make a new one");
        return flow;
    }
};

/// The callable inside the task.
struct DataFlow::Body {
    const Kind* kind;
    alignas(inline_alignment) std::byte place[inline_bytes];

    Body(void* body, const Kind& how) : kind(&how) { how.move(place, body); }
    Body(Body&& other) noexcept : kind(std::exchange(other.kind, nullptr)) { kind->move(place, other.place); }
    ~Body()
    {
        if (kind) kind->destroy(place);
    }
    void operator()(TaskContext& context)
    {
        Running running(context);
        kind->run(place, running);
    }
};

DataFlow::DataFlow(Session& session, std::int64_t window)
{
    if (window < 0)
        throw Error(ErrorCode::bad_argument, 2,
                    "window is " + std::to_string(window) + ", must be at least 1, or 0 for the session's");
    auto own = session.open_flow(window);
    Flow& flow = *own;
    inside_.reset(new Inside{std::move(own), flow});
}

DataFlow::DataFlow(TaskContext& context) : inside_(new Inside{nullptr, context.flow()}) {}
DataFlow::~DataFlow() = default;

void DataFlow::submit(const char* name, void* body, const Kind& kind, std::span<const Access> accesses, double priority)
{
    static_assert(sizeof(Body) <= Task::inline_bytes);
    Body moved(body, kind); // first, so that it is destroyed whatever happens
    inside_->here().submit(name, std::move(moved), InnerAccesses(accesses).list(), {.priority = priority});
}

void DataFlow::wait() { inside_->here().wait(); }
void DataFlow::cancel() { inside_->here().cancel(); }
bool DataFlow::cancelled() const { return inside_->flow.cancelled(); }

Running::Running(TaskContext& context) : context_(context) {}
Running::~Running() = default;
int Running::worker() const { return context_.worker(); }
void* Running::part(int access) { return context_.part(access); }

DataFlow& Running::flow()
{
    if (!inside_) inside_.reset(new DataFlow(context_));
    return *inside_;
}

} // namespace trencadis::face
