// Reading `backend:which,key=value`.
#include "devices/backend.hpp"

#include "base/error.hpp"
#include "devices/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trencadis::devices {
namespace {

constexpr std::string_view keys_of_all[] = {"always", "in-flight"}; ///< which back ends are not told

[[noreturn]] void refuse(std::string_view text, const std::string& why)
{
    throw Error(ErrorCode::bad_argument, "devices '" + std::string(text) + "': " + why +
                                             "; write backend:which,key=value, such as emulated:2,memory=64MiB");
}

DeviceWords::Option option_of(std::string_view text, std::string_view pair)
{
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == pair.size())
        refuse(text, fmt::format("'{}' is not key=value", pair));
    return {std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1))};
}

} // namespace

std::string_view word_of(Fault fault)
{
    constexpr std::string_view words[] = {"none", "bad argument", "out of memory", "copy failed", "kernel failed", "device lost"};
    return words[static_cast<std::size_t>(fault)];
}

DeviceWords read_device_words(std::string_view text)
{
    std::string_view rest = text;
    const auto next = [&rest] {
        const std::string_view part = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        return part;
    };
    if (text.ends_with(',')) refuse(text, "nothing stands behind the last comma");
    const std::string_view first = next();
    const std::size_t colon = first.find(':');
    DeviceWords words{std::string(first.substr(0, colon))};
    if (words.backend.empty()) refuse(text, "no back end is named");
    if (colon != std::string_view::npos) words.which = first.substr(colon + 1);
    if (colon != std::string_view::npos && words.which.empty()) refuse(text, "nothing stands behind the colon");
    while (!rest.empty()) {
        DeviceWords::Option option = option_of(text, next());
        if (words.find(option.key)) refuse(text, option.key + " is given twice");
        const std::string what = "devices '" + words.backend + "': " + option.key;
        if (option.key == "always") words.always = read_yes(what, option.value);
        if (option.key == "in-flight") words.in_flight = static_cast<int>(read_count(what, option.value, 16));
        words.options.push_back(std::move(option));
    }
    std::erase_if(words.options, [](const DeviceWords::Option& option) {
        return std::ranges::find(keys_of_all, option.key) != std::end(keys_of_all);
    });
    return words;
}

const std::string* DeviceWords::find(std::string_view key) const
{
    const auto found = std::find_if(options.begin(), options.end(), [key](const Option& option) { return option.key == key; });
    return found == options.end() ? nullptr : &found->value;
}

void DeviceWords::require_known(std::span<const std::string_view> keys) const
{
    std::vector<std::string_view> known(keys.begin(), keys.end());
    known.insert(known.end(), std::begin(keys_of_all), std::end(keys_of_all));
    for (const Option& option : options)
        if (std::ranges::find(known, option.key) == known.end())
            throw Error(ErrorCode::bad_argument, unknown_name("option of devices '" + backend + "'", option.key, known));
}

namespace {

/// act(backend, words) of the text.
template <class Act> auto by_backend(std::string_view text, const Act& act)
{
    const DeviceWords words = read_device_words(text);
    const Backend& backend = find_entry("devices", device_entries(), words.backend);
    try {
        return act(backend, words);
    } catch (const Error& error) { // of whatever is behind the word, which is not named everywhere there
        const std::string what = error.what();
        if (error.code() != ErrorCode::missing_backend || what.starts_with("devices '")) throw;
        throw Error(ErrorCode::missing_backend, "devices '" + words.backend + "': " + what);
    }
}

} // namespace

DeviceList open_devices(std::string_view text)
{
    return by_backend(text, [](const Backend& backend, const DeviceWords& words) { return backend.open(words); });
}

void start_drivers(std::string_view text)
{
    by_backend(text, [](const Backend& backend, const DeviceWords&) {
        if (backend.start) backend.start();
    });
}

bool take_part_always(std::string_view text) { return !text.empty() && read_device_words(text).always; }

int tasks_in_flight(std::string_view text) { return read_device_words(text).in_flight; }

bool are_emulated(std::string_view text)
{
    return !text.empty() && find_entry("devices", device_entries(), read_device_words(text).backend).emulates;
}

} // namespace trencadis::devices
