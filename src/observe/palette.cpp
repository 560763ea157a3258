#include "observe/palette.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace trencadis {

namespace {

constexpr Rgb blue{0x00, 0x72, 0xB2}, orange{0xE6, 0x9F, 0x00}, green{0x00, 0x9E, 0x73}, vermilion{0xD5, 0x5E, 0x00};
constexpr Rgb purple{0xCC, 0x79, 0xA7}, sky{0x56, 0xB4, 0xE9}, yellow{0xF0, 0xE4, 0x42}, indigo{0x33, 0x22, 0x88};
constexpr Rgb wine{0x88, 0x22, 0x55}, olive{0x99, 0x99, 0x33}, teal{0x44, 0xAA, 0x99}, dark_green{0x11, 0x77, 0x33};
constexpr Rgb black{0x22, 0x22, 0x22};

struct Known {
    std::string_view name;
    Rgb colour;
};
constexpr Known known_kernels[] = {
    {"gemm", blue},       {"trsm", orange},     {"syrk", green},      {"herk", green},
    {"potrf", vermilion}, {"getrf", vermilion}, {"geqrf", vermilion},
};
constexpr Rgb free_colours[] = {sky, purple, yellow, wine, teal, olive, indigo, dark_green, green, orange, blue, vermilion};

std::map<std::string, std::int64_t, std::less<>> time_by_name(const Trace& trace)
{
    std::map<std::string, std::int64_t, std::less<>> times;
    for (const WorkerTrace& worker : trace.workers)
        for (const Event& event : worker.events) {
            if (event.kind == EventKind::idle) continue;
            auto found = times.find(std::string_view(event.name));
            if (found == times.end()) found = times.emplace(event.name, 0).first;
            found->second += event.end_ns - event.begin_ns;
        }
    return times;
}

bool same(Rgb a, Rgb b) { return a.r == b.r && a.g == b.g && a.b == b.b; }

/// The first free colour that is not in use; black when none is left.
Rgb next_free(std::span<const Rgb> used)
{
    for (Rgb candidate : free_colours)
        if (std::none_of(used.begin(), used.end(), [&](Rgb u) { return same(u, candidate); })) return candidate;
    return black;
}

} // namespace

std::string to_hex(Rgb colour) { return fmt::format("#{:02x}{:02x}{:02x}", colour.r, colour.g, colour.b); }

Rgb lighten(Rgb colour, double share)
{
    const auto mix = [share](std::uint8_t c) { return static_cast<std::uint8_t>(std::lround(c + (255 - c) * share)); };
    return {mix(colour.r), mix(colour.g), mix(colour.b)};
}

KernelPalette::KernelPalette(const Trace& trace)
{
    const auto times = time_by_name(trace);
    for (const auto& [name, time] : times) names_.push_back(name);
    std::stable_sort(names_.begin(), names_.end(),
                     [&](const std::string& a, const std::string& b) { return times.at(a) > times.at(b); });
    colours_.assign(names_.size(), black);
    std::vector<bool> chosen(names_.size(), false);
    std::vector<Rgb> used;
    for (std::size_t i = 0; i < names_.size(); ++i)
        for (const Known& known : known_kernels)
            if (names_[i] == known.name) {
                used.push_back(colours_[i] = known.colour);
                chosen[i] = true;
            }
    for (std::size_t i = 0; i < names_.size(); ++i) {
        if (!chosen[i]) used.push_back(colours_[i] = next_free(used));
        indices_.emplace(names_[i], int(i));
    }
}

int KernelPalette::index(const char* event_name) const
{
    const auto seen = by_address_.find(event_name);
    if (seen != by_address_.end()) return seen->second;
    return by_address_[event_name] = indices_.find(std::string_view(event_name))->second;
}

Rgb sequential_colour(double position)
{
    static constexpr Rgb stops[] = {{0xFD, 0xE7, 0x25}, {0xB5, 0xDE, 0x2B}, {0x6E, 0xCE, 0x58}, {0x35, 0xB7, 0x79},
                                    {0x1F, 0x9E, 0x89}, {0x26, 0x82, 0x8E}, {0x31, 0x68, 0x8E}, {0x3E, 0x49, 0x89},
                                    {0x48, 0x28, 0x78}, {0x44, 0x01, 0x54}};
    constexpr int last = int(std::size(stops)) - 1;
    const double x = std::clamp(position, 0.0, 1.0) * last;
    const int i = std::min(int(x), last - 1);
    const auto mix = [t = x - i](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(std::lround(a + (b - a) * t));
    };
    return {mix(stops[i].r, stops[i + 1].r), mix(stops[i].g, stops[i + 1].g), mix(stops[i].b, stops[i + 1].b)};
}

} // namespace trencadis
