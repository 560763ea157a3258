// Kernel times, power states and execution models of a machine description.
#include "base/error.hpp"
#include "machine/describe_parts.hpp"

#include <cmath>

namespace trencadis {

namespace {

/// Complains unless `on` names a core kind, a team of them, a device or a kind of device. Returns a team in the machine's order.
std::string read_unit(TomlTable& table, const Machine& machine)
{
    const std::string on = table.text("on");
    const auto kinds = names_of(machine.kinds);
    auto units = kinds;
    for (const Device& device : machine.devices) {
        units.push_back(device.name);
        units.push_back(device.kind);
    }
    if (on.find('+') == std::string::npos) return units[table.one_of("on", units, "[[kinds]] or [[devices]]")];
    std::vector<std::size_t> members;
    for (std::size_t begin = 0; begin <= on.size();) {
        const std::size_t end = std::min(on.find('+', begin), on.size());
        const auto kind = std::find(kinds.begin(), kinds.end(), on.substr(begin, end - begin));
        if (kind == kinds.end())
            table.complain("on",
                           fmt::format("on of {} is '{}', but '{}' is not the name of [[kinds]]; a team is written kind+kind",
                                       table.what(), on, on.substr(begin, end - begin)));
        members.push_back(kind - kinds.begin());
        begin = end + 1;
    }
    std::sort(members.begin(), members.end());
    std::string unit;
    for (const std::size_t member : members) unit += (unit.empty() ? "" : "+") + kinds[member];
    return unit;
}

/// A rate, or a time at a size that the rate follows from.
double read_rate(TomlTable& table, double half_edge)
{
    const bool rated = table.has("gflops"), timed = table.has("ms"), sized = table.has("flops");
    if (rated && (timed || sized))
        table.complain("gflops",
                       fmt::format("{} has both gflops and {}; write one of them", table.what(), timed ? "ms" : "flops"));
    if (rated) return table.positive("gflops");
    if (!timed && !sized) {
        table.finish(); // a misspelt key explains more
        table.complain("gflops",
                       fmt::format("{} has no speed; write gflops, or ms and flops of a time that is known", table.what()));
    }
    const double ms = table.positive("ms");
    const Flops flops = table.positive("flops");
    return KernelTime{"", "", 1, half_edge}.time(flops) / (ms * 1e-3);
}

/// As KernelTime has it.
char read_precision(TomlTable& table)
{
    if (!table.has("precision")) return 0;
    static constexpr char letters[] = {0, 's', 'c', 'z'};
    return letters[table.one_of("precision", {"d", "s", "c", "z"}, "precision")];
}

/// Whether two entries say how long the same takes.
bool same_call(const KernelTime& a, const KernelTime& b)
{
    return a.kernel == b.kernel && a.on == b.on && a.precision == b.precision;
}

std::vector<KernelTime> read_times(TomlTable& root, const char* key, const Machine& machine)
{
    std::vector<KernelTime> times;
    for (TomlTable& table : root.tables(key)) {
        KernelTime time{table.text("kernel"), read_unit(table, machine), 0, table.number_or("half_edge", 0), table.line()};
        time.gflops = read_rate(table, time.half_edge);
        time.precision = read_precision(table);
        if (table.has("bound")) time.memory_bound = table.one_of("bound", {"memory"}, "bound") == 0;
        table.finish();
        for (const KernelTime& other : times)
            if (same_call(other, time))
                table.complain("kernel", fmt::format("{} is '{}' on '{}', which line {} gives already; keep one of them",
                                                     table.what(), time.kernel, time.on, other.line));
        times.push_back(std::move(time));
    }
    return times;
}

} // namespace

void read_kernels(TomlTable& root, Machine& machine)
{
    machine.kernels = read_times(root, "kernels", machine);
    machine.unadjusted = read_times(root, "unadjusted", machine);
    for (const KernelTime& time : machine.unadjusted)
        if (std::ranges::none_of(machine.kernels, [&](const KernelTime& other) { return same_call(other, time); }))
            root.complain("unadjusted",
                          fmt::format("unadjusted has '{}' on '{}', which [[kernels]] do not have", time.kernel, time.on));
}

Machine without_adjustments(Machine machine)
{
    if (machine.unadjusted.empty())
        throw Error(ErrorCode::bad_argument, fmt::format("{} has no figures that were adjusted to a result", machine.name));
    for (KernelTime& time : machine.kernels)
        for (const KernelTime& before : machine.unadjusted)
            if (same_call(time, before)) time = before;
    return machine;
}

std::vector<PowerState> read_power(TomlTable& table)
{
    std::vector<PowerState> states;
    for (TomlTable& entry : table.tables("power")) {
        PowerState state{new_name(entry, states), entry.positive_or("speed", 1), entry.number("idle_w"), entry.number("busy_w"),
                         entry.number_or("poll_w", 0)};
        if (state.busy_w < state.idle_w)
            entry.complain("busy_w", fmt::format("{} draws {} W busy but {} W idle; busy must not be less", entry.what(),
                                                 state.busy_w, state.idle_w));
        if (state.polling_w() < state.idle_w || state.polling_w() > state.busy_w)
            entry.complain("poll_w",
                           fmt::format("{} draws {} W while it looks for work; that lies between idle, {} W, and busy, {} W",
                                       entry.what(), state.poll_w, state.idle_w, state.busy_w));
        if (states.empty() && state.speed != 1)
            entry.complain("speed", fmt::format("speed of {} is {}; the first state is the one that others are measured by, 1",
                                                entry.what(), state.speed));
        if (!states.empty() && state.speed > states.back().speed)
            entry.complain("speed", fmt::format("{} is faster than the state before it; list the fastest first", entry.what()));
        if (!states.empty() && state.busy_w > states.back().busy_w)
            entry.complain("busy_w",
                           fmt::format("{} is slower than the state before it but draws more, {} W after {} W; a slower state "
                                       "must not draw more",
                                       entry.what(), state.busy_w, states.back().busy_w));
        entry.finish();
        states.push_back(std::move(state));
    }
    return states;
}

void read_models(TomlTable& root, Machine& machine)
{
    for (TomlTable& table : root.tables("models")) {
        ExecutionModel model{new_name(table, machine.models), table.text_or("summary", ""),
                             table.indices("cores", static_cast<int>(machine.cores.size()))};
        table.finish();
        machine.models.push_back(std::move(model));
    }
}

} // namespace trencadis
