#pragma once
#include "devices/backend.hpp"
#include "devices/driven/driver.hpp"

namespace trencadis::devices {

/// The devices of a driver's library that the words name: `which` is a number from 0, `all`, or nothing, which is 0; `memory=` is
/// how much of each is taken at most, `double=no` leaves double precision to the cores. `none`: what to install where there are
/// no devices. Throws Error.
DeviceList open_driven(const DeviceWords& words, DriverLibrary& library, const char* none);

} // namespace trencadis::devices
