// Values local to a unit, timers, and the clock.
#include <pthread.h>
#include <unistd.h>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(KeyTest);
GLT_SUITE(TimerTest);

struct Key {
    GLT_key handle = GLT_NULL;
    explicit Key(void (*destructor)(void*) = nullptr) { glt_key_create(destructor, &handle); }
    Key(const Key&) = delete;
    ~Key() { glt_key_free(&handle); }
    void set(void* value) { glt_key_set(handle, value); }
    void* get()
    {
        void* value = this;
        glt_key_get(handle, &value);
        return value;
    }
};

TEST_P(KeyTest, ValuesBelongToTheirUnit)
{
    Key one, two;
    int mine = 0;
    EXPECT_EQ(one.get(), nullptr);
    one.set(&mine);
    std::vector<int> values(100);
    std::atomic<int> wrong = 0;
    run_units(100, [&](int i) {
        wrong += one.get() != nullptr || two.get() != nullptr;
        one.set(&values[i]);
        glt_yield();
        wrong += one.get() != &values[i] || two.get() != nullptr;
        two.set(&values[99 - i]);
        for (int round = 0; round < 5; ++round) glt_yield();
        wrong += one.get() != &values[i] || two.get() != &values[99 - i];
        one.set(nullptr);
        wrong += one.get() != nullptr;
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(one.get(), &mine);
    EXPECT_EQ(two.get(), nullptr);
}

std::atomic<int> destroyed_calls;
std::atomic<long> destroyed_sum;

void count_destroyed(void* value)
{
    destroyed_calls++;
    destroyed_sum += *static_cast<int*>(value);
}

TEST_P(KeyTest, DestructorsRunWhenTheUnitEnds)
{
    destroyed_calls = 0;
    destroyed_sum = 0;
    Key key(count_destroyed), without;
    std::vector<int> values(100);
    Units units(100, [&](int i) {
        values[i] = i;
        without.set(&values[i]);
        if (i % 2) key.set(&values[i]);
        if (i % 4 == 1) glt_yield();
        if (i % 10 == 9) key.set(nullptr); // nothing left to destroy
    });
    units.wait();
    // Odd ones from 0 to 99 without 9, 19, ... 99.
    EXPECT_EQ(destroyed_calls, 40);
    EXPECT_EQ(destroyed_sum, 2500 - 540);
}

TEST_P(KeyTest, DestructorsRunWhenAUnitExits)
{
    if (glt_can(GLT_CAN_EXIT) == GLT_CANNOT) return; // FinishTest has the refusal
    destroyed_calls = 0;
    Key key(count_destroyed);
    int value = 1;
    run_units(10, [&](int) {
        key.set(&value);
        glt_ult_exit();
    });
    EXPECT_EQ(destroyed_calls, 10);
}

TEST_P(KeyTest, ValuesStayWithAUnitThatMigrates)
{
    if (glt_can(GLT_CAN_MIGRATE) == GLT_CANNOT) return; // PlacementTest has the refusal
    Key key;
    std::vector<int> values(20);
    std::atomic<int> wrong = 0;
    run_units(20, [&](int i) {
        key.set(&values[i]);
        for (int thread = 0; thread < threads(); ++thread) {
            glt_ult_migrate_self_to(thread);
            wrong += key.get() != &values[i];
            glt_yield();
        }
    });
    EXPECT_EQ(wrong, 0);
}

TEST_P(KeyTest, ManyKeysAtOnceAndAKeyMadeAnewIsEmpty)
{
    int value = 0;
    std::vector<std::unique_ptr<Key>> keys;
    for (int i = 0; i < 40; ++i) keys.push_back(std::make_unique<Key>());
    for (auto& key : keys) key->set(&value);
    run_units(4, [&](int) {
        for (auto& key : keys) EXPECT_EQ(key->get(), nullptr);
        for (auto& key : keys) key->set(&value);
        for (auto& key : keys) EXPECT_EQ(key->get(), &value);
    });
    keys.clear();
    for (int i = 0; i < 40; ++i) {
        keys.push_back(std::make_unique<Key>());
        EXPECT_EQ(keys.back()->get(), nullptr) << "the value of a freed key does not come back";
    }
}

TEST_P(KeyTest, ForeignThreadsHaveTheirOwnValues)
{
    Key key;
    int mine = 0, theirs = 0;
    key.set(&mine);
    const auto check = [&] {
        EXPECT_EQ(key.get(), nullptr);
        key.set(&theirs);
        EXPECT_EQ(key.get(), &theirs);
    };
    {
        Foreign one(check), two(check);
    }
    EXPECT_EQ(key.get(), &mine);
}

/// All keys of the system's threads that are left.
std::vector<pthread_key_t> use_up_keys()
{
    std::vector<pthread_key_t> keys;
    for (pthread_key_t key; pthread_key_create(&key, nullptr) == 0;) keys.push_back(key);
    return keys;
}

/// How many of the system's keys have a value in the calling thread.
int system_values()
{
    int count = 0;
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key) count += pthread_getspecific(key) != nullptr;
    return count;
}

/// In a process of its own, in which no foreign thread had a value before; exits with 0 when all is right.
[[noreturn]] void set_without_system_keys()
{
    alarm(20);
    const std::vector<pthread_key_t> all_keys = use_up_keys();
    GLT_key key = GLT_NULL;
    glt_key_create(count_destroyed, &key);
    if (key == GLT_key{}) _exit(9);
    int value = 1;
    std::thread([&] {
        const int before = system_values();
        glt_key_set(key, &value);
        const bool refused = glt_last_status() == GLT_ERROR_ENVIRONMENT;
        if (system_values() != before) _exit(8); // one of the program's
        void* found = nullptr;
        glt_key_get(key, &found);
        if (found != (refused ? nullptr : &value)) _exit(7);
    }).join();
    glt_key_set(key, &value); // a unit needs none
    void* found = nullptr;
    glt_key_get(key, &found);
    if (found != &value) _exit(6);
    for (pthread_key_t each : all_keys) pthread_key_delete(each);
    destroyed_calls = 0;
    std::thread([&] { glt_key_set(key, &value); }).join(); // there are some again
    _exit(destroyed_calls == 1 ? 0 : 5);
}

TEST_P(KeyTest, AForeignThreadDoesWithoutTheSystemsKeysOrSaysThatItCannot)
{
    EXPECT_EXIT(set_without_system_keys(), testing::ExitedWithCode(0), "");
}

TEST_P(TimerTest, MeasuresBetweenStartAndStop)
{
    GLT_timer timer = GLT_NULL;
    glt_timer_create(&timer);
    for (double length : {0.001, 0.01}) {
        glt_timer_start(timer);
        spin_for(length);
        glt_timer_stop(timer);
        double seconds = -1;
        glt_timer_get_secs(timer, &seconds);
        EXPECT_GE(seconds, length * 0.999);
        EXPECT_LT(seconds, length + 2.0);
    }
    glt_timer_free(&timer);
    EXPECT_EQ(timer, GLT_timer{});
}

TEST_P(TimerTest, TheClockDoesNotGoBackAndCountsSeconds)
{
    std::atomic<int> back = 0;
    run_units(8, [&](int) {
        double last = glt_get_wtime();
        for (int i = 0; i < 200; ++i) {
            if (i % 10 == 0) glt_yield(); // it may go on on another core
            const double now = glt_get_wtime();
            back += now < last;
            last = now;
        }
    });
    EXPECT_EQ(back, 0);
    const double began = glt_get_wtime();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double took = glt_get_wtime() - began;
    EXPECT_GE(took, 0.0199);
    EXPECT_LT(took, 2.0);
}

} // namespace
} // namespace trencadis::suite
