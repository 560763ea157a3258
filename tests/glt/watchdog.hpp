/// Aborts a program whose test does not end, with the test's name and what its threads are doing.
#pragma once

#include <gtest/gtest.h>

namespace trencadis::suite {

/// Give one to GoogleTest's listeners, which own it.
testing::TestEventListener* make_watchdog();

} // namespace trencadis::suite
