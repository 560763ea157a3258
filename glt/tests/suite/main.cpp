/// The program of the suite: over the back end of GLT_BACKEND, or over the one it was compiled for.
#include <cstdio>

#include "suite.hpp"
#include "watchdog.hpp"

namespace trencadis::suite {
namespace {

constexpr int skipped = 77; // what ctest reads as "skipped"

/// 0 when the back end is there and can be tested in this build.
int probe()
{
    GLT_options options{};
    options.num_threads = 1;
    const int status = glt_init_with(&options);
    if (status == GLT_ERROR_MISSING) {
        std::printf("GLT suite: skipped, the back end was not found: %s\n", glt_last_message());
        return skipped;
    }
    if (status != GLT_SUCCESS) return 1; // the standard handler has said why
    const bool untestable = sanitized && glt_can(GLT_CAN_SANITIZE) == GLT_CANNOT;
    if (untestable) std::printf("GLT suite: skipped, sanitizers cannot follow the units of '%s'\n", glt_backend_name());
    glt_finalize();
    return untestable ? skipped : 0;
}

} // namespace
} // namespace trencadis::suite

int main(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // a child that is forked only would lack the threads
    if (const int code = trencadis::suite::probe()) return code;
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    testing::TestEventListener* watchdog = trencadis::suite::make_watchdog();
    listeners.Append(watchdog);
    const int result = RUN_ALL_TESTS();
    delete listeners.Release(watchdog); // its thread uses variables that may be gone before GoogleTest's list is
    return result;
}
