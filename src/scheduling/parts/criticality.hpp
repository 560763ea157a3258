#pragma once
#include "scheduling/parts/preset.hpp"
#include "scheduling/scheduler.hpp"

#include <array>
#include <memory>

namespace trencadis {

inline constexpr std::array criticality_parameters{
    Parameter{"stealing", "both|fast-from-slow|slow-from-fast|none", "fast-from-slow",
              "may an idle core take from the other cores' queue? Published: fast-from-slow (one direction) and both"},
    Parameter{"queues", "priority|oldest", "priority",
              "which task of a queue goes first: of the longest path, or the one that came first"},
    Parameter{"join", "yes|no", "no", "idle workers join running operations"},
};

/// CATS: ready tasks lie in a critical or a non-critical queue. Fast workers, which are those of every kind but the slowest, take
/// from the critical one, slow workers from the other; who finds its own empty may steal from the other one as the option allows.
///
/// Our reading of *critical*: a ready task whose bottom level, as known when it becomes ready, is not below that of any other
/// task that is ready or runs. Bottom levels fall along every path, so the longest path through what is left of the discovered
/// graph begins at such a task. The paper marks the entry with the highest bottom level and from there on the successor with the
/// highest one; the two agree unless the graph grew meanwhile. A task that only slow kinds can run counts as non-critical, one
/// that only fast ones can run as critical. O(log ready) per call. Literature: Chronaki, Rico, Badia, Ayguade, Labarta, Valero
/// 2015.
std::unique_ptr<Scheduler> make_criticality(const View& view, const SchedulerOptions& options);

} // namespace trencadis
