#include "devices/emulated/device.hpp"

#include "base/error.hpp"
#include "devices/backend.hpp"
#include "devices/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <unistd.h>

namespace trencadis {
namespace devices {
namespace {

constexpr std::string_view keys[] = {"memory",    "bandwidth",   "latency",  "speed",     "pageable",
                                     "direct",    "factors",     "lockable", "fail-lock", "fail-allocation",
                                     "fail-copy", "fail-kernel", "lose-at",  "full-copy", "full-copies"};
constexpr long most_devices = 64, most_works = 1'000'000'000;

/// Its memory is the host's.
std::size_t size_here(const std::string& what, const std::string& text)
{
    const double size = read_size(what, text), host = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
    if (size <= host) return static_cast<std::size_t>(size);
    throw Error(ErrorCode::bad_argument,
                fmt::format("{}={}, but an emulated device's memory is this machine's, which has {:.1f}GiB", what, text,
                            host / (1 << 30)));
}

/// `value` of all devices, or `first+second+...` of each.
std::string_view value_of(std::string_view what, std::string_view text, long device, long count)
{
    const long given = 1 + std::ranges::count(text, '+');
    if (given == 1) return text;
    if (given != count)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("{}={} has {} values, and there {} {} device{}; give one, or one for each", what, text, given,
                                count == 1 ? "is" : "are", count, count == 1 ? "" : "s"));
    for (; device > 0; --device) text.remove_prefix(text.find('+') + 1);
    return text.substr(0, text.find('+'));
}

EmulatedTraits traits_of(const DeviceWords& words, long device, long count)
{
    EmulatedTraits traits;
    traits.name = "emulated " + std::to_string(device);
    const std::string whose = "devices '" + words.backend + "': ";
    const auto with = [&](const char* key, const auto& take) {
        const std::string* const text = words.find(key);
        if (!text) return;
        const std::string value(value_of(whose + key, *text, device, count));
        take(whose + key, value);
        traits.model += fmt::format(", {}={}", key, value); // in our order
    };
    const auto number = [&](const char* key, long& into) {
        with(key, [&](const std::string& what, const std::string& text) { into = read_count(what, text, most_works); });
    };
    with("memory", [&](const auto& what, const auto& text) { traits.memory = size_here(what, text); });
    with("bandwidth", [&](const auto& what, const auto& text) { traits.bandwidth = read_bandwidth(what, text); });
    with("latency", [&](const auto& what, const auto& text) { traits.latency = read_time(what, text); });
    with("speed", [&](const auto& what, const auto& text) { traits.speed = read_speed(what, text); });
    with("pageable", [&](const auto& what, const auto& text) { traits.pageable = read_part(what, text); });
    with("factors", [&](const auto& what, const auto& text) { traits.factors = read_yes(what, text); });
    with("direct", [&](const auto& what, const auto& text) { traits.direct = read_yes(what, text); });
    number("fail-allocation", traits.fail_allocation);
    number("fail-copy", traits.fail_copy);
    number("fail-kernel", traits.fail_kernel);
    number("lose-at", traits.lose_at);
    number("full-copy", traits.full_copy);
    number("full-copies", traits.full_copies);
    if (words.find("full-copies") && traits.full_copy == 0)
        throw Error(ErrorCode::bad_argument, whose + "full-copies says how many of which full-copy is the first; give that too");
    return traits;
}

/// Of all of them: their host has one memory.
std::shared_ptr<LockedPages> pages_of(const DeviceWords& words)
{
    const std::string* const lockable = words.find("lockable");
    const std::string* const fail_lock = words.find("fail-lock");
    return std::make_shared<LockedPages>(lockable ? size_here("devices 'emulated': lockable", *lockable) : SIZE_MAX,
                                         fail_lock ? read_count("devices 'emulated': fail-lock", *fail_lock, most_works) : 0);
}

DeviceList open_emulated(const DeviceWords& words)
{
    words.require_known(keys);
    const long count = words.which.empty() ? 1 : read_count("devices 'emulated': how many", words.which, most_devices);
    const std::shared_ptr<LockedPages> locked = pages_of(words);
    DeviceList list;
    for (long d = 0; d < count; ++d) {
        EmulatedTraits traits = traits_of(words, d, count);
        traits.locked = locked;
        list.push_back(std::make_unique<EmulatedDevice>(std::move(traits)));
    }
    return list;
}

} // namespace
} // namespace devices

extern const DeviceBackend device_emulated;
const DeviceBackend device_emulated{
    {"emulated", "threads with a memory that the host cannot read: for tests; its speed is settable and says nothing",
     "trencadis"},
    [] { return std::string(); },
    devices::open_emulated,
    true,
};

} // namespace trencadis
