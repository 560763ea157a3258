#pragma once
#include "base/registry.hpp"

#include <functional>
#include <memory>
#include <span>

namespace trencadis {

/// A thread of execution that can sleep and be woken. Which one runs on a core is the engine's business: it keeps one unit per
/// worker awake, and lets another take the worker over when a unit must wait.
class Unit {
public:
    virtual ~Unit() = default;  ///< waits for the body to return
    virtual void suspend() = 0; ///< called by the unit itself; returns after resume, also one that came first
    virtual void resume() = 0;  ///< any thread, once per suspend
};

/// Where units come from. A back end on lightweight threads makes them fibers; this contract is all an engine uses.
class Threads {
public:
    virtual ~Threads() = default;
    /// A unit that runs `body(unit)` on the core `cpu` (OS number; negative: anywhere). Throws Error{environment} when the
    /// system gives no more threads.
    virtual std::unique_ptr<Unit> start(int cpu, std::function<void(Unit&)> body) = 0;
};

struct ThreadsEntry : Entry {
    std::unique_ptr<Threads> (*make)();
};
std::span<const ThreadsEntry* const> threads_entries();

} // namespace trencadis
