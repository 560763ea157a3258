#pragma once
#include "observe/trace.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis {

struct Rgb {
    std::uint8_t r, g, b;
};

std::string to_hex(Rgb colour); ///< "#0072b2"
/// `share` of white in `colour`, from 0 to 1.
Rgb lighten(Rgb colour, double share);

/// Colours of kernels, told apart by people with any common form of colour blindness (Okabe and Ito 2008, then
/// Tol's muted scheme). A well-known kernel has the same colour in every picture; the others take what is left, by total time.
class KernelPalette {
public:
    explicit KernelPalette(const Trace& trace);

    int count() const { return int(names_.size()); }
    int index(const char* event_name) const; ///< of an event of the trace; remembers the address
    int index(const std::string& name) const { return indices_.find(name)->second; }
    const std::string& name(int index) const { return names_[std::size_t(index)]; }
    Rgb colour(int index) const { return colours_[std::size_t(index)]; }

private:
    std::vector<std::string> names_; ///< by total time, longest first
    std::vector<Rgb> colours_;
    std::map<std::string, int, std::less<>> indices_;
    mutable std::map<const char*, int> by_address_; ///< the same name seldom comes from two addresses
};

/// Light yellow for the earliest to dark violet for the latest: viridis (van der Walt and Smith 2015) reversed, even to the eye
/// and in grey. `position` from 0 to 1.
Rgb sequential_colour(double position);

} // namespace trencadis
