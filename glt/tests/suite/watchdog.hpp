/// Aborts a program whose test does not end, with the test's name and what its threads are doing.
#pragma once

#include <gtest/gtest.h>

namespace trencadis::suite {

/// For the listeners of GoogleTest, from which it is taken before the program ends.
testing::TestEventListener* make_watchdog();

} // namespace trencadis::suite
