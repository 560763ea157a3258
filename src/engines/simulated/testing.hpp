#pragma once
#include "base/error.hpp"
#include "engines/engine.hpp"
#include "graph/task_flow.hpp"

#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace trencadis::testing {

/// Skips a test in a build without the simulator, with the reason.
#define TRC_NEEDS_SIMGRID                                                                                                        \
    if (const std::string why_not = find_entry("engine", engine_entries(), "simulated").why_not(); !why_not.empty())             \
    GTEST_SKIP() << why_not

/// What `body` returns, run in a process of its own: there is one simulation per process. "error: ..." when it throws.
inline std::string in_own_process(const std::function<std::string()>& body)
{
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        std::string text;
        try {
            text = body();
        } catch (const std::exception& error) {
            text = std::string("error: ") + error.what();
        }
        for (std::size_t sent = 0; sent < text.size();) {
            const ssize_t count = ::write(ends[1], text.data() + sent, text.size() - sent);
            if (count <= 0) break;
            sent += static_cast<std::size_t>(count);
        }
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? text : text + " (ended by signal " + std::to_string(WTERMSIG(status)) + ")";
}

/// A kernel that only costs time.
struct Cost {
    double amount;
    Flops flops() const { return amount; }
};
struct SharedCost {
    double amount;
    Index count;
    Flops flops() const { return amount; }
    Index chunks() const { return count; }
};
inline constexpr Codelet work = codelet_of<Cost>("work");
inline constexpr Codelet shared_work = codelet_of<SharedCost>("work");

/// A body that submits.
struct Body {
    const std::function<void(Flow&)>* submit;
    void run(TaskContext& context) { (*submit)(context.flow()); }
};
inline constexpr Codelet body = [] {
    Codelet codelet = codelet_of<Body>("body");
    codelet.submits = true;
    codelet.counted = false;
    return codelet;
}();

/// Cores of the given speeds in GFlop/s for the kernel "work"; cores of one speed are of one kind, "kind0" the first.
inline Machine cores_of_speed(const std::vector<double>& speeds)
{
    Machine machine;
    machine.name = "test";
    machine.nodes = {{"node0", 1e12}};
    std::vector<double> known;
    for (const double speed : speeds) {
        std::size_t kind = 0;
        while (kind < known.size() && known[kind] != speed) ++kind;
        if (kind == known.size()) {
            known.push_back(speed);
            machine.kinds.push_back({"kind" + std::to_string(kind), speed, {}});
            machine.kernels.push_back({"work", machine.kinds.back().name, speed});
        }
        machine.cores.push_back({static_cast<int>(machine.cores.size()), static_cast<int>(kind), 0});
    }
    return machine;
}

/// A simulated run: all cores but those that drive a device, and all devices.
struct SimulatedRun {
    Machine machine;
    std::string scheduler = "eager";
    SimulationOptions options = {};
    FlowOptions flow = {};
    MemoryLog memory_log = {};
    bool trace = false;
    std::string events = {}; ///< of the trace, one per line

    /// Needs a process of its own.
    SimulationReport operator()(const std::function<void(Flow&)>& submit)
    {
        EngineParts parts{{}, parse_scheduler(scheduler), nullptr};
        parts.machine = &machine;
        parts.simulation = options;
        parts.memory_log = memory_log;
        for (std::size_t d = 0; d < machine.devices.size(); ++d) parts.devices.push_back(static_cast<int>(d));
        for (const Core& core : machine.cores) {
            const auto index = static_cast<int>(&core - machine.cores.data());
            bool drives = false;
            for (const Device& device : machine.devices) drives |= device.host_core == index;
            if (!drives) parts.workers.push_back({index, core.kind, machine.kinds[core.kind].name, 1});
        }
        const auto engine = find_entry("engine", engine_entries(), "simulated").make(std::move(parts));
        if (trace) engine->recorder().start_at(0);
        {
            TaskFlow root(*engine->executor(), flow);
            root.submit(body, Body{&submit}, std::initializer_list<Access>{});
            root.wait();
        }
        const SimulationReport report = engine->simulation()->simulation_report();
        if (trace)
            events =
                text_of(engine->recorder().stop_at(static_cast<std::int64_t>(report.makespan_s * 1e9), "", Origin::simulated));
        return report;
    }

private:
    static std::string text_of(const Trace& trace)
    {
        std::ostringstream text;
        for (const WorkerTrace& worker : trace.workers)
            for (const Event& event : worker.events)
                text << worker.worker << ' ' << event.name << ' ' << event.order << ' ' << event.begin_ns << ' ' << event.end_ns
                     << '\n';
        return text.str();
    }
};

/// Seconds until all was done.
inline double makespan(SimulatedRun run, const std::function<void(Flow&)>& submit)
{
    const std::string text = in_own_process([&] {
        std::ostringstream out;
        out.precision(17);
        out << run(submit).makespan_s;
        return out.str();
    });
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end) throw Error(ErrorCode::environment, text);
    return seconds;
}

} // namespace trencadis::testing
