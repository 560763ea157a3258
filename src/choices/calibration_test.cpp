#include "choices/calibration.hpp"

#include "machine/testing.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

namespace trencadis::choices {
namespace {

namespace fs = std::filesystem;

const Owner ours{"a processor", "native avx 8x4", "1.0"};

std::vector<Row> some_rows()
{
    return {{"potrf", 'd', 96, 96, 0, 2, "rule", 1e-4, 2e-4, 0}, {"potrf", 'd', 96, 96, 0, 2, "packed-1", 0.9e-4, 0, 0.5}};
}

class CalibrationFile : public ::testing::Test {
protected:
    Calibration read(const Owner& owner = ours) const { return Calibration::read(file, owner); }
    std::string text() const
    {
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }
    void put(const std::string& text) const { std::ofstream(file) << text; }

    trencadis::testing::TemporaryFolder folder;
    const fs::path file = folder.path() / "sub" / "host.choices";
};

TEST_F(CalibrationFile, GivesBackWhatWasWritten)
{
    EXPECT_EQ(read().rows.size(), 0u);
    EXPECT_EQ(read().trouble, ""); // none there
    ASSERT_EQ(write_calibration(file, ours, some_rows()), "");
    const Calibration there = read();
    EXPECT_EQ(there.trouble, "");
    ASSERT_EQ(there.rows.size(), 2u);
    EXPECT_EQ(there.rows[1].plan, "packed-1");
    EXPECT_EQ(there.rows[1].seconds, 0.9e-4);
    EXPECT_EQ(there.rows[1].joules, 0.5);
    EXPECT_EQ(there.rows[0].busy, 2e-4);
}

TEST_F(CalibrationFile, WithWhatNoCallTakesIsTorn)
{
    const Row good = some_rows().front();
    for (const Seconds seconds : {0.0, 1e-300, 1e300, -1.0}) {
        Row row = good;
        row.seconds = seconds;
        ASSERT_EQ(write_calibration(file, ours, {row}), "");
        EXPECT_EQ(read().trouble, "is torn") << seconds;
    }
    for (Index Row::*extent : {&Row::m, &Row::n, &Row::k}) {
        Row row = good;
        row.*extent = Index(1) << 31;
        ASSERT_EQ(write_calibration(file, ours, {row}), "");
        EXPECT_EQ(read().trouble, "is torn");
    }
}

TEST_F(CalibrationFile, CutOffAnywhereIsTorn)
{
    ASSERT_EQ(write_calibration(file, ours, some_rows()), "");
    const std::string whole = text();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        put(whole.substr(0, length));
        EXPECT_EQ(read().rows.size(), 0u) << length;
        EXPECT_NE(read().trouble, "") << length;
    }
}

TEST_F(CalibrationFile, WithAnyByteChangedIsNotUsed)
{
    ASSERT_EQ(write_calibration(file, ours, some_rows()), "");
    const std::string whole = text();
    for (std::size_t place = 0; place < whole.size(); ++place) {
        std::string other = whole;
        other[place] = other[place] == '7' ? '8' : '7';
        put(other);
        EXPECT_EQ(read().rows.size(), 0u) << place;
    }
    put(whole + "x");
    EXPECT_EQ(read().rows.size(), 0u);
}

TEST_F(CalibrationFile, OfAnotherProcessorLibraryOrFormatSaysSo)
{
    ASSERT_EQ(write_calibration(file, ours, some_rows()), "");
    EXPECT_EQ(read({"another", ours.kernels, ours.library}).trouble, "is of another processor");
    EXPECT_EQ(read({ours.processor, ours.kernels, "1.1"}).trouble, "is of another version of the library or its kernels");
    EXPECT_EQ(read({ours.processor, "native avx2", ours.library}).trouble, "is of another version of the library or its kernels");
    std::string newer = text();
    newer.replace(newer.find("version 5"), 9, "version 6");
    put(newer);
    EXPECT_EQ(read().trouble, "is of another version of its format");
}

TEST_F(CalibrationFile, WrittenByTwoAtOnceIsOneOfTheTwoWhole)
{
    std::vector<Row> one(300, some_rows()[0]), two(500, some_rows()[1]);
    const auto writer = [&](const std::vector<Row>& rows) {
        for (int i = 0; i < 20; ++i) EXPECT_EQ(write_calibration(file, ours, rows), "");
    };
    std::thread other(writer, std::cref(two));
    writer(one);
    for (int i = 0; i < 100; ++i) {
        const Calibration seen = read();
        EXPECT_EQ(seen.trouble, "");
        EXPECT_TRUE(seen.rows.size() == 300 || seen.rows.size() == 500) << seen.rows.size();
    }
    other.join();
    EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1); // no drafts are left
}

TEST_F(CalibrationFile, ThatCannotBeWrittenSaysWhyAndTheOldOneStays)
{
    ASSERT_EQ(write_calibration(file, ours, some_rows()), "");
    EXPECT_NE(write_calibration("/proc/nowhere/host.choices", ours, some_rows()), "");
    const fs::path taken = folder.path() / "taken";
    fs::create_directories(taken / "full");
    EXPECT_NE(write_calibration(taken, ours, some_rows()).find("cannot be written"), std::string::npos);
    EXPECT_EQ(read().rows.size(), 2u);
    EXPECT_EQ(Calibration::read(taken, ours).trouble, "is torn"); // a folder
}

} // namespace
} // namespace trencadis::choices
