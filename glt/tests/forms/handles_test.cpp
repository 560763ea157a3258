// Handles of units through libglt.so: joined once, freed once, whatever the back end makes of a second time.
#include "harness.hpp"

#include <atomic>
#include <gtest/gtest.h>

namespace {

using glt_forms::Errors;
using glt_forms::Running;

std::atomic<int> ran;
void count(void*) { ++ran; }

void expect_error(int status, const char* message)
{
    const std::string text = glt_last_message();
    EXPECT_EQ(glt_last_status(), status) << text;
    EXPECT_NE(text.find(message), std::string::npos) << text;
}

class Handles : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override { ASSERT_EQ(running.status, GLT_SUCCESS) << errors.text(); }
    Errors errors;
    Running running{GetParam()};
};

} // namespace

TEST_P(Handles, ASecondJoinIsFoundAndTheUnitCanStillBeFreed)
{
    GLT_ult unit;
    GLT_tasklet tasklet;
    glt_ult_create(count, nullptr, &unit);
    glt_tasklet_create(count, nullptr, &tasklet);
    glt_ult_join(&unit);
    glt_tasklet_join(&tasklet);
    EXPECT_EQ(errors.count(), 0u) << errors.text();

    glt_ult_join(&unit);
    expect_error(GLT_ERROR_HANDLE, "glt_ult_join: the unit was joined already");
    glt_tasklet_join(&tasklet);
    expect_error(GLT_ERROR_HANDLE, "glt_tasklet_join: the unit was joined already");
    EXPECT_EQ(glt_ult_try_join(&unit), GLT_ERROR_HANDLE);
    EXPECT_EQ(glt_ult_join_for(&unit, 0), GLT_ERROR_HANDLE);
    EXPECT_EQ(glt_ult_detach(&unit), GLT_ERROR_HANDLE);
    EXPECT_EQ(glt_ult_resume(unit), GLT_ERROR_HANDLE);
    glt_yield_to(unit);
    expect_error(GLT_ERROR_HANDLE, "glt_yield_to: the unit was joined already");
    glt_ult_cancel(unit);
    expect_error(GLT_ERROR_HANDLE, "glt_ult_cancel: the unit was joined already");

    const std::size_t before = errors.count();
    GLT_ult_id id = 0;
    glt_ult_get_id(&id, unit);
    EXPECT_NE(id, 0u) << "a joined unit has its number until it is freed";
    glt_ult_free(&unit);
    glt_tasklet_free(&tasklet);
    EXPECT_EQ(errors.count(), before) << errors.text();
    EXPECT_EQ(unit, nullptr);
    EXPECT_EQ(tasklet, nullptr);
}

TEST_P(Handles, ASecondFreeIsFound)
{
    GLT_ult unit;
    GLT_tasklet tasklet;
    glt_ult_create(count, nullptr, &unit);
    glt_tasklet_create(count, nullptr, &tasklet);
    glt_ult_free(&unit);
    glt_tasklet_free(&tasklet);
    EXPECT_EQ(errors.count(), 0u) << errors.text();
    glt_ult_free(&unit);
    expect_error(GLT_ERROR_HANDLE, "glt_ult_free: the handle is null");
    glt_ult_join(&unit);
    expect_error(GLT_ERROR_HANDLE, "glt_ult_join: the handle is null");
    glt_tasklet_free(&tasklet);
    expect_error(GLT_ERROR_HANDLE, "glt_tasklet_free: the handle is null");
}

TEST_P(Handles, CopiesAreFoundToBeStaleWhereHandlesCarryAGeneration)
{
    if (GetParam() == "argobots") GTEST_SKIP() << "its handles are Argobots' own";
    GLT_ult unit;
    glt_ult_create(count, nullptr, &unit);
    GLT_ult copy = unit;
    glt_ult_join(&unit);
    glt_ult_join(&copy);
    expect_error(GLT_ERROR_HANDLE, "glt_ult_join: ");
    EXPECT_EQ(errors.count(), 1u) << errors.text();
    glt_ult_free(&unit);
    EXPECT_EQ(errors.count(), 1u) << errors.text();
    glt_ult_free(&copy);
    expect_error(GLT_ERROR_HANDLE, "glt_ult_free: ");
    glt_ult_join(&copy);
    expect_error(GLT_ERROR_HANDLE, "glt_ult_join: ");
    EXPECT_EQ(glt_ult_resume(copy), GLT_ERROR_HANDLE);
    EXPECT_EQ(glt_ult_detach(&copy), GLT_ERROR_HANDLE);
    EXPECT_NE(copy, nullptr) << "a call that fails has done nothing";
}

TEST_P(Handles, WhatWasFreedIsFoundThroughItsVariable)
{
    GLT_mutex mutex;
    glt_mutex_create(&mutex);
    glt_mutex_free(&mutex);
    glt_mutex_free(&mutex);
    expect_error(GLT_ERROR_HANDLE, "glt_mutex_free: the handle is null");
    GLT_barrier barrier;
    glt_barrier_create(1, &barrier);
    glt_barrier_free(&barrier);
    glt_barrier_wait(&barrier);
    expect_error(GLT_ERROR_HANDLE, "glt_barrier_wait: the handle is null");
    GLT_cond cond;
    glt_cond_create(&cond);
    glt_cond_free(&cond);
    glt_cond_free(&cond);
    expect_error(GLT_ERROR_HANDLE, "glt_cond_free: the handle is null");
    GLT_counter counter;
    glt_counter_create(0, &counter);
    glt_counter_free(&counter);
    EXPECT_EQ(glt_counter_free(&counter), GLT_ERROR_HANDLE);
    GLT_event event;
    glt_event_create(&event);
    glt_event_free(&event);
    EXPECT_EQ(glt_event_free(&event), GLT_ERROR_HANDLE);
    GLT_key key;
    glt_key_create(nullptr, &key);
    glt_key_free(&key);
    glt_key_free(&key);
    expect_error(GLT_ERROR_HANDLE, "glt_key_free: the handle is null");
    GLT_timer timer;
    glt_timer_create(&timer);
    glt_timer_free(&timer);
    glt_timer_free(&timer);
    expect_error(GLT_ERROR_HANDLE, "glt_timer_free: the handle is null");
}

TEST_P(Handles, AnErrorInsideTheUnitDoesNotHideThatItWasJoined)
{
    GLT_ult unit;
    glt_ult_create([](void*) { glt_mutex_lock(nullptr); }, nullptr, &unit);
    glt_ult_join(&unit);
    EXPECT_EQ(errors.count(), 1u);
    glt_ult_join(&unit);
    EXPECT_NE(errors.text().find("joined already"), std::string::npos) << errors.text();
    glt_ult_free(&unit);
    EXPECT_EQ(unit, nullptr);
}

TEST_P(Handles, AJoinThatFailsInsideTheUnitIsNotTakenForThatOfTheUnit)
{
    GLT_ult unit;
    GLT_tasklet tasklet;
    glt_ult_create([](void*) { glt_ult_join(nullptr); }, nullptr, &unit);
    glt_ult_join(&unit);
    EXPECT_EQ(glt_ult_try_join(&unit), GLT_ERROR_HANDLE) << "it was joined, whatever it did itself";
    EXPECT_NE(errors.text().find("joined already"), std::string::npos) << errors.text();
    glt_ult_free(&unit);
    glt_tasklet_create([](void*) { glt_tasklet_free(nullptr); }, nullptr, &tasklet); // which reports whenever it runs
    glt_tasklet_free(&tasklet);
    EXPECT_EQ(unit, nullptr);
    EXPECT_EQ(tasklet, nullptr);
}

TEST_P(Handles, ATimedJoinThatComesTooEarlyLeavesTheUnitToBeJoined)
{
    static GLT_event event;
    ASSERT_EQ(glt_event_create(&event), GLT_SUCCESS);
    GLT_ult unit;
    glt_ult_create([](void*) { glt_event_wait(event); }, nullptr, &unit);
    EXPECT_EQ(glt_ult_join_for(&unit, 0.01), GLT_TIMEOUT);
    EXPECT_EQ(glt_ult_try_join(&unit), GLT_BUSY);
    EXPECT_EQ(glt_event_set(event), GLT_SUCCESS);
    EXPECT_EQ(glt_ult_join_for(&unit, 60), GLT_SUCCESS);
    EXPECT_EQ(glt_ult_try_join(&unit), GLT_ERROR_HANDLE);
    glt_ult_free(&unit);
    glt_event_free(&event);
    EXPECT_EQ(errors.count(), 1u) << errors.text();
}

TEST_P(Handles, ADetachedUnitRunsAndItsHandleIsGone)
{
    ran = 0;
    GLT_counter counter;
    ASSERT_EQ(glt_counter_create(0, &counter), GLT_SUCCESS);
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    attributes.counter = counter;
    GLT_ult unit;
    ASSERT_EQ(glt_ult_create_with(count, nullptr, &attributes, &unit), GLT_SUCCESS);
    EXPECT_EQ(glt_ult_detach(&unit), GLT_SUCCESS);
    EXPECT_EQ(unit, nullptr);
    attributes.detached = 1;
    ASSERT_EQ(glt_ult_create_with(count, nullptr, &attributes, nullptr), GLT_SUCCESS);
    EXPECT_EQ(glt_counter_wait(counter), GLT_SUCCESS);
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(glt_counter_free(&counter), GLT_SUCCESS);
    EXPECT_EQ(errors.count(), 0u) << errors.text();
}

INSTANTIATE_TEST_SUITE_P(EachBackEnd, Handles, testing::ValuesIn(glt_forms::backends()),
                         [](const auto& info) { return info.param; });
