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

} // namespace
} // namespace trencadis
