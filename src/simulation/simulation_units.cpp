#include "simulation/simulation_units.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace trencadis {
namespace {

[[noreturn]] void refuse(const std::string& word, const std::string& why)
{
    throw Error(ErrorCode::bad_argument, "workers: '" + word + "' " + why);
}

bool read_number(std::string_view text, int& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

/// "3" or "4-7".
bool read_range(std::string_view text, int& first, int& last)
{
    const std::size_t dash = text.find('-');
    if (dash == text.npos) return read_number(text, first) && read_number(text, last);
    return read_number(text.substr(0, dash), first) && read_number(text.substr(dash + 1), last);
}

bool drives_a_device(const Machine& machine, int core, std::span<const int> devices)
{
    return std::any_of(devices.begin(), devices.end(), [&](int d) { return machine.devices[d].host_core == core; });
}

std::string known_names(const Machine& machine)
{
    std::string names;
    const auto add = [&names](const std::string& name) {
        if ((", " + names + ", ").find(", " + name + ", ") == names.npos) names += (names.empty() ? "" : ", ") + name;
    };
    for (const CoreKind& kind : machine.kinds) add(kind.name);
    for (const Device& device : machine.devices) add(device.kind);
    for (const Device& device : machine.devices) add(device.name);
    return names;
}

class Chooser {
public:
    explicit Chooser(const Machine& machine) : machine_(machine) {}

    void add(const std::string& word)
    {
        int first = 0, last = 0;
        if (read_range(word, first, last)) add_numbers(word, first, last);
        else add_named(word);
    }
    ChosenUnits chosen;
    std::vector<std::pair<int, int>> wanted; ///< kind and count of cores named by kind: after the devices are known
    std::vector<std::string> words;

private:
    void take(std::vector<int>& list, int unit, const std::string& word)
    {
        if (std::find(list.begin(), list.end(), unit) != list.end()) refuse(word, "names a unit that was named before");
        list.push_back(unit);
    }
    void add_numbers(const std::string& word, int first, int last)
    {
        if (last < first) refuse(word, "is an empty range");
        for (int number = first; number <= last; ++number) {
            const auto core =
                std::find_if(machine_.cores.begin(), machine_.cores.end(), [&](const Core& c) { return c.cpu == number; });
            if (core == machine_.cores.end())
                refuse(word, "names core " + std::to_string(number) + "; " + machine_.name + " has " +
                                 std::to_string(machine_.cores.size()) + " cores here");
            take(chosen.cores, static_cast<int>(core - machine_.cores.begin()), word);
        }
    }
    void add_named(const std::string& word)
    {
        const std::size_t colon = word.find(':');
        const std::string name = word.substr(0, colon);
        int count = -1;
        if (colon != word.npos && (!read_number(std::string_view(word).substr(colon + 1), count) || count < 1))
            refuse(word, "must be NAME:COUNT with a count of at least 1");
        for (std::size_t kind = 0; kind < machine_.kinds.size(); ++kind)
            if (machine_.kinds[kind].name == name) {
                words.push_back(word);
                return wanted.emplace_back(static_cast<int>(kind), count), void();
            }
        int found = 0;
        for (std::size_t d = 0; d < machine_.devices.size(); ++d) {
            if (machine_.devices[d].name != name && machine_.devices[d].kind != name) continue;
            if (count >= 0 && found == count) break;
            take(chosen.devices, static_cast<int>(d), word);
            ++found;
        }
        if (found == 0) refuse(word, "is neither a number nor known on " + machine_.name + "; known: " + known_names(machine_));
        if (found < count) refuse(word, "asks for more than the " + std::to_string(found) + " there are");
    }

    const Machine& machine_;
};

} // namespace

ChosenUnits choose_units(const Machine& machine, std::span<const std::string> words)
{
    Chooser chooser(machine);
    for (const std::string& word : words) chooser.add(word);
    ChosenUnits& chosen = chooser.chosen;
    if (words.empty()) {
        chosen.devices.resize(machine.devices.size());
        std::iota(chosen.devices.begin(), chosen.devices.end(), 0);
        for (std::size_t kind = 0; kind < machine.kinds.size(); ++kind) chooser.wanted.emplace_back(static_cast<int>(kind), -1);
    }
    for (const int core : chosen.cores)
        if (drives_a_device(machine, core, chosen.devices))
            refuse(std::to_string(machine.cores[core].cpu), "drives a device that is a worker, so it computes nothing itself");
    for (std::size_t w = 0; w < chooser.wanted.size(); ++w) {
        const auto [kind, count] = chooser.wanted[w];
        int found = 0;
        for (int core = 0; core < static_cast<int>(machine.cores.size()); ++core) {
            const bool free = machine.cores[core].kind == kind && !drives_a_device(machine, core, chosen.devices) &&
                              std::find(chosen.cores.begin(), chosen.cores.end(), core) == chosen.cores.end();
            if (!free || (count >= 0 && found == count)) continue;
            chosen.cores.push_back(core);
            ++found;
        }
        if (found < count) refuse(chooser.words[w], "asks for more than the " + std::to_string(found) + " that are free");
    }
    if (words.empty()) std::sort(chosen.cores.begin(), chosen.cores.end());
    if (chosen.cores.empty())
        throw Error(ErrorCode::bad_argument, "workers: none is a core, and somebody has to submit the tasks");
    return chosen;
}

Machine awake_part(Machine machine, std::string_view model)
{
    std::vector<int> awake = cores_of_model(machine, model);
    std::sort(awake.begin(), awake.end());
    std::vector<int> place(machine.cores.size(), -1);
    std::vector<Core> cores;
    for (const int core : awake) {
        place[core] = static_cast<int>(cores.size());
        cores.push_back(machine.cores[core]);
    }
    for (Device& device : machine.devices)
        if (device.host_core >= 0) device.host_core = place[device.host_core];
    machine.cores = std::move(cores);
    machine.caches.clear();
    machine.models.clear();
    return machine;
}

} // namespace trencadis
