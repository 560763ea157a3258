#include "machine/split_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trencadis {

namespace {

constexpr double gap = 1.25;

/// Measured cores of one kind in groups of equal speed, slowest group first.
std::vector<std::vector<Core*>> speed_groups(Machine& machine, int kind)
{
    std::vector<Core*> cores;
    for (Core& core : machine.cores)
        if (core.kind == kind && core.gflops > 0) cores.push_back(&core);
    std::stable_sort(cores.begin(), cores.end(), [](const Core* a, const Core* b) { return a->gflops < b->gflops; });
    std::vector<std::vector<Core*>> groups;
    for (Core* core : cores) {
        if (groups.empty() || core->gflops > gap * groups.back().back()->gflops) groups.emplace_back();
        groups.back().push_back(core);
    }
    return groups;
}

} // namespace

void split_kinds(Machine& machine)
{
    std::vector<CoreKind> kinds;
    std::vector<int> new_kind(machine.cores.size());
    for (int k = 0; k < static_cast<int>(machine.kinds.size()); ++k) {
        const int first = static_cast<int>(kinds.size());
        kinds.push_back(machine.kinds[k]);
        for (std::size_t c = 0; c < machine.cores.size(); ++c)
            if (machine.cores[c].kind == k) new_kind[c] = first;
        const auto groups = speed_groups(machine, k);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (g > 0) kinds.push_back(machine.kinds[k]);
            if (groups.size() > 1)
                kinds.back().name = fmt::format("{}-{:.3g}gflops", machine.kinds[k].name, groups[g].back()->gflops);
            kinds.back().peak_gflops = groups[g].back()->gflops;
            for (const Core* core : groups[g]) new_kind[core - machine.cores.data()] = first + static_cast<int>(g);
        }
    }
    for (std::size_t c = 0; c < machine.cores.size(); ++c) machine.cores[c].kind = new_kind[c];
    machine.kinds = std::move(kinds);
}

} // namespace trencadis
