// What ends a program ends it with a message: a stack that overflows, an exception that leaves a unit.
#include <stdexcept>
#include <unistd.h>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(GuardDeathTest);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas" // the next is new in GCC 12
#pragma GCC diagnostic ignored "-Winfinite-recursion"
[[gnu::noinline]] int overflow(int depth)
{
    volatile char frame[2048];
    frame[0] = static_cast<char>(depth);
    return overflow(depth + 1) + frame[0]; // not a tail call
}
#pragma GCC diagnostic pop

/// A frame of which only the far end is touched, as one with a large array in it.
template <int kib> [[gnu::noinline]] int use_far_end()
{
    volatile char frame[kib * 1024];
    frame[0] = 1;
    return frame[0];
}

/// In the child that is to die. It has no watchdog, but an alarm.
void run_named(const char* name, void (*function)(void*))
{
    alarm(20);
    glt_set_error_handler(nullptr);
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    attributes.name = name;
    GLT_ult unit = GLT_NULL;
    glt_ult_create_with(function, nullptr, &attributes, &unit);
    glt_ult_free(&unit);
}

TEST_P(GuardDeathTest, AnOverflownStackIsCaughtAndTheUnitNamed)
{
    if (glt_can(GLT_CAN_GUARD) == GLT_CANNOT) return; // nothing to call that could refuse
    EXPECT_DEATH(run_named("the_deep_one", [](void*) { overflow(0); }), "the_deep_one");
}

TEST_P(GuardDeathTest, AFrameLargerThanAPageDoesNotJumpOverTheGuard)
{
    if (glt_can(GLT_CAN_GUARD) == GLT_CANNOT) return; // nothing to call that could refuse
    const auto run = [](void (*function)(void*)) {
        GLT_options options{};
        options.num_threads = 1;
        options.stack_size = 65536;
        restart(options);
        Units others(30, [](int) { glt_yield(); }); // stacks on both sides
        run_named("the_wide_one", function);
        _exit(0);
    };
    EXPECT_DEATH(run([](void*) { use_far_end<80>(); }), "the_wide_one");
    EXPECT_DEATH(run([](void*) { use_far_end<150>(); }), "the_wide_one");
    EXPECT_DEATH(run([](void*) { use_far_end<300>(); }), "the_wide_one");
}

TEST_P(GuardDeathTest, TheMessageNamesTheUnitThatOverflowedAmongMany)
{
    if (glt_can(GLT_CAN_GUARD) == GLT_CANNOT) return; // nothing to call that could refuse
    const auto crowd = [] {
        Event gate;
        Units others(30, [&](int) { gate.wait(); });
        run_named("the_deep_one", [](void*) {
            for (int i = 0; i < 10; ++i) glt_yield();
            overflow(0);
        });
    };
    EXPECT_DEATH(crowd(), "the_deep_one");
}

TEST_P(GuardDeathTest, AnExceptionThatLeavesAUnitEndsTheProgramWithAMessage)
{
    EXPECT_DEATH(run_named("the_thrower", [](void*) { throw std::runtime_error("no way out"); }), "terminate|exception|thr[eo]w");
}

} // namespace
} // namespace trencadis::suite
