#include "devices/driven/choice.hpp"

#include "base/error.hpp"
#include "devices/driven/device.hpp"
#include "devices/quantity.hpp"

#include <fmt/format.h>

#include <charconv>

namespace trencadis::devices {
namespace {

constexpr std::string_view keys[] = {"memory", "double"};

/// "0 (a name), 1 (another)".
std::string listed(const std::vector<std::string>& names)
{
    std::string text;
    for (std::size_t number = 0; number < names.size(); ++number)
        text += fmt::format("{}{} ({})", number ? ", " : "", number, names[number]);
    return text;
}

std::vector<std::size_t> choose(const DeviceWords& words, const std::vector<std::string>& names)
{
    if (words.which == "all") {
        std::vector<std::size_t> all(names.size());
        for (std::size_t number = 0; number < all.size(); ++number) all[number] = number;
        return all;
    }
    std::size_t number = 0;
    const char* const last = words.which.data() + words.which.size();
    const auto [end, error] = std::from_chars(words.which.data(), last, number);
    if (!words.which.empty() && (error != std::errc() || end != last))
        throw Error(ErrorCode::bad_argument, fmt::format("devices '{0}': {1}, must be a device's number or all; there are {2}",
                                                         words.backend, words.which, listed(names)));
    if (number < names.size()) return {number};
    throw Error(ErrorCode::bad_argument,
                fmt::format("devices '{}:{}': there is no such device; there are {}", words.backend, number, listed(names)));
}

/// What blocks of the device may take: what it has, or less.
std::size_t limit_of(const DeviceWords& words, const Driver& driver)
{
    const std::string* const text = words.find("memory");
    const std::string what = fmt::format("devices '{}': memory", words.backend);
    if (!text) return driver.bytes();
    const auto bytes = static_cast<std::size_t>(read_size(what, *text));
    if (bytes <= driver.bytes()) return bytes;
    throw Error(ErrorCode::bad_argument,
                fmt::format("{}={}, but the device has {:.1f}MiB for blocks", what, *text, double(driver.bytes()) / (1 << 20)));
}

/// What was said of its memory counts, what happens to be free there does not.
std::string model_of(const DeviceWords& words, const std::string& name, const std::string& version)
{
    std::string model = fmt::format("{}: {}, {}", words.backend, name, version);
    for (const std::string_view key : keys)
        if (const std::string* const said = words.find(key)) model += fmt::format(", {}={}", key, *said);
    return model;
}

} // namespace

DeviceList open_driven(const DeviceWords& words, DriverLibrary& library, const char* none)
{
    words.require_known(keys);
    const std::string* const twice = words.find("double");
    const bool has_double = !twice || read_yes(fmt::format("devices '{}': double", words.backend), *twice);
    const std::vector<std::string> names = library.names();
    if (names.empty())
        throw Error(ErrorCode::missing_backend, fmt::format("devices '{}': this machine has none; {}", words.backend, none));
    DeviceList list;
    for (const std::size_t number : choose(words, names)) {
        std::unique_ptr<Driver> driver = library.open(number);
        const std::size_t limit = limit_of(words, *driver);
        list.push_back(std::make_unique<DrivenDevice>(fmt::format("{} {}", words.backend, number),
                                                      model_of(words, names[number], library.version(number)), std::move(driver),
                                                      limit, !has_double));
    }
    return list;
}

} // namespace trencadis::devices
