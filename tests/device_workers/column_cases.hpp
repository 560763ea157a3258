#pragma once
#include "random_matrix.hpp"
#include "session/session.hpp"

#include <string>

/// What the tests of factorizations by block columns have in common.
namespace trencadis::testing {

/// Of one core and devices.
inline SessionOptions with(const std::string& devices, const std::string& scheduler = "eager")
{
    SessionOptions options;
    options.scheduler = scheduler;
    options.devices = devices;
    options.worker_count = 1;
    return options;
}

} // namespace trencadis::testing
