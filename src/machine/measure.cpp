#include "machine/fma_burst.hpp"
#include "machine/machine.hpp"
#include "machine/speed_cache.hpp"
#include "machine/split_kinds.hpp"

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <string>
#include <thread>

namespace trencadis {

namespace {

using Clock = std::chrono::steady_clock;

Seconds seconds_since(Clock::time_point begin) { return std::chrono::duration<Seconds>(Clock::now() - begin).count(); }

/// Binds the calling thread to one processor; false when the system refuses (gone offline, outside the cpuset).
bool bind_to(int cpu)
{
    const std::size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t* set = CPU_ALLOC(cpu + 1);
    if (!set) return false;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    const bool bound = sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return bound;
}

/// The calling core's best multiply-add speed in gflops, over bursts of about 0.3 ms. Bursts are shorter than a time slice, so
/// the best of them ran undisturbed even beside busy neighbours. Takes 12 ms, and up to 60 ms while a clock that was low still
/// climbs.
double best_burst_gflops()
{
    constexpr Seconds burst_time = 0.3e-3, shortest = 12e-3, longest = 60e-3;
    long rounds = 1000;
    double best = 0;
    const auto begin = Clock::now();
    Seconds improved_at = 0;
    for (Seconds now = 0; now < longest && (now < shortest || now - improved_at < shortest / 2); now = seconds_since(begin)) {
        const auto burst_begin = Clock::now();
        const Flops flops = fma_burst(rounds);
        const Seconds took = seconds_since(burst_begin);
        if (took < burst_time / 4) {
            rounds *= 2;
            continue;
        }
        const double gflops = flops / took / 1e9;
        if (gflops > 1.02 * best) improved_at = now;
        best = std::max(best, gflops);
    }
    return best;
}

/// On a thread of its own, so that the caller's affinity mask stays as it is. 0 when the core cannot be bound to.
double measure_core(int cpu)
{
    double gflops = 0;
    std::thread([&] {
        if (bind_to(cpu)) gflops = best_burst_gflops();
    }).join();
    return gflops;
}

/// What /proc/cpuinfo says of the processors' models, each line once; a new processor under the same host name is told by it.
std::string processor_models()
{
    std::set<std::string> lines;
    std::ifstream stream("/proc/cpuinfo");
    for (std::string line; std::getline(stream, line);)
        for (const char* key : {"model name", "cpu family", "stepping", "CPU implementer", "CPU part", "cpu\t", "uarch"})
            if (line.starts_with(key)) lines.insert(line);
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
}

} // namespace

void measure_speed(Machine& machine, bool fresh)
{
    if (machine.origin != "discovered") return; // nothing to run on
    // The number after "method" changes with what best_burst_gflops does, so that figures of an older way are not read back.
    const auto file = speed_cache_path(machine.name, fmt::format("{} {} method 1", processor_models(), fma_instruction_set()));
    CoreSpeeds speeds;
    if (file && !fresh) speeds = read_speeds(*file);
    bool measured = false;
    for (Core& core : machine.cores) {
        if (!speeds.contains(core.cpu)) {
            const double gflops = measure_core(core.cpu);
            if (gflops == 0) continue;
            speeds[core.cpu] = gflops;
            measured = true;
        }
        core.gflops = speeds[core.cpu];
    }
    if (measured && file) write_speeds(*file, speeds);
    split_kinds(machine);
}

} // namespace trencadis
