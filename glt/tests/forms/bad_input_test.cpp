// Bad input to libglt.so: for every line of the tables a status and a message, and nothing else happens.
#include "harness.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

namespace {

using glt_forms::Errors;
using glt_forms::Running;

void nothing(void*) {}

struct Line {
    const char* what;
    std::function<void()> call;
    int status;
    const char* message; ///< what the line of text must contain
};

void check_all(const std::vector<Line>& lines)
{
    for (const Line& line : lines) {
        SCOPED_TRACE(line.what);
        Errors errors;
        line.call();
        ASSERT_EQ(errors.count(), 1u) << errors.text();
        EXPECT_EQ(errors.status(), line.status) << errors.text();
        EXPECT_NE(errors.text().find(line.message), std::string::npos) << errors.text();
        EXPECT_EQ(glt_last_message(), errors.text());
        EXPECT_EQ(glt_last_status(), line.status);
        EXPECT_EQ(glt_last_status(), GLT_SUCCESS) << "the question forgets it";
    }
}

template <class Answer> void expect_same(Answer answer, Answer expected) { EXPECT_EQ(answer, expected); }

/// A handle that is not null without being one: good for calls that must not come so far as to use it.
template <class Handle> Handle some()
{
    alignas(16) static char place[16];
    return reinterpret_cast<Handle>(place);
}

std::vector<Line> calls_without_a_library()
{
    static GLT_ult ult = some<GLT_ult>();
    static GLT_barrier barrier = some<GLT_barrier>();
    static void* value;
    const char* const said = "the library is not initialised";
    const int state = GLT_ERROR_STATE;
    return {
        {"create", [] { glt_ult_create(nothing, nullptr, &ult), expect_same<GLT_ult>(ult, nullptr), ult = some<GLT_ult>(); },
         state, said},
        {"create_to", [] { glt_tasklet_create_to(nothing, nullptr, &ult, 0), ult = some<GLT_ult>(); }, state, said},
        {"create_with",
         [] { expect_same(glt_ult_create_with(nothing, nullptr, nullptr, &ult), GLT_ERROR_STATE + 0), ult = some<GLT_ult>(); },
         state, said},
        {"join", [] { glt_ult_join(&ult), expect_same(ult, some<GLT_ult>()); }, state, said},
        {"free", [] { glt_tasklet_free(&ult), expect_same(ult, some<GLT_ult>()); }, state, said},
        {"try_join", [] { expect_same(glt_ult_try_join(&ult), GLT_ERROR_STATE + 0); }, state, said},
        {"malloc", [] { expect_same<GLT_ult*>(glt_ult_malloc(4), nullptr); }, state, said},
        {"yield", [] { glt_yield(); }, state, said},
        {"suspend", [] { expect_same(glt_ult_suspend(), GLT_ERROR_STATE + 0); }, state, said},
        {"lock", [] { glt_mutex_lock(some<GLT_mutex>()); }, state, said},
        {"trylock", [] { expect_same(glt_mutex_trylock(some<GLT_mutex>()), 0); }, state, said},
        {"barrier", [] { glt_barrier_wait(&barrier); }, state, said},
        {"cond", [] { glt_cond_wait(some<GLT_cond>(), some<GLT_mutex>()); }, state, said},
        {"counter", [] { expect_same(glt_counter_add(some<GLT_counter>(), 1), GLT_ERROR_STATE + 0); }, state, said},
        {"event", [] { expect_same(glt_event_wait_for(some<GLT_event>(), 0.0), GLT_ERROR_STATE + 0); }, state, said},
        {"key", [] { glt_key_get(some<GLT_key>(), &value), expect_same<void*>(value, nullptr); }, state, said},
        {"timer", [] { glt_timer_start(some<GLT_timer>()); }, state, said},
        {"thread number", [] { expect_same(glt_get_thread_num(), -1); }, state, said},
        {"capability", [] { expect_same(glt_can(GLT_CAN_JOIN), GLT_CANNOT + 0); }, state, said},
        {"a null handle too", [] { glt_mutex_lock(nullptr); }, state, said},
        {"finalize", [] { glt_finalize(); }, state, said},
    };
}

} // namespace

TEST(BadInput, CallsBeforeInitAndAfterFinalizeReportTheState)
{
    check_all(calls_without_a_library());
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        {
            Running running(backend);
        }
        check_all(calls_without_a_library());
    }
}

TEST(BadInput, WhatNeedsNoLibraryAnswersWithoutOne)
{
    Errors errors;
    EXPECT_EQ(glt_initialized(), 0);
    EXPECT_STREQ(glt_backend_name(), "");
    EXPECT_EQ(glt_get_num_threads(), 0);
    EXPECT_GT(glt_get_wtime(), 0);
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    EXPECT_EQ(attributes.thread, GLT_ANY_THREAD);
    EXPECT_STREQ(glt_status_text(GLT_SUCCESS), "success");
    EXPECT_STREQ(glt_status_text(-1), "no status of GLT");
    EXPECT_STREQ(glt_status_text(1000), "no status of GLT");
    EXPECT_EQ(errors.count(), 0u) << errors.text();
}

TEST(BadInput, NoFunctionCrashesOnZerosAndNulls)
{
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        Running running(backend);
        Errors errors;
        glt_forms::call_everything_with_zeros();
        EXPECT_GT(errors.count(), 40u);
        EXPECT_EQ(glt_initialized(), 1);
    }
    Errors errors;
    glt_forms::call_everything_with_zeros();
    EXPECT_GT(errors.count(), 60u);
}

TEST(BadInput, NullHandlesAndNullPointersAreRefused)
{
    static GLT_ult null_unit = nullptr;
    static GLT_barrier null_barrier = nullptr;
    static GLT_mutex null_mutex = nullptr;
    static GLT_counter null_counter = nullptr;
    static GLT_ult unit;
    const int handle = GLT_ERROR_HANDLE, value = GLT_ERROR_VALUE;
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        Running running(backend);
        check_all({
            {"join", [] { glt_ult_join(&null_unit); }, handle, "glt_ult_join: the handle is null"},
            {"join of nothing", [] { glt_ult_join(nullptr); }, handle, "glt_ult_join: the pointer to the handle is null"},
            {"tasklet join", [] { glt_tasklet_join(&null_unit); }, handle, "glt_tasklet_join: the handle is null"},
            {"free", [] { glt_ult_free(&null_unit); }, handle, "glt_ult_free: the handle is null"},
            {"try_join", [] { glt_ult_try_join(&null_unit); }, handle, "glt_ult_try_join: the handle is null"},
            {"join_for", [] { glt_ult_join_for(&null_unit, 1); }, handle, "glt_ult_join_for: the handle is null"},
            {"detach", [] { glt_tasklet_detach(&null_unit); }, handle, "glt_tasklet_detach: the handle is null"},
            {"yield_to", [] { glt_yield_to(nullptr); }, handle, "glt_yield_to: the handle is null"},
            {"resume", [] { glt_ult_resume(nullptr); }, handle, "glt_ult_resume: the handle is null"},
            {"cancel", [] { glt_ult_cancel(nullptr); }, handle, "glt_ult_cancel: the handle is null"},
            {"id",
             [] {
                 GLT_ult_id id = 7;
                 glt_ult_get_id(&id, nullptr), expect_same<GLT_ult_id>(id, 0);
             },
             handle, "glt_ult_get_id: the handle is null"},
            {"lock", [] { glt_mutex_lock(nullptr); }, handle, "glt_mutex_lock: the handle is null"},
            {"unlock", [] { glt_mutex_unlock(nullptr); }, handle, "glt_mutex_unlock: the handle is null"},
            {"trylock", [] { expect_same(glt_mutex_trylock(nullptr), 0); }, handle, "glt_mutex_trylock: the handle is null"},
            {"spinlock", [] { glt_mutex_spinlock(nullptr); }, handle, "glt_mutex_spinlock: the handle is null"},
            {"mutex free", [] { glt_mutex_free(&null_mutex); }, handle, "glt_mutex_free: the handle is null"},
            {"barrier", [] { glt_barrier_wait(&null_barrier); }, handle, "glt_barrier_wait: the handle is null"},
            {"cond", [] { glt_cond_wait(nullptr, nullptr); }, handle, "glt_cond_wait: the handle is null"},
            {"signal", [] { glt_cond_signal(nullptr); }, handle, "glt_cond_signal: the handle is null"},
            {"counter", [] { glt_counter_wait(nullptr); }, handle, "glt_counter_wait: the handle is null"},
            {"counter free", [] { glt_counter_free(&null_counter); }, handle, "glt_counter_free: the handle is null"},
            {"event", [] { glt_event_set(nullptr); }, handle, "glt_event_set: the handle is null"},
            {"key", [] { glt_key_set(nullptr, nullptr); }, handle, "glt_key_set: the handle is null"},
            {"timer", [] { glt_timer_stop(nullptr); }, handle, "glt_timer_stop: the handle is null"},
            {"function", [] { glt_ult_create(nullptr, nullptr, &unit); }, value, "glt_ult_create: the function is null"},
            {"function to", [] { glt_tasklet_create_to(nullptr, nullptr, &unit, 0); }, value,
             "glt_tasklet_create_to: the function is null"},
            {"unit", [] { glt_ult_create(nothing, nullptr, nullptr); }, value,
             "glt_ult_create: the pointer to where the handle goes is null"},
            {"unit with", [] { glt_ult_create_with(nothing, nullptr, nullptr, nullptr); }, value,
             "glt_ult_create_with: the pointer to where"},
            {"mutex", [] { glt_mutex_create(nullptr); }, value, "glt_mutex_create: the pointer to where the handle goes is null"},
            {"counter place", [] { glt_counter_create(1, nullptr); }, value, "glt_counter_create: the pointer to where"},
            {"value place", [] { glt_key_get(nullptr, nullptr); }, value,
             "glt_key_get: the pointer to where the value goes is null"},
            {"self", [] { glt_ult_self(nullptr); }, value, "glt_ult_self: the pointer to where"},
            {"thread id", [] { glt_workunit_get_thread_id(nullptr); }, value, "glt_workunit_get_thread_id: the pointer to where"},
            {"attributes", [] { glt_attributes_init(nullptr); }, value, "glt_attributes_init: the pointer"},
        });
    }
}

TEST(BadInput, NumbersOutOfTheirRangeAreRefused)
{
    static GLT_ult unit;
    static GLT_barrier barrier;
    static GLT_counter counter;
    static GLT_event event;
    static GLT_ult ready;
    static const auto create = [](auto change) {
        GLT_attributes attributes;
        glt_attributes_init(&attributes);
        change(attributes);
        EXPECT_EQ(glt_ult_create_with(nothing, nullptr, &attributes, &unit), GLT_ERROR_VALUE);
        EXPECT_EQ(unit, nullptr);
    };
    const int value = GLT_ERROR_VALUE;
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        Running running(backend);
        ASSERT_EQ(glt_event_create(&event), GLT_SUCCESS);
        glt_ult_create(nothing, nullptr, &ready);
        check_all({
            {"thread 2 of 2", [] { glt_ult_create_to(nothing, nullptr, &unit, 2); }, value,
             "thread 2 was asked for, there are 0 to 1"},
            {"thread -1", [] { glt_tasklet_create_to(nothing, nullptr, &unit, -1); }, value,
             "thread -1 was asked for, there are 0 to 1"},
            {"attributes.thread 2", [] { create([](auto& a) { a.thread = 2; }); }, value,
             "thread 2 was asked for, there are 0 to 1"},
            {"attributes.thread -2", [] { create([](auto& a) { a.thread = -2; }); }, value,
             "thread -2 was asked for, there are 0 to 1"},
            {"stack", [] { create([](auto& a) { a.stack_size = 100; }); }, value,
             "a stack of 100 bytes is too small; at least 16384"},
            {"stack by one", [] { create([](auto& a) { a.stack_size = GLT_STACK_MIN - 1; }); }, value,
             "a stack of 16383 bytes is too small"},
            {"placement", [] { create([](auto& a) { a.placement = 5; }); }, value, "placement 5 is neither"},
            {"strict", [] { create([](auto& a) { a.placement = GLT_PLACE_STRICT; }); }, value,
             "GLT_PLACE_STRICT needs a thread, not GLT_ANY_THREAD"},
            {"migrate", [] { glt_ult_migrate_self_to(2); }, value, "thread 2 was asked for, there are 0 to 1"},
            {"barrier of 0", [] { glt_barrier_create(0, &barrier), expect_same<GLT_barrier>(barrier, nullptr); }, value,
             "a barrier for 0 units"},
            {"barrier of -1", [] { glt_barrier_create(-1, &barrier); }, value,
             "a barrier for -1 units was asked for; at least 1"},
            {"count", [] { glt_counter_create(-3, &counter), expect_same<GLT_counter>(counter, nullptr); }, value,
             "a count of -3 was given; 0 or more"},
            {"timeout", [] { glt_event_wait_for(event, -1); }, value, "-1 seconds were given; 0 or more"},
            {"timeout nan", [] { glt_ult_join_for(&ready, std::nan("")); }, value, "nan seconds were given; 0 or more"},
            {"malloc", [] { expect_same<GLT_ult*>(glt_ult_malloc(-1), nullptr); }, value, "-1 handles were asked for; 0 or more"},
            {"capability", [] { expect_same(glt_can(GLT_CAPABILITIES), GLT_CANNOT + 0); }, value,
             "glt_can: capability 23 was asked for"},
        });
        glt_ult_free(&ready);
        EXPECT_EQ(glt_event_free(&event), GLT_SUCCESS);
    }
}

TEST(BadInput, ACounterDoesNotGoBelowZero)
{
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        Running running(backend);
        GLT_counter counter;
        ASSERT_EQ(glt_counter_create(2, &counter), GLT_SUCCESS);
        {
            Errors errors;
            EXPECT_EQ(glt_counter_add(counter, -3), GLT_ERROR_VALUE);
            EXPECT_NE(errors.text().find("glt_counter_add"), std::string::npos) << errors.text();
        }
        EXPECT_EQ(glt_counter_add(counter, -2), GLT_SUCCESS) << "nothing was changed before";
        EXPECT_EQ(glt_counter_wait(counter), GLT_SUCCESS);
        EXPECT_EQ(glt_counter_free(&counter), GLT_SUCCESS);
        EXPECT_EQ(counter, nullptr);
    }
}
