#include "machine/kernel_speeds.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace trencadis {
namespace {

class KernelSpeedsInAFile : public ::testing::Test {
protected:
    KernelSpeedsInAFile()
    {
        std::string name = (std::filesystem::temp_directory_path() / "speeds-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        file_ = folder_ / "inside" / "host.kernels";
    }
    ~KernelSpeedsInAFile() override { std::filesystem::remove_all(folder_); }
    std::string text() const
    {
        std::ifstream stream(file_);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void put(const std::string& text) const { std::ofstream(file_) << text; }

    std::filesystem::path folder_, file_;
    const KernelKey gemm{"gemm.packed", 'd', "P core"}, pack{"pack", 0, "core"};
};

/// Every row with this rate: a table of one writer.
KernelSpeeds table_of(double rate)
{
    KernelSpeeds speeds;
    for (int i = 0; i < 40; ++i)
        for (int b = 5; b < 15; ++b) speeds.set({"kernel" + std::to_string(i), 'd', "core"}, {2.0 * b, rate});
    return speeds;
}

TEST(SizesOfKernels, GrowByOneWhenTheFlopsDouble)
{
    for (const double flops : {1.0, 2.0, 1024.0, 0x1p40}) EXPECT_DOUBLE_EQ(size_of(flops), std::log2(flops));
    double before = -1;
    for (double flops = 1; flops < 1e12; flops *= 1.37) {
        const double size = size_of(flops);
        EXPECT_GT(size, before);
        EXPECT_NEAR(size, std::log2(flops), 0.09);
        EXPECT_NEAR(flops_of(size) / flops, 1, 1e-9);
        before = size;
    }
    EXPECT_EQ(size_of(0), 0);
    EXPECT_EQ(KernelSpeeds::bucket(1e9), KernelSpeeds::buckets - 1);
}

TEST_F(KernelSpeedsInAFile, AreReadAsTheyWereWritten)
{
    KernelSpeeds speeds;
    speeds.set(gemm, {25.125, 4.2e10});
    speeds.set(gemm, {31, 6e10});
    speeds.set(pack, {10, 1e9});
    ASSERT_TRUE(speeds.write(file_));
    const KernelSpeeds read = KernelSpeeds::read(file_);
    EXPECT_EQ(read.size(), 2u);
    ASSERT_TRUE(read.find(gemm) && read.find(pack));
    ASSERT_EQ(read.find(gemm)->size(), 2u);
    EXPECT_DOUBLE_EQ(read.find(gemm)->at(12).size, 25.125);
    EXPECT_DOUBLE_EQ(read.find(gemm)->at(12).rate, 4.2e10);
    EXPECT_DOUBLE_EQ(read.find(gemm)->at(15).rate, 6e10);
    EXPECT_FALSE(read.find({"gemm.packed", 's', "P core"})) << "another precision";
    EXPECT_FALSE(read.find({"gemm", 'd', "P core"})) << "another of the name";
}

TEST_F(KernelSpeedsInAFile, OfAnotherVersionOrTornOrDamagedAreNone)
{
    ASSERT_TRUE(table_of(1e9).write(file_));
    const std::string whole = text();
    ASSERT_FALSE(KernelSpeeds::read(file_).empty());
    for (std::size_t length = 0; length < whole.size() - 1; length += 97) {
        put(whole.substr(0, length));
        EXPECT_TRUE(KernelSpeeds::read(file_).empty()) << "the first " << length << " bytes";
    }
    put("trencadis kernel speeds, version 0\n" + whole.substr(whole.find('\n') + 1));
    EXPECT_TRUE(KernelSpeeds::read(file_).empty());
    for (const char* row :
         {"gemm d 20 -1 core", "gemm d nan 1 core", "gemm d 20 1e9", "gemm dd 20 1e9 core", "gemm d 99 1e9 core"}) {
        put("trencadis kernel speeds, version 1\n" + std::string(row) + "\nend 1\n");
        EXPECT_TRUE(KernelSpeeds::read(file_).empty()) << row;
    }
    EXPECT_TRUE(KernelSpeeds::read(folder_ / "nowhere").empty());
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    EXPECT_TRUE(KernelSpeeds::read(folder_ / "pipe").empty()) << "to which nobody writes";
}

TEST_F(KernelSpeedsInAFile, AreNotWrittenWhereTheyCannotBe)
{
    std::ofstream(folder_ / "inside") << "no folder";
    EXPECT_FALSE(table_of(1e9).write(file_));
}

/// Several processes write and one reads: it sees one table or another, never a mixture.
TEST_F(KernelSpeedsInAFile, AreWholeWhileOthersWrite)
{
    ASSERT_TRUE(table_of(1e9).write(file_));
    std::vector<pid_t> writers;
    for (int w = 0; w < 3; ++w) {
        const pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < 40; ++i) table_of(1e9 * (w + 2)).write(file_);
            _exit(0);
        }
        writers.push_back(child);
    }
    for (int i = 0; i < 200; ++i) {
        const KernelSpeeds read = KernelSpeeds::read(file_);
        ASSERT_EQ(read.size(), 40u);
        const double rate = read.find({"kernel0", 'd', "core"})->at(5).rate;
        for (int k = 0; k < 40; ++k)
            for (const auto& [bucket, speed] : *read.find({"kernel" + std::to_string(k), 'd', "core"}))
                ASSERT_EQ(speed.rate, rate);
    }
    for (const pid_t writer : writers) waitpid(writer, nullptr, 0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file_.parent_path()), {}), 1) << "no draft is left";
}

TEST(KernelSpeeds, TakeWhatIsNewerAndKeepTheRest)
{
    KernelSpeeds kept, newer;
    kept.set({"gemm", 'd', "core"}, {20, 1});
    kept.set({"gemm", 'd', "core"}, {24, 2});
    kept.set({"potrf", 'd', "core"}, {20, 3});
    newer.set({"gemm", 'd', "core"}, {20.5, 4});
    kept.merge(newer);
    const auto& gemm = *kept.find({"gemm", 'd', "core"});
    EXPECT_EQ(gemm.at(10).rate, 4);
    EXPECT_EQ(gemm.at(12).rate, 2);
    EXPECT_EQ(kept.find({"potrf", 'd', "core"})->at(10).rate, 3);
}

TEST(KernelSpeeds, LieBesideTheSpeedsOfTheCoresApartForWhoComputes)
{
    const auto ours = kernel_speeds_path("host", "native 1"), theirs = kernel_speeds_path("host", "mkl 2024");
    if (!ours) GTEST_SKIP() << "neither HOME nor XDG_CACHE_HOME is set";
    EXPECT_EQ(ours->extension(), ".kernels");
    EXPECT_EQ(ours->parent_path().filename(), "trencadis");
    EXPECT_NE(*ours, *theirs);
}

} // namespace
} // namespace trencadis
