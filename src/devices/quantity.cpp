#include "devices/quantity.hpp"

#include "base/error.hpp"

#include <charconv>
#include <span>
#include <string>

namespace trencadis::devices {
namespace {

struct Unit {
    std::string_view word;
    double worth;
};
struct Quantity {
    std::span<const Unit> units;
    double least, most;
    std::string_view right; ///< the end of a message
};

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view right)
{
    throw Error(ErrorCode::bad_argument, std::string(what) + "=" + std::string(text) + ", must be " + std::string(right));
}

double read(std::string_view what, std::string_view text, const Quantity& quantity)
{
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const Unit& known : quantity.units)
        if (error == std::errc() && unit == known.word) {
            const double value = number * known.worth;
            if (value >= quantity.least && value <= quantity.most) return value;
        }
    refuse(what, text, quantity.right);
}

constexpr double kib = 1024, mib = kib * kib, gib = mib * kib;
constexpr Unit sizes[] = {{"KiB", kib}, {"MiB", mib}, {"GiB", gib}, {"TiB", 1024 * gib},
                          {"kB", 1e3},  {"MB", 1e6},  {"GB", 1e9},  {"TB", 1e12}};
constexpr Unit bandwidths[] = {{"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}};
constexpr Unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit speeds[] = {{"MFlop/s", 1e6}, {"GFlop/s", 1e9}, {"TFlop/s", 1e12}};

} // namespace

double read_size(std::string_view what, std::string_view text)
{
    return read(what, text, {sizes, 1e3, 1e15, "a size of at least 1kB and at most 1000TB, such as 64MiB or 2GB"});
}

double read_bandwidth(std::string_view what, std::string_view text)
{
    return read(what, text, {bandwidths, 1e5, 1e13, "bytes per second from 100kB/s to 10000GB/s, such as 4GB/s"});
}

double read_time(std::string_view what, std::string_view text)
{
    return read(what, text, {times, 0, 1, "a time of at most 1s and not below 0, such as 10us"});
}

double read_speed(std::string_view what, std::string_view text)
{
    return read(what, text, {speeds, 1e6, 1e16, "a speed from 1MFlop/s to 10000TFlop/s, such as 50GFlop/s"});
}

double read_part(std::string_view what, std::string_view text)
{
    constexpr Unit none[] = {{"", 1}};
    return read(what, text, {none, 1e-6, 1, "a part of 1 from 0.000001 on, such as 0.5"});
}

bool read_yes(std::string_view what, std::string_view text)
{
    if (text != "yes" && text != "no") refuse(what, text, "yes or no");
    return text == "yes";
}

long read_count(std::string_view what, std::string_view text, long most)
{
    long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= most) return number;
    refuse(what, text, "a whole number from 1 to " + std::to_string(most));
}

} // namespace trencadis::devices
