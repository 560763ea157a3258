#pragma once
#include "devices/cuda/api.hpp"

#include <chrono>
#include <optional>

namespace trencadis::devices::cuda {

/// cuInit, from which a driver whose GPU does not answer may never return: on a thread of its own, which is waited for so long.
/// Nothing: it has not returned; the next who asks waits for the same call. By one thread at a time (AsGuest).
std::optional<Result> start_driver(const Api& api, std::chrono::milliseconds patience);

/// Of users: TRENCADIS_DRIVER_SECONDS, or two minutes. Throws Error{bad_argument} where that is no such number.
std::chrono::milliseconds patience_with_drivers();

} // namespace trencadis::devices::cuda
