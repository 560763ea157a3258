#pragma once
#include "base/registry.hpp"
#include "devices/device.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis::devices {

/// `backend`, `backend:which` or either with `,key=value` behind it, as a user names devices.
struct DeviceWords {
    struct Option {
        std::string key, value;
    };
    std::string backend;
    std::string which = {};           ///< numbers, `all`, how many: as the back end says; empty: not said
    std::vector<Option> options = {}; ///< but for what follows, which is no back end's
    bool always = false; ///< they take part in every call that has tasks for them, whether that is expected to be faster or not
    int in_flight = 2;   ///< tasks that each of them takes at a time, 1 to 16

    /// Throws Error{bad_argument} for a key that is none of these, with the one that was probably meant.
    void require_known(std::span<const std::string_view> keys) const;
    const std::string* find(std::string_view key) const;
};
/// Throws Error{bad_argument} where the text is not of this form or a key is given twice.
DeviceWords read_device_words(std::string_view text);

using DeviceList = std::vector<std::unique_ptr<Device>>;

/// What brings devices: the build list is the registry.
struct Backend : Entry {
    std::string (*why_not)(); ///< why there are none here, empty when there are
    /// Throws Error{bad_argument} for words that mean nothing here, Error{missing_backend} where there is no such device, and
    /// Error{environment} where it does not start.
    DeviceList (*open)(const DeviceWords& words);
    bool emulates = false;     ///< how fast its devices are says nothing of any hardware
    void (*start)() = nullptr; ///< its drivers, for which it may wait long; throws as `open`
};

/// The devices that the text names.
DeviceList open_devices(std::string_view text);
/// Starts the drivers of what the text names, as far as that may take long: before locks are taken that others wait for.
/// Throws as open_devices.
void start_drivers(std::string_view text);
/// `always` of the text, which was read by open_devices or is empty.
bool take_part_always(std::string_view text);
/// `in-flight` of the text, likewise.
int tasks_in_flight(std::string_view text);
/// Are they emulated? The text was read by open_devices.
bool are_emulated(std::string_view text);

} // namespace trencadis::devices

namespace trencadis {
using DeviceBackend = devices::Backend;
std::span<const DeviceBackend* const> device_entries();
} // namespace trencadis
