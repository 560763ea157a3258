#pragma once
#include "base/float_modes.hpp"
#include "graph/flow.hpp"
#include "graph/unit.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace trencadis {

/// Opens the flows of tasks inside a task, on the thread that runs it.
class InnerFlows {
public:
    /// `own`: the flow that has the task. What it returns is waited for when the body has returned, and destroyed.
    virtual std::unique_ptr<Flow> open_inner(Flow& own) = 0;

protected:
    ~InnerFlows() = default;
};

/// A submitted task as a flow keeps it that finds no dependences as TaskFlow does: one of an engine with dependences of its own,
/// or of a test. It holds the arguments until it ends, and runs the codelet on a unit with operands wherever that unit has them.
class StoredTask {
public:
    /// May throw bad_alloc, and Error{bad_argument} for data that are names alone, unless its flow gives those memory
    /// (`names_too`); then the submitter's arguments are untouched.
    StoredTask(const Codelet& codelet, const Flow::Arguments& arguments, std::span<const Access> accesses,
               const TaskOptions& options, bool names_too = false);
    ~StoredTask();
    StoredTask(const StoredTask&) = delete;
    StoredTask& operator=(const StoredTask&) = delete;

    const Codelet& codelet() const { return codelet_; }
    const char* label() const { return label_; }
    double priority() const { return priority_; }
    int node() const { return node_; }
    Flops flops() const { return codelet_.flops ? codelet_.flops(args_.get()) : 0; }
    std::span<const Access> accesses() const { return accesses_; }
    bool can_run_on(const ComputeUnit& unit) const { return unit.can_run(codelet_, args_.get()); }

    /// Calls `visit(const Datum&, AccessMode)` once for each different datum; one that is named twice in different modes is
    /// readwrite, and as large as the one that holds the other.
    template <class Visit> void for_each_datum(Visit&& visit) const
    {
        for (std::size_t i = 0; i < accesses_.size(); ++i)
            if (first_with(accesses_[i].datum.address) == i) visit(largest_of(i), mode_of(i));
    }

    /// Runs it alone on the calling thread, in the floating-point modes of its submitter; returns what it raised. `operands`:
    /// where the datum of each access is now, of a `reduce` access the part that it adds to. `own`: the flow that it was
    /// submitted to. `inner`: who has the tasks inside it; none: they run when they are submitted. Rethrows; throws
    /// Error{missing_backend} where there is no implementation for the unit.
    FloatModes::Raised run(const ComputeUnit& unit, WorkerId worker, std::span<const Operand> operands, Flow& own,
                           InnerFlows* inner = nullptr);

private:
    struct Free {
        void operator()(std::byte* args) const { ::operator delete (args, std::align_val_t{64}); }
    };
    std::size_t first_with(const void* address) const;
    AccessMode mode_of(std::size_t first) const;
    const Datum& largest_of(std::size_t first) const;

    const Codelet& codelet_;
    const char* const label_;
    const double priority_;
    const int node_;
    const FloatModes float_modes_ = FloatModes::current();
    std::vector<Access> accesses_;
    std::unique_ptr<std::byte, Free> args_;
};

} // namespace trencadis
