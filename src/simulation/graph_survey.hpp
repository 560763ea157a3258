#pragma once
#include "graph/task_flow.hpp"
#include "machine/machine.hpp"

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trencadis {

/// Throws Error{bad_argument} for a kernel time of the machine that no graph and no kernel library has a kernel for: a misspelt
/// name would leave that kind of core or device without the kernel that was meant.
void require_known_kernels(const Machine& machine);

/// Takes the tasks of a graph in the order of their submission, in no time, and keeps account of what they are: to know before a
/// simulation whether it can end, and how fast it could be at best. Bodies that submit are run. About 0.3 us per task.
class GraphSurvey final : public Executor {
public:
    /// Units in use: indices into Machine::cores and Machine::devices. The arguments outlive the object.
    GraphSurvey(const Machine& machine, std::span<const int> cores, std::span<const int> devices);

    /// Throws Error{bad_argument} when a task can run on no unit in use: no time for its kernel, or no memory for its data.
    void check() const;
    /// Throws Error{bad_argument} when a core could not go on with what another core in use has begun.
    void check_moves() const;
    /// All units busy all the time, each kernel where it is best done.
    Seconds area_bound() const;
    /// The longest chain, each task on its best unit; a malleable one by all cores together.
    Seconds critical_path() const { return levels_.front().end; }
    std::int64_t tasks() const { return tasks_; }

    void ready(Task* chain) override;
    void drain(TaskFlow&, std::int64_t) override {} // nothing is ever pending
    void wake_owner(TaskFlow&) override {}
    bool computes() const override { return false; }

private:
    /// Tasks of one kernel and size.
    struct Class {
        std::int64_t count = 0;
        bool malleable = false;
        std::vector<Seconds> on_kind; ///< of one task, by kind of unit
        Seconds best = 0;
    };
    struct KindInUse {
        std::string name;
        int count;
        Bytes memory; ///< of a device
        bool device;
    };
    /// When a datum is free for what comes next: after the group of accesses that holds it together. Where hosts send each other
    /// copies, readers hold back nobody.
    struct History {
        AccessMode mode = AccessMode::write;
        Seconds before = 0, end = 0;
    };
    /// A flow: the outermost, and those inside tasks that are being run.
    struct Level {
        Seconds begin = 0, end = 0;
        std::unordered_map<const void*, History> data;
    };

    Task* take(Task& task);
    const Class& note(const Task& task);
    Class make_class(const Task& task);
    Seconds start_of(const Task& task);
    void end_at(const Task& task, Seconds end);
    void check_memory(const Task& task, const Class& its);

    const Machine& machine_;
    std::vector<int> cores_, devices_;
    std::vector<KindInUse> kinds_;
    std::map<std::pair<std::string_view, Flops>, Class> classes_;
    std::vector<std::string_view> kernels_;
    std::vector<Level> levels_{1};
    std::string stays_;     ///< why a thread cannot go to every core, of the first kernel
    std::string no_memory_; ///< why a task cannot run, of the first
    std::int64_t tasks_ = 0;
};

} // namespace trencadis
