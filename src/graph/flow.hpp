#pragma once
#include "graph/access.hpp"
#include "graph/codelet.hpp"
#include "graph/data.hpp"
#include "graph/info.hpp"

#include <concepts>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace trencadis {

struct TaskOptions {
    const char* label = nullptr; ///< shown in traces instead of the codelet's name; must outlive the flow
    double priority = 0;         ///< larger first; added to a derived one
    /// Only workers of this memory node run the task and join it, where the executor binds tasks to it (Executor::binds);
    /// any_node: the flow's.
    int node = any_node;
};

/// What a task may be made of besides a codelet and its arguments.
template <class F>
concept TaskBody = std::invocable<F&, TaskContext&> || std::invocable<F&>;

/// Where an algorithm submits its tasks: a flow whose dependences we find (TaskFlow), or one of an engine that finds them itself
/// (Engine::open_flow). Tasks compute what they would one after the other in the order of their submission. One thread at a time
/// submits to a flow.
class Flow {
public:
    virtual ~Flow() = default;

    /// Submits one task of the codelet with a copy of its arguments. The order of `accesses` is the order of their numbers in
    /// TaskContext. Naming one datum twice means the stronger of the two accesses.
    template <class Args>
    void submit(const Codelet& codelet, const Args& args, std::span<const Access> accesses, const TaskOptions& options = {})
    {
        static_assert(std::is_trivially_copyable_v<Args>, "codelet arguments are a plain struct");
        const auto copy = [](void* to, void* from) { clear_padding(new (to) Args(*static_cast<Args*>(from))); };
        take(codelet, {const_cast<Args*>(&args), sizeof(Args), copy}, accesses, options);
    }
    template <class Args>
    void submit(const Codelet& codelet, const Args& args, std::initializer_list<Access> accesses, const TaskOptions& options = {})
    {
        submit(codelet, args, std::span<const Access>(accesses.begin(), accesses.size()), options);
    }
    /// Submits any callable `void(TaskContext&)` or `void()`; it is moved into the task.
    template <TaskBody F>
    void submit(const char* name, F body, std::span<const Access> accesses, const TaskOptions& options = {});
    template <TaskBody F>
    void submit(const char* name, F body, std::initializer_list<Access> accesses, const TaskOptions& options = {})
    {
        submit(name, std::move(body), std::span<const Access>(accesses.begin(), accesses.size()), options);
    }

    /// Returns when every task submitted so far has finished; rethrows what the earliest submitted one that failed has thrown.
    /// The flow can be used again afterwards.
    virtual void wait() = 0;
    /// Tasks that have not begun do not begin, nor do those inside them. Any thread; `wait` then throws Error{cancelled} unless a
    /// task threw.
    virtual void cancel() = 0;
    virtual bool cancelled() const = 0;
    /// What its tasks have reported, those of flows inside them as well: all of it once `wait` has returned. It stays until it is
    /// cleared.
    Info& outcome() { return outcome_; }
    /// The flow that has the task in which this one was made; none: null.
    virtual const Flow* parent() const { return nullptr; }

    /// The submitter's arguments, which go into the task.
    struct Arguments {
        void* data;
        std::size_t bytes;
        void (*move)(void* to, void* from); ///< does not throw
    };

protected:
    /// For flows that pass on what they are given.
    static void pass_on(Flow& to, const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                        const TaskOptions& options)
    {
        to.take(codelet, arguments, accesses, options);
    }

private:
    /// Arguments may travel as bytes: what is between the members must be nothing of ours.
    template <class Args> static void clear_padding([[maybe_unused]] Args* args)
    {
#if __has_builtin(__builtin_clear_padding)
        if constexpr (!std::has_unique_object_representations_v<Args>) __builtin_clear_padding(args);
#endif
    }
    virtual void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                      const TaskOptions& options) = 0;

    Info outcome_;
};

template <TaskBody F> void Flow::submit(const char* name, F body, std::span<const Access> accesses, const TaskOptions& options)
{
    static_assert(std::is_nothrow_move_constructible_v<F>, "the callable moves into the task without throwing");
    static const Codelet codelet{
        .name = "task",
        .core =
            [](void* args, TaskContext& context) {
                F& f = *static_cast<F*>(args);
                if constexpr (std::invocable<F&, TaskContext&>) f(context);
                else f();
            },
        .destroy = [](void* args) { static_cast<F*>(args)->~F(); },
        .at_home = true, // callables hold what they like
    };
    TaskOptions labelled = options;
    if (!labelled.label) labelled.label = name;
    const Arguments arguments{&body, sizeof(F), [](void* to, void* from) { new (to) F(std::move(*static_cast<F*>(from))); }};
    take(codelet, arguments, accesses, labelled);
}

} // namespace trencadis
