// Random programs against a sequential oracle: units that create, join, yield, suspend, lock and wait at random moments.
#include <cstdlib>
#include <random>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(RandomTest);

std::uint64_t mix(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9ull;
    return x ^ (x >> 29);
}

/// Unit u is created by a unit with a smaller number, and joined by one with a smaller number, not always the same one. All
/// create first and then wait only for greater numbers, so that no program can be in a circle. The value of a unit is a
/// hash over the values of those it joins, in their order: it does not depend on when anything runs.
struct Program {
    struct Plan {
        std::vector<int> creates, joins, resumes;
        int suspends = 0, sections = 0;
        std::uint64_t seed = 0;
    };
    std::vector<Plan> plans;
    bool suspension, foreign_resume;

    Program(std::uint64_t seed, int units) : plans(units)
    {
        suspension = glt_can(GLT_CAN_SUSPEND) != GLT_CANNOT;
        foreign_resume = glt_can(GLT_CAN_FOREIGN_RESUME) != GLT_CANNOT;
        std::mt19937_64 random(seed);
        for (int u = 0; u < units; ++u) {
            plans[u].seed = random();
            plans[u].sections = static_cast<int>(random() % 4);
            if (u == 0) continue;
            const int near = std::max(0, u - 1 - static_cast<int>(random() % 8)); // some programs deep, some broad
            const int parent = random() % 2 ? near : static_cast<int>(random() % u);
            plans[parent].creates.push_back(u);
            plans[random() % 3 ? parent : static_cast<int>(random() % u)].joins.push_back(u);
            if (suspension && random() % 4 == 0) { // u wakes one with a smaller number
                const int sleeper = static_cast<int>(random() % u);
                if (plans[sleeper].suspends == 0) {
                    plans[sleeper].suspends = 1;
                    plans[u].resumes.push_back(sleeper);
                }
            }
        }
    }
    std::uint64_t oracle(int u) const
    {
        std::uint64_t value = plans[u].seed;
        for (int joined : plans[u].joins) value = mix(value, oracle(joined));
        return value;
    }
    long sections() const
    {
        long sum = 0;
        for (const Plan& plan : plans) sum += plan.sections;
        return sum;
    }
};

class Execution {
public:
    explicit Execution(const Program& program)
        : program_(program), units_(program.plans.size()), values_(units_.size()), selves_(units_.size()),
          created_(units_.size()), started_(units_.size())
    {
        for (std::size_t u = 0; u < units_.size(); ++u) tasks_.push_back({this, static_cast<int>(u)});
    }
    void run()
    {
        glt_ult_create(start, &tasks_[0], &units_[0]);
        glt_ult_join(&units_[0]);
        left_.wait(); // not all are joined by those that unit 0 waits for
        for (GLT_ult& unit : units_) glt_ult_free(&unit);
        EXPECT_EQ(values_[0], program_.oracle(0));
        EXPECT_EQ(guarded_, program_.sections());
        EXPECT_EQ(overlaps_, 0);
    }

private:
    struct Task {
        Execution* execution;
        int unit;
    };
    static void start(void* task) { static_cast<Task*>(task)->execution->body(static_cast<Task*>(task)->unit); }

    void body(int u)
    {
        const Program::Plan& plan = program_.plans[u];
        std::mt19937 random(static_cast<unsigned>(plan.seed));
        glt_ult_self(&selves_[u]);
        started_[u].set();
        for (int child : plan.creates) {
            glt_ult_create(start, &tasks_[child], &units_[child]);
            created_[child].set();
            dawdle(random);
        }
        for (int i = 0; i < plan.sections; ++i) section(random);
        for (int sleeper : plan.resumes) wake(sleeper, random);
        if (plan.suspends) {
            EXPECT_EQ(glt_ult_suspend(), GLT_SUCCESS);
        }
        std::uint64_t value = plan.seed;
        for (int other : plan.joins) {
            created_[other].wait();
            join(other, random);
            value = mix(value, values_[other]);
            dawdle(random);
        }
        values_[u] = value;
        left_.add(-1);
    }
    void join(int other, std::mt19937& random)
    {
        switch (random() % 3) {
        case 0: glt_ult_join(&units_[other]); break;
        case 1: yield_until([&] { return glt_ult_try_join(&units_[other]) == GLT_SUCCESS; }); break;
        case 2: yield_until([&] { return glt_ult_join_for(&units_[other], 1e-6 * (random() % 200)) == GLT_SUCCESS; }); break;
        }
    }
    void section(std::mt19937& random)
    {
        if (random() % 4 == 0) yield_until([&] { return glt_mutex_trylock(mutex_.handle) == 1; });
        else if (random() % 4 == 0) glt_mutex_spinlock(mutex_.handle);
        else mutex_.lock();
        overlaps_ += inside_.exchange(true);
        const long before = guarded_;
        dawdle(random);
        guarded_ = before + 1;
        inside_ = false;
        mutex_.unlock();
    }
    void wake(int sleeper, std::mt19937& random)
    {
        started_[sleeper].wait(); // every unit starts: those that create wait for nothing before
        dawdle(random);
        if (program_.foreign_resume && random() % 8 == 0)
            std::thread([&] { EXPECT_EQ(glt_ult_resume(selves_[sleeper]), GLT_SUCCESS); }).join();
        else EXPECT_EQ(glt_ult_resume(selves_[sleeper]), GLT_SUCCESS);
    }
    static void dawdle(std::mt19937& random)
    {
        switch (random() % 6) {
        case 0: spin_for(1e-7 * (random() % 100)); break;
        case 1:
        case 2: glt_yield(); break;
        default: break;
        }
    }

    const Program& program_;
    std::vector<Task> tasks_;
    std::vector<GLT_ult> units_;        // written by the creator before created_, read after it
    std::vector<std::uint64_t> values_; // written by the unit, read by its joiner
    std::vector<GLT_ult> selves_;       // written by the unit before started_
    std::vector<Event> created_, started_;
    Mutex mutex_;
    long guarded_ = 0; // by mutex_
    std::atomic<bool> inside_ = false;
    std::atomic<int> overlaps_ = 0;
    Counter left_{static_cast<long>(program_.plans.size())};
};

std::uint64_t first_seed()
{
    const char* given = std::getenv("GLT_SUITE_SEED");
    return given ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

TEST_P(RandomTest, ProgramsComeToTheOraclesResult)
{
    const std::uint64_t first = first_seed();
    const int programs = scaled(unit_is_os_thread() ? 20 : 40);
    for (int i = 0; i < programs; ++i) {
        const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
        SCOPED_TRACE("GLT_SUITE_SEED=" + std::to_string(seed));
        const Program program(seed, 1 + static_cast<int>(seed % 120));
        Execution(program).run();
        if (HasFailure()) return;
    }
}

} // namespace
} // namespace trencadis::suite
