#pragma once
#include <string>
#include <vector>

namespace trencadis {

/// Where an axis from 0 to `end` is marked: multiples of 1, 2 or 5 times a power of ten, at most `most` of them and, for an end
/// above 0, at least two.
struct Ticks {
    std::vector<double> positions;
    int decimals; ///< that the labels need
};

Ticks nice_ticks(double end, int most);

/// A tick's label: no more decimals than told, thousands apart by thin spaces.
std::string tick_label(double position, int decimals);

/// A time with three digits in the unit that suits it: "12.3 ms", "870 ns".
std::string duration_label(double seconds);

} // namespace trencadis
