#pragma once
#include "scheduling/parts/preset.hpp"
#include "scheduling/parts/victims.hpp"
#include "scheduling/scheduler.hpp"

#include <array>
#include <memory>

namespace trencadis {

inline constexpr std::array locality_parameters{
    victims_parameter,
    seed_parameter,
    Parameter{"steal", "slower|anybody", "slower",
              "from whom an idle worker steals; slower: from a faster kind only what that kind cannot run"},
    Parameter{"thieves", "idle|any", "idle", "who steals; any: also a device that takes a second task while the first runs"},
    Parameter{"mailboxes", "open|closed", "open", "may thieves take from a mailbox, or from deques alone"},
    Parameter{"join", "yes|no", "no", "idle workers join running operations"},
};

/// A deque and a mailbox per worker. A task that became ready goes to the worker that the rule names: onto the deque of the one
/// that released it, else into the mailbox of another one. A worker runs the newest of its deque, then the oldest of its mailbox,
/// then steals the oldest of a victim's deque, then of its mailbox.
///   released:    the worker that released it (*default* of the paper)
///   most bytes:  the able worker in whose memory most bytes of the operands are valid (H1)
///   owner:       an able worker in whose memory a valid copy of data that the task writes lies, random among several (H2)
/// Where a rule names nobody, as on data nobody has touched, the one that released it. O(workers) per push and per steal.
/// Our reading of who steals: in the paper idle GPUs do, so one that fetches the inputs of its next task while another runs does
/// not (thieves=idle); cores run what GPUs have no body for, so a core leaves to a GPU what that can run (steal=slower). With
/// steal=anybody a core may take a large tile and hold up the longest path for as long as it needs. Literature: Lima, Gautier,
/// Danjean, Raffin, Maillard 2013 (XKaapi on multi-GPU machines).
std::unique_ptr<Scheduler> make_released_by(const View& view, const SchedulerOptions& options);
std::unique_ptr<Scheduler> make_most_bytes(const View& view, const SchedulerOptions& options);
std::unique_ptr<Scheduler> make_owner(const View& view, const SchedulerOptions& options);

} // namespace trencadis
