// Many units: a million one after the other, deep recursion, more threads and units than cores.
#include <algorithm>
#include <limits>
#include <string>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(LoadTest);

/// Creates and joins units in batches.
void churn(int count)
{
    constexpr int batch = 500;
    std::atomic<long> ran = 0;
    std::vector<GLT_ult> units(batch);
    auto body = [&] { ran.fetch_add(1, std::memory_order_relaxed); };
    for (int done = 0; done < count; done += batch) {
        for (GLT_ult& unit : units) unit = create(body);
        for (GLT_ult& unit : units) glt_ult_join(&unit);
        for (GLT_ult& unit : units) glt_ult_free(&unit);
    }
    ASSERT_EQ(ran, (count + 499) / 500 * 500L);
}

/// A million units, or as many as fit into a few seconds, at least 20,000.
int churn_size()
{
    if (long_version()) return 1'000'000;
    const int probe = 2000;
    const double began = glt_get_wtime();
    churn(probe);
    const double each = (glt_get_wtime() - began) / probe, budget = 1.5;
    return static_cast<int>(std::clamp(budget / each, sanitized ? 4'000.0 : 20'000.0, 1'000'000.0));
}

/// A sanitizer's records of what is gone grow too.
constexpr long allowance_kib = sanitized ? 32768 : 256;

/// KiB that memory grows by in the quietest of five parts. Caches fill once, in one part or another; what units leave behind
/// grows in all.
template <class Part> long steady_growth(Part&& part)
{
    long least = std::numeric_limits<long>::max();
    for (int i = 0; i < 5; ++i) {
        const long before = resident_kib();
        part();
        least = std::min(least, resident_kib() - before);
    }
    return least;
}

/// A stack of MassiveThreads stays with the worker its unit ended on, so units that are stolen leave more and more of them there.
bool stolen_stacks_pile_up() { return std::string(glt_backend_name()) == "massivethreads" && glt_get_num_threads() > 1; }

TEST_P(LoadTest, MemoryDoesNotGrowWithTheNumberOfUnits)
{
    if (stolen_stacks_pile_up()) GTEST_SKIP() << "this library keeps the stacks of stolen units where they ended";
    const int count = churn_size();
    const long grown = steady_growth([&] { churn(count / 5); });
    EXPECT_LT(grown, allowance_kib + 16L * (count / 5) / 1024)
        << "KiB over " << count / 5 << " units, that is 16 bytes each and a few pages";
}

TEST_P(LoadTest, MemoryDoesNotGrowWithDetachedUnitsAndTasklets)
{
    if (stolen_stacks_pile_up()) GTEST_SKIP() << "this library keeps the stacks of stolen units where they ended";
    const int rounds = unit_is_os_thread() || sanitized ? 10 : 100, batch = 200;
    const auto once = [&] {
        Counter left(0);
        GLT_attributes attributes;
        glt_attributes_init(&attributes);
        attributes.detached = 1;
        attributes.counter = left.handle;
        for (int i = 0; i < batch; ++i) {
            ASSERT_EQ(glt_ult_create_with([](void*) {}, nullptr, &attributes, GLT_NULL), GLT_SUCCESS);
            ASSERT_EQ(glt_tasklet_create_with([](void*) {}, nullptr, &attributes, GLT_NULL), GLT_SUCCESS);
        }
        left.wait();
    };
    const auto part = [&] {
        for (int i = 0; i < rounds / 5; ++i) once();
    };
    EXPECT_LT(steady_growth(part), allowance_kib + 16L * 2 * batch * (rounds / 5) / 1024);
}

/// Fork-join, with a unit for each call.
struct Fibonacci {
    int n;
    long result = 0;

    static void run(void* self)
    {
        Fibonacci& me = *static_cast<Fibonacci*>(self);
        if (me.n < 2) {
            me.result = me.n;
            return;
        }
        Fibonacci left{me.n - 1}, right{me.n - 2};
        GLT_ult unit = GLT_NULL;
        glt_ult_create(run, &left, &unit);
        run(&right);
        glt_ult_join(&unit);
        glt_ult_free(&unit);
        me.result = left.result + right.result;
    }
};

TEST_P(LoadTest, RecursionWithAUnitPerCallComesToTheRightNumber)
{
    Fibonacci small{unit_is_os_thread() || sanitized ? 12 : 18};
    Fibonacci::run(&small);
    EXPECT_EQ(small.result, small.n == 12 ? 144 : 2584);
    Fibonacci inside{10}; // from a unit instead of the main program
    GLT_ult unit = GLT_NULL;
    glt_ult_create(Fibonacci::run, &inside, &unit);
    glt_ult_free(&unit);
    EXPECT_EQ(inside.result, 55);
}

struct Nested {
    int depth;
    int reached = 0;

    static void run(void* self)
    {
        Nested& me = *static_cast<Nested*>(self);
        me.reached = 1;
        if (me.depth == 1) return;
        Nested inner{me.depth - 1};
        GLT_ult unit = GLT_NULL;
        glt_ult_create(run, &inner, &unit);
        glt_ult_join(&unit);
        glt_ult_free(&unit);
        me.reached += inner.reached;
    }
};

TEST_P(LoadTest, JoinsNestTenThousandDeep)
{
    // An OS thread for each would meet the system's limits, ThreadSanitizer's own is 8,128.
    const int depth = unit_is_os_thread() || sanitized ? 1000 : 10'000;
    Nested outer{depth};
    Nested::run(&outer);
    EXPECT_EQ(outer.reached, depth);
}

TEST_P(LoadTest, ManyUnitsLiveAtOnce)
{
    const int count = unit_is_os_thread() || sanitized ? 500 : 5000;
    Event gate;
    Counter waiting(count);
    std::atomic<int> through = 0;
    Units units(count, [&](int) {
        waiting.add(-1);
        gate.wait();
        through++;
    });
    waiting.wait();
    EXPECT_EQ(through, 0);
    gate.set();
    units.wait();
    EXPECT_EQ(through, count);
}

TEST(Oversubscription, ManyMoreThreadsThanCores)
{
    GLT_options options{};
    options.num_threads = 16;
    ASSERT_EQ(glt_init_with(&options), GLT_SUCCESS) << glt_last_message();
    EXPECT_EQ(glt_get_num_threads(), 16);
    std::atomic<int> runs = 0;
    {
        Mutex mutex;
        long guarded = 0;
        for (int round = 0; round < 3; ++round)
            run_units(300, [&](int i) {
                for (int k = 0; k < 5; ++k) {
                    mutex.lock();
                    guarded++;
                    mutex.unlock();
                    if (i % 3 == 0) glt_yield();
                }
                runs++;
            });
        EXPECT_EQ(guarded, 3 * 300 * 5);
    }
    EXPECT_EQ(runs, 900);
    glt_finalize();
    EXPECT_EQ(taken_status(), GLT_SUCCESS);
}

} // namespace
} // namespace trencadis::suite
