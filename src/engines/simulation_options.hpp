#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace trencadis {

/// What a simulated run assumes beside the machine and the policy. Each effect has a cause that real boards show; all are off
/// at the start, so that a plain run shows the policy and the kernel times alone.
struct SimulationOptions {
    std::uint64_t seed = 1;
    /// Submitting one task takes the submitter this long, on worker 0 unless it is a thread apart: what has not been submitted is
    /// neither ready nor part of a bottom level.
    Seconds submit_s = 0;
    /// A worker needs this long to get a task from the runtime.
    Seconds pop_s = 0;
    /// pop_s and submit_s are spent under one lock (a central queue).
    bool central_lock = false;
    /// Workers are not pinned: every so often the system maps the threads to the cores anew, whatever their speed (Linux without
    /// a heterogeneous scheduler). 0: pinned.
    Seconds remap_s = 0;
    /// Spread of kernel times: each is multiplied by a random factor in [1 - jitter, 1 + jitter].
    double jitter = 0;
    /// Who submits looks for a task before those who wait for one, who would have to be woken first.
    bool caller_first = false;
    /// A device has two tasks in flight, so that the inputs of the second move while the first runs. Without: one.
    bool overlap = true;
    /// At any time a device computes, receives or sends: all of it goes through one stream.
    bool one_stream = false;
    /// Devices copy to each other directly where the links between them pass no processor. Without: by way of the memory where
    /// the datum is at home (runtimes that write back when somebody needs the datum).
    bool peer = true;
    /// What a device can run is left to devices: cores run the rest, and tasks inside such tasks.
    bool device_only = false;
    /// The thread that drives a device fetches what that needs of another one itself, datum by datum, and does nothing else until
    /// it is in the host's memory: a kernel that ends meanwhile is noticed afterwards. So does a core's thread.
    bool fetch_and_wait = false;
    /// Messages between hosts take no time; they are counted. What a run loses by communication is the difference.
    bool free_network = false;
    /// The machine's figures that were adjusted to a result are as they were before.
    bool unadjusted = false;
    std::string power_state = {}; ///< of all units, by name; empty: the first of each
    /// A worker with nothing to do looks for work for so long, which draws poll_w, before it sleeps, which draws idle_w.
    Seconds spin_s = 0;
    /// One that sleeps needs so long to begin (the exit latency of a deep idle state).
    Seconds wake_s = 0;
    /// There are no idle states: who sleeps polls, in this state of its clock, to which a governor may lower it. Empty:
    /// there are.
    std::string awake_state = {};
    /// What a core reads from another memory node of its host is copied into its own first, once for all cores there, instead of
    /// being read in place each time (a product that copies its operands).
    bool copy_operands = false;
    std::string placement =
        "first-touch"; ///< of the data at the start: first-touch (node 0), interleave (by tile, over the nodes in use)
};

} // namespace trencadis
