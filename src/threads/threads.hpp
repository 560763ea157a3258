#pragma once
#include "base/registry.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trencadis {

/// A thread of execution of a seat: it has the seat or it sleeps.
class WorkUnit {
protected:
    ~WorkUnit() = default;
};

/// A place at a core where one work unit at a time runs. One that must wait passes the seat on, so that the core does not stand
/// still. Whoever has the seat says who has it next: no two ever have it, and it is not lost. Light work units of a seat share
/// one operating system thread, and passing it on is a switch of stacks.
class Seat {
public:
    virtual ~Seat() = default; ///< waits until nobody has it; a work unit that never had it does not run its body
    /// A work unit that sleeps until it has the seat; it lives as long as the seat. When `body` returns it says who has the seat
    /// next; nobody: null. Called by the one that has the seat, or by any thread while nobody has it. Throws Error{environment}
    /// when the system gives no more threads or memory.
    virtual WorkUnit& make_unit(std::function<WorkUnit*()> body) = 0;
    /// Gives the seat, which nobody has, to a work unit of its own. Any thread.
    virtual void give(WorkUnit& unit) = 0;
    /// Called by `self`, which has the seat: `next` has it from now on. Returns when it is passed back to `self`.
    virtual void pass(WorkUnit& self, WorkUnit& next) = 0;
};

/// Where seats come from.
class Threads {
public:
    virtual ~Threads() = default; ///< after its seats
    /// One on each of the cores (OS numbers; negative: where the caller may run). Throws Error{environment} when there are not so
    /// many.
    virtual std::vector<std::unique_ptr<Seat>> make_seats(const std::vector<int>& cpus) = 0;
    /// Do work units stay on the thread of their seat?
    virtual bool keeps_units() const { return true; }
};

struct ThreadsEntry : Entry {
    /// Throws Error{environment} when it cannot be made here.
    std::unique_ptr<Threads> (*make)();
    std::string (*why_not)() = nullptr; ///< why it cannot be made here, empty when it can; none: always
};
std::span<const ThreadsEntry* const> threads_entries();

} // namespace trencadis
