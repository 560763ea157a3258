// What a back end says it can do, it does. Refusals of what it cannot are with the tests of the calls themselves.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(CapabilityTest);

TEST_P(CapabilityTest, EveryBitIsOneOfTheThreeAnswersAndStaysTheSame)
{
    for (int bit = 0; bit < GLT_CAPABILITIES; ++bit) {
        const int answer = glt_can(bit);
        EXPECT_TRUE(answer == GLT_CANNOT || answer == GLT_EMULATED || answer == GLT_NATIVELY) << bit;
        EXPECT_EQ(glt_can(bit), answer);
        run_units(1, [&](int) { EXPECT_EQ(glt_can(bit), answer) << bit; });
    }
}

TEST_P(CapabilityTest, UnknownBitsCannot)
{
    for (int bit : {-1, static_cast<int>(GLT_CAPABILITIES), 1 << 20}) {
        EXPECT_EQ(glt_can(bit), GLT_CANNOT);
        EXPECT_EQ(glt_last_status(), GLT_ERROR_VALUE);
    }
    EXPECT_EQ(taken_status(), GLT_ERROR_VALUE);
}

TEST_P(CapabilityTest, WhatEveryBackEndMustHaveIsThere)
{
    for (int bit : {GLT_CAN_JOIN, GLT_CAN_MUTEX, GLT_CAN_BARRIER, GLT_CAN_COND, GLT_CAN_KEY, GLT_CAN_TASKLET})
        EXPECT_NE(glt_can(bit), GLT_CANNOT) << bit;
    EXPECT_TRUE(glt_can(GLT_CAN_IDLE_SPIN) || glt_can(GLT_CAN_IDLE_SPIN_SLEEP) || glt_can(GLT_CAN_IDLE_SLEEP));
}

TEST_P(CapabilityTest, OurOwnBackEndLacksNothing)
{
    if (std::string(glt_backend_name()) != "native") return; // a statement about one back end
    for (int bit = 0; bit < GLT_CAPABILITIES; ++bit)
        if (bit != GLT_CAN_SANITIZE) {
            EXPECT_NE(glt_can(bit), GLT_CANNOT) << bit;
        }
}

TEST_P(CapabilityTest, SanitizersFollowUnitsOnlyWhereTheBackEndIsInstrumented)
{
    // The tests and the back ends of one build are both instrumented, or neither is.
    const std::string name = glt_backend_name();
    const bool ours = name == "native" || name == "os";
    EXPECT_EQ(glt_can(GLT_CAN_SANITIZE), ours && sanitized ? GLT_NATIVELY : GLT_CANNOT);
}

TEST_P(CapabilityTest, ThePublishedQueriesAnswerNo)
{
    EXPECT_EQ(glt_can_event_functions(), 0);
    EXPECT_EQ(glt_can_future_functions(), 0);
    EXPECT_EQ(glt_can_manage_scheduler(), 0);
    EXPECT_EQ(glt_can_scheduler(), 0);
    EXPECT_EQ(glt_can_malleability(), 0);
}

TEST_P(CapabilityTest, EveryStatusHasAText)
{
    for (int status = GLT_SUCCESS; status <= GLT_ERROR_ENVIRONMENT; ++status) {
        ASSERT_NE(glt_status_text(status), nullptr);
        EXPECT_STRNE(glt_status_text(status), "");
        for (int other = GLT_SUCCESS; other < status; ++other) EXPECT_STRNE(glt_status_text(status), glt_status_text(other));
    }
    ASSERT_NE(glt_status_text(4711), nullptr);
    ASSERT_NE(glt_status_text(-1), nullptr);
}

extern "C" int glt_suite_c_units(int count); // c_face.c

TEST_P(CapabilityTest, ProgramsInCSeeTheSameLibrary)
{
    EXPECT_EQ(glt_suite_c_units(100), 100);
    run_units(4, [](int) { EXPECT_EQ(glt_suite_c_units(10), 10); });
}

} // namespace
} // namespace trencadis::suite
