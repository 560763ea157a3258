// Reading `name:key=value,key=value`.
#include "base/error.hpp"
#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace trencadis {

namespace {

[[noreturn]] void refuse(std::string_view scheduler, std::string_view key, std::string_view value, std::string_view right)
{
    throw Error(ErrorCode::bad_argument, "scheduler '" + std::string(scheduler) + "': " + std::string(key) + "=" +
                                             std::string(value) + ", must be " + std::string(right));
}

bool positive(std::string_view text, std::int64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number > 0;
}

void set_throttle(std::string_view scheduler, std::string_view value, FlowTraits& flow)
{
    constexpr std::string_view ready = "-ready";
    flow.throttle = flow.throttle_per_worker = 0;
    flow.throttle_ready = value.ends_with(ready);
    if (value == "none") return;
    std::string_view number = value;
    if (flow.throttle_ready) number.remove_suffix(ready.size());
    const bool per_worker = number.ends_with('x');
    if (per_worker) number.remove_suffix(1);
    if (!positive(number, per_worker ? flow.throttle_per_worker : flow.throttle))
        refuse(scheduler, "throttle", value,
               "none, a number of tasks, or a number per worker such as 64x; with -ready behind it to count only tasks that can "
               "run");
}

void set_dependences(std::string_view scheduler, std::string_view value, FlowTraits& flow)
{
    flow.buckets = 0;
    flow.discovery = Discovery::at_submission;
    if (value == "at-steal") flow.discovery = Discovery::at_steal;
    else if (value.starts_with("fixed-") && positive(value.substr(6), flow.buckets)) return;
    else if (value != "resizable") refuse(scheduler, "dependences", value, "resizable, at-steal or fixed-N with N lists");
}

void set_release(std::string_view scheduler, std::string_view value, FlowTraits& flow)
{
    if (value != "newest" && value != "oldest") refuse(scheduler, "release", value, "newest or oldest");
    flow.release_oldest = value == "oldest";
}

/// `inside` with the seed, unless that policy has none or was given one.
std::string seeded(std::string_view inside, const std::string& number)
{
    std::string text(inside);
    std::replace(text.begin(), text.end(), ';', ',');
    const SchedulerOptions options = parse_scheduler(text).options;
    if (!options.has("seed") || options.given("seed")) return std::string(inside);
    return std::string(inside) + (inside.find(':') == std::string_view::npos ? ":" : ";") + "seed=" + number;
}

} // namespace

std::unique_ptr<Scheduler> SchedulerSpec::make(const View& view) const
{
    if (entry->in_one_memory && view.memories() < 2)
        throw Error(
            ErrorCode::bad_argument,
            "scheduler '" + std::string(entry->name) +
                "' sends tasks to the memory where their data are valid, and all workers here share one memory: it would be '" +
                entry->in_one_memory + "'; use that, or a machine with several memories: simulated, or laid over this one");
    return entry->make(view, options);
}

bool SchedulerSpec::seed(std::uint64_t number)
{
    const std::string text = std::to_string(number & std::numeric_limits<std::int64_t>::max());
    const bool own = options.has("seed") && !options.given("seed");
    if (own) options.assign("seed", text);
    if (!options.has("inside")) return own;
    const std::string inside(options.text("inside")), with_seed = seeded(inside, text);
    options.assign("inside", with_seed);
    return own || with_seed != inside;
}

SchedulerSpec parse_scheduler(std::string_view text)
{
    const std::string_view name = text.substr(0, text.find(':'));
    const SchedulerEntry& entry = find_entry("scheduler", scheduler_entries(), name);
    SchedulerSpec spec{&entry, SchedulerOptions(entry.parameters), entry.flow, std::string(text)};
    if (name.size() == text.size()) return spec;
    std::string_view rest = text.substr(name.size() + 1);
    while (true) {
        const std::string_view pair = rest.substr(0, rest.find(','));
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos)
            throw Error(ErrorCode::bad_argument, "scheduler '" + std::string(text) + "': '" + std::string(pair) +
                                                     "' is not key=value; write name:key=value,key=value");
        const std::string_view key = pair.substr(0, equals), value = pair.substr(equals + 1);
        if (key == "throttle") set_throttle(name, value, spec.flow);
        else if (key == "dependences") set_dependences(name, value, spec.flow);
        else if (key == "release") set_release(name, value, spec.flow);
        else spec.options.set(name, key, value);
        if (pair.size() == rest.size()) return spec;
        rest.remove_prefix(pair.size() + 1);
    }
}

} // namespace trencadis
