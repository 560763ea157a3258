#include "glt/native/stacks.hpp"
#include "threads/backends/exception_state.hpp"
#include "threads/backends/plain_thread.hpp"
#include "threads/flag.hpp"
#include "threads/parker.hpp"
#include "threads/threads.hpp"

namespace trencadis {
namespace {

using boost::context::detail::transfer_t;
using ult::FiberTrace;

struct NativeUnit;

/// A stack's place to go on while another runs on the thread.
struct Context {
    void* at = nullptr;
    FiberTrace* trace = nullptr;
    NativeUnit* unit = nullptr; ///< whose it is; none: the thread's own
    Context* to = nullptr;      ///< where it went when it was left

    /// Goes to `next`; returns when somebody comes back here, which after leaving for good nobody does.
    void leave(Context& next, bool for_good = false)
    {
        to = &next;
        trace->leave(*next.trace, for_good);
        arrive(boost::context::detail::jump_fcontext(next.at, this));
    }
    /// The first thing after a switch. Only now is the context that was left whole. Answers which one that is, from here.
    static Context& arrive(transfer_t transfer)
    {
        Context& from = *static_cast<Context*>(transfer.data);
        from.at = transfer.fctx;
        from.to->trace->arrive(from.trace);
        return *from.to;
    }
};

class NativeSeat;

/// A unit on a stack of its own.
struct NativeUnit final : public WorkUnit {
    NativeUnit(NativeSeat& its, std::function<WorkUnit*()> runs) : seat(its), body(std::move(runs)) {}

    NativeSeat& seat;
    const std::function<WorkUnit*()> body;
    Context context;
};

/// An operating system thread and the units that run on it, each on a stack of our lightweight threads. Passing the seat on is
/// one switch of stacks, without a queue in between: the engine says who is next. No two seats share anything, so there may be
/// any number of sessions, also after a fork.
class NativeSeat final : public Seat {
public:
    explicit NativeSeat(int cpu) : cpu_(cpu) {}
    ~NativeSeat() override
    {
        taken_.wait_until_clear();
        ends_ = true;
        order_.unpark();
        thread_.reset(); // joins
        stacks_.clear();
    }
    void start()
    {
        thread_ = std::make_unique<PlainThread>("trencadis", [this] { serve(); });
    }
    WorkUnit& make_unit(std::function<WorkUnit*()> body) override
    {
        units_.reserve(units_.size() + 1);
        auto unit = std::make_unique<NativeUnit>(*this, std::move(body));
        ult::Stack* const stack = stacks_.take(cache_, ult::stack_class_of(stack_bytes));
        if (!stack) throw Error(ErrorCode::environment, "no memory for the stack of another unit");
        // It comes with a fiber that serves the units of the library; ours takes its place.
        const std::size_t size = static_cast<std::size_t>(stack->top() - stack->bottom());
        stack->trace.end();
        stack->trace.begin(stack->bottom(), size);
        void* const begin = boost::context::detail::make_fcontext(stack->top(), size, &NativeSeat::enter);
        unit->context = {begin, &stack->trace, unit.get(), nullptr};
        return *units_.emplace_back(std::move(unit));
    }
    void give(WorkUnit& unit) override
    {
        taken_.set();
        first_ = &static_cast<NativeUnit&>(unit);
        order_.unpark();
    }
    void pass(WorkUnit& self, WorkUnit& next) override
    {
        const ExceptionState mine;
        static_cast<NativeUnit&>(self).context.leave(static_cast<NativeUnit&>(next).context);
        mine.put_back();
    }

private:
    /// Kernels of outside libraries put large arrays there. Only pages that are used are backed.
    static constexpr std::size_t stack_bytes = std::size_t{4} << 20;

    /// The thread's life.
    void serve()
    {
        pin_to(cpu_);
        FiberTrace own;
        own.adopt();
        base_.trace = &own;
        for (order_.park(); !ends_; order_.park()) {
            base_.leave(first_->context);
            taken_.clear();
        }
    }
    /// The unit's life, from when it has the seat for the first time.
    static void enter(transfer_t transfer) noexcept
    {
        NativeUnit& unit = *Context::arrive(transfer).unit;
        ExceptionState::clear();
        WorkUnit* const next = unit.body();
        unit.context.leave(next ? static_cast<NativeUnit*>(next)->context : unit.seat.base_, true);
    }

    const int cpu_;
    Flag taken_;
    Parker order_;
    bool ends_ = false;           ///< written before an order, as is:
    NativeUnit* first_ = nullptr; ///< who has the seat first
    Context base_;                ///< the thread's own stack
    ult::Stacks stacks_;          ///< of the units, until the seat ends
    ult::StackCache cache_;
    std::vector<std::unique_ptr<NativeUnit>> units_; ///< changed by who has the seat
    std::unique_ptr<PlainThread> thread_;
};

class NativeThreads final : public Threads {
public:
    std::vector<std::unique_ptr<Seat>> make_seats(const std::vector<int>& cpus) override
    {
        std::vector<std::unique_ptr<Seat>> seats;
        for (const int cpu : cpus) {
            auto seat = std::make_unique<NativeSeat>(cpu);
            seat->start();
            seats.push_back(std::move(seat));
        }
        return seats;
    }
};

} // namespace

extern const ThreadsEntry threads_native;
const ThreadsEntry threads_native{
    {"native", "units on stacks of their own, one operating system thread per worker", "trencadis"},
    [] { return std::unique_ptr<Threads>(std::make_unique<NativeThreads>()); },
};

} // namespace trencadis
