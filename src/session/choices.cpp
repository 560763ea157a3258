#include "session/choices.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "machine/quota.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace trencadis {

std::string choose(const std::string& given, const char* variable, const char* standard)
{
    if (!given.empty()) return given;
    const char* from_environment = environment(variable);
    return from_environment && *from_environment ? from_environment : standard;
}

namespace {

int count_from_environment()
{
    const char* text = environment("TRENCADIS_NUM_THREADS");
    if (!text || !*text) return 0;
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (*end || count < 1 || count > 1 << 20)
        throw Error(ErrorCode::bad_argument,
                    std::string("TRENCADIS_NUM_THREADS is '") + text + "', must be a number of workers, at least 1");
    return static_cast<int>(count);
}

std::string cores_text(const Machine& machine)
{
    std::string text;
    for (const Core& core : machine.cores) text += (text.empty() ? "" : ",") + std::to_string(core.cpu);
    return text;
}

} // namespace

Machine choose_machine(const std::string& given) { return given.empty() ? machine_at_hand() : load_machine(given); }

std::string choose_pages(const std::string& given, const std::string& machine)
{
    const std::string pages = choose(given, "TRENCADIS_PAGES", "");
    if (machine.empty() && !pages.empty())
        throw Error(ErrorCode::bad_argument, "pages are to be placed by '" + pages +
                                                 "', which is for a described machine laid over this one; give a machine too");
    if (machine.empty() || pages == "first-touch" || pages == "interleave") return pages;
    if (pages.empty()) return "first-touch";
    throw Error(ErrorCode::bad_argument, "pages are to be placed by '" + pages + "', must be first-touch or interleave");
}

std::string choose_relief(const std::string& given, const std::string& machine)
{
    return choose(given, "TRENCADIS_RELIEF", machine.empty() ? "held-up" : "never");
}

std::int64_t choose_window(const SessionOptions& options)
{
    if (options.window < 0)
        throw Error(ErrorCode::bad_argument, "window is " + std::to_string(options.window) + ", must be at least 1");
    return options.window ? options.window : FlowOptions{}.window;
}

std::string choose_devices(const SessionOptions& options, bool has_devices)
{
    const std::string word = has_devices ? choose(options.devices, "TRENCADIS_DEVICES", no_devices) : options.devices;
    return word == no_devices ? "" : word;
}

bool asks_for_devices(const SessionOptions& options) { return !options.devices.empty() && options.devices != no_devices; }

bool choose_reproducible(const SessionOptions& options)
{
    const std::string word = choose(options.reproducible ? "1" : "", "TRENCADIS_REPRODUCIBLE", "0");
    if (word != "0" && word != "1")
        throw Error(ErrorCode::bad_argument, "TRENCADIS_REPRODUCIBLE is '" + word + "', must be 0 or 1");
    if (word == "1" && asks_for_devices(options))
        throw Error(ErrorCode::bad_argument, "devices '" + options.devices +
                                                 "' were asked for in a reproducible session: they compute in other forms; leave "
                                                 "one of the two out");
    return word == "1";
}

Relieving relieving_named(const std::string& word)
{
    if (word == "held-up") return Relieving::held_up;
    if (word == "always") return Relieving::always;
    if (word == "never") return Relieving::never;
    throw Error(ErrorCode::bad_argument, "relief is '" + word + "', must be held-up, always or never");
}

std::vector<int> choose_cores(const SessionOptions& options, const Machine& machine)
{
    if (!options.workers.empty() && options.worker_count)
        throw Error(ErrorCode::bad_argument, "give either the workers' cores or their number, not both");
    std::vector<int> allowed;
    for (const Core& core : machine.cores) allowed.push_back(core.cpu);
    if (options.workers.empty()) {
        const int from_environment = options.worker_count ? 0 : count_from_environment();
        const int count = options.worker_count ? options.worker_count : from_environment;
        if (count < 0 || count > static_cast<int>(allowed.size())) {
            // A variable inherited from a larger machine is no reason to fail; a number asked for in the call is.
            if (!from_environment)
                throw Error(ErrorCode::bad_argument, std::to_string(count) + " workers asked for, but this process may use " +
                                                         std::to_string(allowed.size()) + " cores (" + cores_text(machine) + ")");
        } else if (count > 0) allowed.resize(count);
        const bool is_chosen = count > 0 && count <= static_cast<int>(machine.cores.size());
        if (!is_chosen && machine.origin == "discovered")
            allowed.resize(std::size_t(workers_within(quota_of_cores(), static_cast<int>(allowed.size()))));
        return allowed;
    }
    std::set<int> seen;
    for (const int cpu : options.workers) {
        if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end())
            throw Error(ErrorCode::bad_argument,
                        "core " + std::to_string(cpu) + " asked for, but this process may use cores " + cores_text(machine));
        if (!seen.insert(cpu).second) throw Error(ErrorCode::bad_argument, "core " + std::to_string(cpu) + " is given twice");
    }
    return options.workers;
}

SharedCores share_cores(const SessionOptions& options, const EngineEntry& engine, const Machine& machine, std::vector<int>& cores)
{
    const auto number = [](const char* variable) {
        const char* const text = environment(variable);
        return text ? std::atoi(text) : 0;
    };
    if (!engine.capabilities.owners || !options.workers.empty()) return {};
    const int here = number("OMPI_COMM_WORLD_LOCAL_SIZE"), rank = number("OMPI_COMM_WORLD_LOCAL_RANK");
    if (here < 2 || rank < 0 || rank >= here) return {};
    const auto all = static_cast<int>(machine.cores.size());
    const bool is_chosen = options.worker_count || count_from_environment() > 0;
    const int count = is_chosen ? static_cast<int>(cores.size()) : std::max(1, static_cast<int>(cores.size()) / here);
    cores.clear();
    for (int i = 0; i < count; ++i) cores.push_back(machine.cores[std::size_t((rank * count + i) % all)].cpu);
    return {here * count <= all};
}

} // namespace trencadis
