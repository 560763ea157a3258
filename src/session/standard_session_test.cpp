#include "base/error.hpp"
#include "graph/task_flow.hpp"
#include "machine/machine.hpp"
#include "session/session.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

int cores() { return static_cast<int>(discover_machine().cores.size()); }

/// Leaves no limit behind.
class StandardSession : public ::testing::Test {
protected:
    const int before = Session::standard_workers();
    void TearDown() override { Session::limit_standard(before); }
};

TEST_F(StandardSession, HasTheWorkersItIsLimitedTo)
{
    Session::limit_standard(1);
    EXPECT_EQ(Session::standard_workers(), 1);
    EXPECT_EQ(Session::standard().workers(), 1);
    Session::limit_standard(cores());
    EXPECT_EQ(Session::standard_workers(), cores());
    EXPECT_EQ(Session::standard().workers(), cores());
}

TEST_F(StandardSession, IsTheSameOneAgainWhenALimitIsLifted)
{
    const Session* const whole = &Session::standard();
    Session::limit_standard(1);
    const Session* const limited = &Session::standard();
    Session::limit_standard(before);
    EXPECT_EQ(&Session::standard(), whole);
    Session::limit_standard(1);
    EXPECT_EQ(&Session::standard(), limited);
}

TEST_F(StandardSession, TakesAllCoresWhenAskedForMore)
{
    Session::limit_standard(1 << 20);
    EXPECT_EQ(Session::standard().workers(), cores());
}

TEST_F(StandardSession, RelievesWhoIsHeldUpUnlessTheEnvironmentSaysOtherwise)
{
    const char* const asked = std::getenv("TRENCADIS_RELIEF");
    EXPECT_EQ(Session::standard().options().relief, asked ? asked : "held-up");
    EXPECT_EQ(Session().options().relief, asked ? asked : "held-up");
}

TEST_F(StandardSession, RefusesToHaveNoWorker)
{
    EXPECT_THROW(Session::limit_standard(0), Error);
    EXPECT_EQ(Session::standard_workers(), before);
}

TEST_F(StandardSession, FinishesWhatItRunsWhenTheLimitChanges)
{
    Session& session = Session::standard();
    int ran = 0;
    session.run([&](Flow& flow) {
        Session::limit_standard(1);
        for (int i = 0; i < 100; ++i) flow.submit("one", [&] { ++ran; }, {readwrite(&ran)});
    });
    EXPECT_EQ(ran, 100);
}

TEST(Session, KnowsWhetherItsWorkersAreEven)
{
    EXPECT_TRUE(Session({.workers = {0}}).has_equal_workers());
    if (cores() < 2) GTEST_SKIP() << "one core is as fast as itself";
    SessionOptions slowed;
    const std::vector<int> workers = Session({.worker_count = 2}).options().workers;
    slowed.workers = workers;
    slowed.slow[workers.back()] = 0.5;
    const Session uneven(slowed);
    EXPECT_FALSE(uneven.has_equal_workers());
    EXPECT_FALSE(static_cast<const Crew&>(uneven).is_even());
    slowed.slow[workers.front()] = 0.5;
    EXPECT_TRUE(Session(slowed).has_equal_workers()) << "both as slow";
    EXPECT_FALSE(Session({.machine = "exynos5422"}).has_equal_workers()) << "large and small ones";
}

} // namespace
} // namespace trencadis
