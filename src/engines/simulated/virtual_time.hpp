#pragma once
#include "base/types.hpp"
#include "machine/machine.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trencadis {

/// What a simulation runs on, in numbers.
struct VirtualPlatform {
    /// One core or device.
    struct Host {
        double speed;          ///< 1: computing one second of work takes one second
        double idle_w, busy_w; ///< watts
    };
    struct Link { ///< one direction
        double bandwidth;
        Seconds latency;
    };
    struct Route {
        int from, to; ///< places
        std::vector<int> links;
    };
    std::vector<Host> hosts;
    int places = 0;                 ///< where data lie
    std::optional<Network> network; ///< joins the places; then there are no links and routes
    std::vector<Link> links;
    std::vector<Route> routes;
    bool energy = false; ///< the watts are known
};

/// A clock that jumps from event to event, actors that act in it one at a time, processors that take time and links whose
/// bandwidth is shared. This is all the engine needs of a discrete event simulator, and the only thing that knows which one it is
/// lies in a module of its own, loaded when a simulation begins: the simulator's own libraries must not be in the way of programs
/// that never simulate (docs/decisions/). An actor runs alone until it calls something of this class; any call but now, self and
/// start may let others run.
class VirtualTime {
public:
    using Actor = int;
    virtual ~VirtualTime() = default;

    /// Once, before anything else.
    virtual void build(const VirtualPlatform& platform) = 0;
    virtual Seconds now() const = 0;

    /// Runs `body` as an actor, after the caller's next pause.
    virtual Actor start(std::function<void()> body) = 0;
    virtual Actor self() const = 0;
    /// Until somebody calls resume; returns at once when somebody has since the last suspend.
    virtual void suspend() = 0;
    virtual void suspend_for(Seconds limit) = 0;
    virtual void resume(Actor actor) = 0;

    /// Computes on a host for as long as the work takes there, alone; ends early when interrupted.
    virtual void compute(int host, Seconds work) = 0;
    virtual void interrupt(Actor actor) = 0;
    /// Carries bytes over the links between two places, which takes `least` at least; returns when they are there.
    virtual void transfer(int from, int to, Bytes bytes, Seconds least = 0) = 0;

    /// Returns true when all actors have ended, false when those that are left wait for each other; then they never end.
    virtual bool run() = 0;
    /// Of one host, since the beginning.
    virtual Joules energy(int host) const = 0;
};

/// Throws Error{missing_backend} when this build has no simulator or its module cannot be loaded, Error{environment} at a second
/// call: there is one simulation per process.
std::unique_ptr<VirtualTime> make_virtual_time();

/// Why there is none in this build or on this machine; empty when there is. Does not load it.
std::string why_no_virtual_time();

} // namespace trencadis
