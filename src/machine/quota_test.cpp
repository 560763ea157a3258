#include "machine/quota.hpp"

#include "machine/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

namespace fs = std::filesystem;

/// The system's files, as far as a test makes them.
class Files {
public:
    Files& has(const std::string& file, const std::string& text)
    {
        const fs::path path = folder_.path() / file;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return *this;
    }
    std::optional<double> quota() const { return quota_of_cores(folder_.path()); }

private:
    testing::TemporaryFolder folder_;
};

const std::string groups = "proc/self/cgroup", mounted = "sys/fs/cgroup/";

TEST(Quota, IsNoneWhereThereAreNoGroupsOrNoneIsBounded)
{
    EXPECT_EQ(Files().quota(), std::nullopt);
    EXPECT_EQ(Files().has(groups, "0::/\n").quota(), std::nullopt);
    EXPECT_EQ(Files().has(groups, "0::/a\n").has(mounted + "a/cpu.max", "max 100000\n").quota(), std::nullopt);
    EXPECT_EQ(Files()
                  .has(groups, "1:cpu:/\n")
                  .has(mounted + "cpu/cpu.cfs_quota_us", "-1\n")
                  .has(mounted + "cpu/cpu.cfs_period_us", "100000\n")
                  .quota(),
              std::nullopt);
}

TEST(Quota, OfVersion2IsTheLeastOfAGroupAndThoseAroundIt)
{
    Files files;
    files.has(groups, "0::/outer/inner\n").has(mounted + "outer/inner/cpu.max", "300000 100000\n");
    EXPECT_EQ(files.quota(), 3);
    files.has(mounted + "outer/cpu.max", "50000 20000\n");
    EXPECT_EQ(files.quota(), 2.5);
    files.has(mounted + "outer/inner/cpu.max", "10000 20000\n");
    EXPECT_EQ(files.quota(), 0.5);
}

TEST(Quota, OfAContainerWhoseGroupHasThePathOfItsHostIsAtTheMountPoint)
{
    EXPECT_EQ(Files().has(groups, "0::/docker/3f2a\n").has(mounted + "cpu.max", "150000 100000\n").quota(), 1.5);
    Files old;
    old.has(groups, "3:memory:/x\n4:cpu,cpuacct:/docker/3f2a\n");
    old.has(mounted + "cpu,cpuacct/cpu.cfs_quota_us", "400000\n").has(mounted + "cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(old.quota(), 4);
}

TEST(Quota, OfVersion1IsThatOfTheProcessorControllerAlone)
{
    Files files;
    files.has(groups, "2:cpuset:/a\n1:cpu:/a\n0::/\n").has(mounted + "cpuset/a/cpu.cfs_quota_us", "1\n");
    files.has(mounted + "cpu/a/cpu.cfs_quota_us", "200000\n").has(mounted + "cpu/a/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(files.quota(), 2);
}

TEST(Quota, OfFilesThatSayNothingSensibleIsNone)
{
    for (const char* text : {"", "max", "x 100000", "100000 0", "100000 -5", "nan 100000", "0 100000", "1e400 1"})
        EXPECT_EQ(Files().has(groups, "0::/\n").has(mounted + "cpu.max", text).quota(), std::nullopt) << text;
    EXPECT_EQ(Files().has(groups, "no colon\n:\n").has(mounted + "cpu.max", "100000 100000").quota(), std::nullopt);
}

TEST(Quota, BoundsWorkersRoundedUpButForATrifle)
{
    EXPECT_EQ(workers_within({}, 8), 8);
    EXPECT_EQ(workers_within(2.0, 8), 2);
    EXPECT_EQ(workers_within(2.02, 8), 2);
    EXPECT_EQ(workers_within(1.5, 8), 2);
    EXPECT_EQ(workers_within(0.1, 8), 1);
    EXPECT_EQ(workers_within(0.01, 8), 1);
    EXPECT_EQ(workers_within(100, 8), 8);
    EXPECT_EQ(workers_within(1e300, 8), 8);
}

} // namespace
} // namespace trencadis
