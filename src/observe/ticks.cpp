#include "observe/ticks.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace trencadis {

Ticks nice_ticks(double end, int most)
{
    if (!(end > 0) || !std::isfinite(end)) return {{0.0}, 0};
    const double least = end / std::max(most - 1, 1);
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    double step = 10 * power;
    for (double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least * (1 - 1e-9)) {
            step = factor * power;
            break;
        }
    Ticks ticks{{}, std::max(0, -int(std::floor(std::log10(step) + 1e-9)))};
    for (int i = 0; i * step <= end * (1 + 1e-9); ++i) ticks.positions.push_back(i * step);
    return ticks;
}

std::string tick_label(double position, int decimals)
{
    std::string text = fmt::format("{:.{}f}", position, decimals);
    const std::size_t point = std::min(text.find('.'), text.size());
    for (std::size_t i = point; i > 3 && i - 3 > (text[0] == '-' ? 1U : 0U);) text.insert(i -= 3, "\u2009");
    return text;
}

std::string duration_label(double seconds)
{
    struct Unit {
        double seconds;
        const char* name;
    };
    static constexpr Unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
    const Unit* unit = units;
    while (unit + 1 != std::end(units) && seconds < 0.9995 * unit->seconds) ++unit;
    const double value = seconds / unit->seconds;
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit->name);
}

} // namespace trencadis
