#pragma once
#include "devices/device.hpp"
#include "devices/opencl/objects.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace trencadis::devices::opencl {

/// How the host has opened a queue's way.
struct Gate {
    Event event; ///< the user's
    std::mutex mutex;
    Status status;
};

/// A marker in a queue, with the events before it, of which one may have failed.
struct Marker {
    Completion arrived;
    std::vector<Event> before;
    std::vector<std::shared_ptr<Gate>> gates; ///< among them
    Fault fault;                              ///< what a failure is there
    Event event = {};
    bool told = false; ///< under the watch's lock
};
/// How it went, where the marker itself has ended with `code`.
Status status_of_marker(const Marker& marker, cl_int code);

/// Tells the markers of a device that are reached. OpenCL's callbacks do that, but PoCL 3.1 calls none for an event that fails:
/// so a thread looks as well, five times a second while there is a marker that waits, and at once when a gate is opened by a
/// failure.
class Watch {
public:
    Watch();
    ~Watch(); ///< after all markers, unless they were given up
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// Its event is in a queue. A fault: it is not watched.
    Status add(const std::shared_ptr<Marker>& marker);
    /// Nobody waits for the markers any more. Their callbacks may come all the same.
    void give_up();
    /// For gates: something has failed. It may come when the watch is gone.
    std::function<void()> look_now() const;

private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<std::shared_ptr<Marker>> waiting;
        bool look = false, ends = false;
    };
    struct Ticket {
        std::shared_ptr<State> state;
        std::shared_ptr<Marker> marker;
    };
    static void CL_CALLBACK called(cl_event event, cl_int code, void* ticket);
    static void tell(State& state, const std::shared_ptr<Marker>& marker, cl_int code);
    static void live(State& state);

    const std::shared_ptr<State> state_ = std::make_shared<State>();
    std::thread thread_;
};

} // namespace trencadis::devices::opencl
