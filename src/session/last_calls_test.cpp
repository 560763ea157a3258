#include "session/last_calls.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trencadis {
namespace {

constexpr std::int64_t second = 1'000'000'000;
const choices::Owner here{"a processor", "kernels", "1"};
const choices::Plan by_rule{}, alone{.by = choices::Plan::By::alone};

choices::Call potrf(Index n) { return {"potrf", 1, n, n}; }

struct LastCallsTest : ::testing::Test {
    LastCallsTest() { std::filesystem::create_directories(folder); }
    ~LastCallsTest() override { std::filesystem::remove_all(folder); }
    /// "500 rule 2: 1 2", kinds in the order of their oldest rows.
    std::string text(const choices::Owner& owner = here) const
    {
        std::string all, last;
        for (const choices::Row& row : LastCalls::read(file, owner)) {
            const std::string kind = std::to_string(row.n) + ' ' + row.plan + ' ' + std::to_string(row.workers) + ':';
            if (kind != last) all += (all.empty() ? "" : ", ") + kind;
            all += ' ' + std::to_string(int(row.seconds));
            last = kind;
        }
        return all;
    }
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("last_calls_test." + std::to_string(getpid()));
    const std::filesystem::path file = folder / "host.calls", left = folder / "host.calls.left";
};

TEST_F(LastCallsTest, AreKeptByKindTheNewestOnes)
{
    {
        LastCalls calls(file, here);
        for (int i = 1; i <= 7; ++i) calls.note(potrf(500), by_rule, 2, i, i);
        for (int i = 1; i <= 2; ++i) calls.note(potrf(500), alone, 1, 10 + i, i);
        calls.note(potrf(501), by_rule, 2, 20, 9);
        calls.note(potrf(501), by_rule, 2, 0, 9); // no time
        EXPECT_EQ(text(), "") << "nothing is written in the first second";
    }
    EXPECT_EQ(text(), "500 rule 2: 3 4 5 6 7, 500 alone 1: 11 12, 501 rule 2: 20");
    {
        LastCalls calls(file, here);
        for (int i = 1; i <= 2; ++i) calls.note(potrf(500), by_rule, 2, 30 + i, i);
    }
    EXPECT_EQ(text(), "500 rule 2: 5 6 7, 500 alone 1: 11 12, 501 rule 2: 20, 500 rule 2: 31 32");
    EXPECT_EQ(text({"another processor", "kernels", "1"}), "");
}

TEST_F(LastCallsTest, AreWrittenNowAndThenSinceASessionMayNeverEnd)
{
    LastCalls calls(file, here);
    calls.note(potrf(500), by_rule, 2, 1, 5 * second);
    EXPECT_EQ(text(), "");
    calls.note(potrf(500), by_rule, 2, 2, 7 * second);
    EXPECT_EQ(text(), "500 rule 2: 1 2");
    calls.note(potrf(500), by_rule, 2, 3, 8 * second);
    EXPECT_EQ(text(), "500 rule 2: 1 2");
    calls.note(potrf(500), by_rule, 2, 4, 18 * second);
    EXPECT_EQ(text(), "500 rule 2: 1 2 3 4");
}

TEST_F(LastCallsTest, AreAtMostSoManyInAll)
{
    for (Index n = 1; n <= Index(LastCalls::most) + 50; n += 50) {
        LastCalls calls(file, here);
        for (Index i = n; i < n + 50; ++i) calls.note(potrf(i), by_rule, 2, 1, i);
    }
    const std::vector<choices::Row> rows = LastCalls::read(file, here);
    ASSERT_EQ(rows.size(), LastCalls::most);
    EXPECT_EQ(rows.back().n - rows.front().n, Index(LastCalls::most) - 1) << "the newest";
}

TEST_F(LastCallsTest, BeginAnewWhereTheFileIsDamagedAndFailQuietlyWhereThereCanBeNone)
{
    std::ofstream(file) << "no calibration";
    LastCalls(file, here).note(potrf(500), by_rule, 2, 1, 1);
    EXPECT_EQ(text(), "500 rule 2: 1");
    LastCalls("/proc/none/host.calls", here).note(potrf(500), by_rule, 2, 1, 1);
}

TEST_F(LastCallsTest, AreLeftForTheNextReaderWhereTheProcessEndsBeforeTheyAreWritten)
{
    const auto end_after = [&](Index n) {
        LastCalls& calls = *new LastCalls(file, here); // as that of the session which lasts as long as the process
        calls.note(potrf(n), by_rule, 2, 1, 1);
        calls.note(potrf(n), alone, 1, 2, 2);
        std::exit(7);
    };
    EXPECT_EXIT(end_after(500), ::testing::ExitedWithCode(7), "");
    EXPECT_EQ(text(), "500 rule 2: 1, 500 alone 1: 2");
    EXPECT_EQ(text({"another processor", "kernels", "1"}), "");
    EXPECT_EXIT(end_after(501), ::testing::ExitedWithCode(7), "");
    EXPECT_EQ(text(), "500 rule 2: 1, 500 alone 1: 2, 501 rule 2: 1, 501 alone 1: 2");
    std::ofstream(left, std::ios::app) << "half of a li";
    EXPECT_EQ(text(), "500 rule 2: 1, 500 alone 1: 2, 501 rule 2: 1, 501 alone 1: 2");
    LastCalls(file, here).note(potrf(502), by_rule, 2, 3, 3);
    EXPECT_EQ(text(), "500 rule 2: 1, 500 alone 1: 2, 501 rule 2: 1, 501 alone 1: 2, 502 rule 2: 3");
    EXPECT_FALSE(std::filesystem::exists(left)) << "part of the file by now";
}

TEST_F(LastCallsTest, ThatWereLeftByManyProcessesBecomePartOfTheFile)
{
    LastCalls(file, here).note(potrf(500), by_rule, 2, 1, 1);
    std::ofstream(left) << std::string(40'000, '\n');
    LastCalls calls(file, here);
    calls.note(potrf(501), by_rule, 2, 1, 1);
    EXPECT_EQ(text(), "500 rule 2: 1, 501 rule 2: 1");
    EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(LastCallsTest, AreLeftInNothingButAFileThatIsNotLong)
{
    const auto end = [&] {
        (new LastCalls(file, here))->note(potrf(500), by_rule, 2, 1, 1);
        alarm(20);
        std::exit(7);
    };
    ASSERT_EQ(mkfifo(left.c_str(), 0600), 0);
    alarm(20);
    EXPECT_EQ(text(), "");
    alarm(0);
    EXPECT_EXIT(end(), ::testing::ExitedWithCode(7), "");
    LastCalls(file, here).note(potrf(501), by_rule, 2, 1, 1);
    EXPECT_EQ(text(), "501 rule 2: 1");

    const std::string much(70'000, '\n');
    std::ofstream(left) << much;
    EXPECT_EXIT(([&] {
                    LastCalls& calls = *new LastCalls(file, here);
                    std::filesystem::remove(file);
                    std::filesystem::create_directory(file); // which a file cannot replace
                    calls.note(potrf(500), by_rule, 2, 1, 1);
                    std::exit(7);
                })(),
                ::testing::ExitedWithCode(7), "");
    EXPECT_EQ(std::filesystem::file_size(left), much.size());
}

TEST_F(LastCallsTest, OfTheParentAreNotLeftByAForkedChild)
{
    LastCalls calls(file, here);
    calls.note(potrf(500), by_rule, 2, 1, 1);
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text(), "");
}

} // namespace
} // namespace trencadis
