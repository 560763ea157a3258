#pragma once
#include "engines/engine.hpp"
#include "engines/openmp/runtime.hpp"
#include "engines/own/worker_books.hpp"

#include <memory>
#include <span>
#include <vector>

namespace trencadis::openmp {

struct Caller;

/// Tasks go to an OpenMP runtime, with its own dependences; each run is a parallel region of the calling thread, which takes
/// part, with as many threads as there are workers, each bound to a worker's core for as long as the region lasts. Runs of
/// several callers have regions of their own. A run inside a region of the same runtime, a task of ours or the program's, has the
/// threads that it gets there: the calling one alone, unless the program has asked for nested regions.
class OpenMpEngine final : public Engine {
public:
    static Capabilities abilities(bool commute);

    OpenMpEngine(EngineParts parts, const Kind& kind, const Capabilities& abilities);

    Index run(const RunOptions& options, const std::function<void(Flow&)>& body) override;
    std::unique_ptr<Flow> open_flow(const FlowOptions& options) override;
    std::span<const ComputeUnit> units() const override { return units_; }
    std::vector<WorkerTime> times() const override { return books_.times(); }
    Recorder& recorder() override { return books_.recorder(); }
    const Capabilities& capabilities() const override { return abilities_; }
    std::string runtime() const override { return runtime_.library; } ///< the file that answers

    // --- for its flows and regions ---------------------------------------------------------------------------------------------
    const Kind& kind() const { return kind_; }
    const TrcOpenMp& calls() const { return *runtime_.functions; }
    const char* name() const { return name_.c_str(); } ///< "engine 'openmp-gnu'"
    std::span<const WorkerPlace> places() const { return places_; }
    WorkerBooks& books() { return books_; }
    int priority(double wanted) const; ///< as the runtime takes it

private:
    void run_elsewhere(Caller& caller, const std::function<void()>& region);

    const Kind& kind_;
    const Runtime& runtime_;
    const std::string name_;
    const Capabilities abilities_;
    const std::vector<WorkerPlace> places_;
    std::vector<ComputeUnit> units_;
    WorkerBooks books_;
};

/// Worker of the calling thread; 0 where it is none.
WorkerId worker_here();
/// May the calling thread submit tasks to this runtime itself? To libomp only one that does not end (see Holder): the program's
/// first, those that hold regions for others, and the runtime's own, as far as they are in a region of ours.
bool may_submit(const Kind& kind);

/// Opens a region of the engine's, calls `master` on the calling thread in it, and returns when all tasks have finished and the
/// threads have their affinity back. `apart`: the calling thread is none of the workers, but one more. Throws Error{environment}
/// where the runtime gives fewer threads, and nothing was called; otherwise what `master` throws.
void in_region(OpenMpEngine& engine, bool apart, const std::function<void()>& master);

} // namespace trencadis::openmp
