#pragma once
#include "base/lasting.hpp"
#include "engines/engine.hpp"
#include "observe/clock.hpp"
#include "scheduling/scheduler.hpp"
#include "session/array_turns.hpp"
#include "session/kept_speeds.hpp"
#include "session/last_calls.hpp"
#include "session/session.hpp"
#include "session/session_crew.hpp"
#include "session/session_devices.hpp"
#include "threads/threads.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace trencadis {

/// What a session is made of, for the files that carry it out.
struct Session::Parts {
    SessionOptions options;
    Machine machine;
    std::vector<WorkerPlace> places;
    const KernelProvider* kernels = nullptr;
    FlowTraits traits; ///< of the scheduler
    std::optional<KeptSpeeds> speeds;
    std::unique_ptr<Threads> threads;
    SessionDevices devices;
    ArrayTurns array_turns;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<choices::Chooser> chooser; ///< null: calls go by rule
    std::unique_ptr<LastCalls> last_calls;     ///< null: nobody keeps what calls take
    std::optional<SessionCrew> crew;

    const int made_after = forks_so_far();

    std::mutex clock_mutex;
    int running = 0;
    std::int64_t running_since_ns = 0;
    std::int64_t run_ns = 0; ///< with at least one run going on
    std::int64_t run_ns_base = 0;
    std::vector<WorkerTime> base;
    std::vector<DeviceTraffic> traffic_base;

    std::atomic<bool> counts_node_bytes{false}, tracing{false};
    std::map<int, NodeBytes> node_bytes; ///< under clock_mutex
    std::map<std::tuple<std::string, std::string, int>, ChosenPlan>
        choices; ///< likewise, by call, plan and workers, of this trace

    void run_begins()
    {
        std::lock_guard lock(clock_mutex);
        if (running++ == 0) running_since_ns = now_ns();
    }
    void run_ends()
    {
        std::lock_guard lock(clock_mutex);
        if (--running == 0) run_ns += now_ns() - running_since_ns;
    }
    FlowOptions flow_options() const { return {.window = options.window, .traits = traits}; }
    std::int64_t run_time() ///< under the mutex
    {
        return run_ns + (running ? now_ns() - running_since_ns : 0);
    }
};

} // namespace trencadis
