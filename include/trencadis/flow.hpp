#pragma once
#include "graph/access_mode.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

/// A data-flow algorithm of your own: tasks run once what they depend on has finished, and dependences follow from the data that
/// they name, by address. What carries it out is not seen from here. <trencadis/trencadis.hpp> makes these names known in
/// `trencadis`.
namespace trencadis {

class Session;
class TaskContext;

namespace face {

/// One declared access, to the datum at an address. Its size matters to policies that look where data is; 0: not known. Data of
/// known sizes are the same, by their address, or apart (DataFlow::submit).
struct Access {
    const void* data;
    AccessMode mode;
    const Reduction* reduction = nullptr;
    std::size_t bytes = 0;
};

inline Access read(const void* data, std::size_t bytes = 0) { return {data, AccessMode::read, nullptr, bytes}; }
inline Access write(void* data, std::size_t bytes = 0) { return {data, AccessMode::write, nullptr, bytes}; }
inline Access readwrite(void* data, std::size_t bytes = 0) { return {data, AccessMode::readwrite, nullptr, bytes}; }
inline Access concurrent_write(void* data, std::size_t bytes = 0) { return {data, AccessMode::concurrent_write, nullptr, bytes}; }
inline Access commute(void* data, std::size_t bytes = 0) { return {data, AccessMode::commute, nullptr, bytes}; }
inline Access reduce(void* data, const Reduction& how) { return {data, AccessMode::reduce, &how, how.bytes}; }

class DataFlow;

/// What a running task sees of the world.
class Running {
public:
    explicit Running(TaskContext& context); ///< for the library
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    int worker() const; ///< that runs it, from 0
    /// A flow for tasks inside this task; they depend among each other only. The task finishes after them.
    DataFlow& flow();
    /// The private part of access number `access`, which must be a `reduce`.
    void* part(int access);
    template <class T> T& part(int access) { return *static_cast<T*>(part(access)); }

private:
    TaskContext& context_;
    std::unique_ptr<DataFlow> inside_;
};

/// A flow of tasks on a session's workers. One thread submits to a flow, its owner, and the session must outlive it.
///
/// Errors: the exception of the earliest submitted task that threw is rethrown by `wait`; what depended on a failed task is not
/// run. Cost: some 0.3 us per task with three accesses, submitted and run.
/// Literature: superscalar task flow (SMPSs, Perez, Badia, Labarta 2008; StarPU, Augonnet et al. 2011).
class DataFlow {
public:
    /// With at most `window` tasks submitted and not finished, 0: the session's. Throws Error{environment} in a process forked
    /// since the session was made.
    explicit DataFlow(Session& session, std::int64_t window = 0);
    /// Waits; an exception not yet rethrown is dropped. In a process forked since, where its tasks are not: does nothing.
    ~DataFlow();
    DataFlow(const DataFlow&) = delete;
    DataFlow& operator=(const DataFlow&) = delete;

    /// Submits `body`, any callable `void(Running&)` or `void()`, which is moved into the task. The order of `accesses` is that
    /// of the part numbers in Running::part; naming one datum twice means the stronger of the two accesses. `name` shows in
    /// traces and must outlive them. Larger priorities first. Throws Error{bad_argument} for a datum that shares memory with
    /// another one, at another address, which this task or one that has not finished names: they would have no dependence.
    template <class F>
        requires std::invocable<F&, Running&> || std::invocable<F&>
    void submit(const char* name, F body, std::span<const Access> accesses, double priority = 0);
    template <class F>
        requires std::invocable<F&, Running&> || std::invocable<F&>
    void submit(const char* name, F body, std::initializer_list<Access> accesses, double priority = 0)
    {
        submit(name, std::move(body), std::span<const Access>(accesses.begin(), accesses.size()), priority);
    }

    /// Returns when every task submitted so far has finished; rethrows. The flow can be used again afterwards.
    void wait();
    /// Tasks of this flow, and of flows inside them, that have not begun do not begin. Any thread; `submit` and `wait` then throw
    /// Error{cancelled}, `wait` only if no task threw.
    void cancel();
    bool cancelled() const;

private:
    friend class Running;
    struct Inside;
    /// A callable whose type is known to its submitter only.
    struct Kind {
        void (*run)(void* body, Running& running);
        void (*move)(void* to, void* from) noexcept; ///< leaves nothing at `from` to be destroyed
        void (*destroy)(void* body) noexcept;
    };
    static constexpr std::size_t inline_bytes = 96, inline_alignment = 16; ///< of callables that lie inside the task
    struct Body;

    explicit DataFlow(TaskContext& context);
    void submit(const char* name, void* body, const Kind& kind, std::span<const Access> accesses, double priority);

    std::unique_ptr<Inside> inside_;
};

template <class F>
    requires std::invocable<F&, Running&> || std::invocable<F&>
void DataFlow::submit(const char* name, F body, std::span<const Access> accesses, double priority)
{
    const auto call = [](F& f, Running& running) {
        if constexpr (std::invocable<F&, Running&>) f(running);
        else f();
    };
    if constexpr (sizeof(F) > inline_bytes || alignof(F) > inline_alignment || !std::is_nothrow_move_constructible_v<F>) {
        auto kept = std::make_unique<F>(std::move(body));
        submit(
            name, [kept = std::move(kept), call](Running& running) { call(*kept, running); }, accesses, priority);
    } else {
        static constexpr Kind kind{
            [](void* f, Running& running) { decltype(call){}(*static_cast<F*>(f), running); },
            [](void* to, void* from) noexcept {
                new (to) F(std::move(*static_cast<F*>(from)));
                static_cast<F*>(from)->~F();
            },
            [](void* f) noexcept { static_cast<F*>(f)->~F(); },
        };
        alignas(inline_alignment) std::byte place[inline_bytes];
        submit(name, new (place) F(std::move(body)), kind, accesses, priority);
    }
}

} // namespace face
} // namespace trencadis
