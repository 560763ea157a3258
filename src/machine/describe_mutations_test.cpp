// Damaged machine files: each is read, or refused with one line that begins with file and line number. Nothing else happens.
#include "base/error.hpp"
#include "machine/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

namespace trencadis {
namespace {

std::vector<std::string> lines_of(const std::string& name)
{
    std::ifstream stream(load_machine(name).origin);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Deletes, doubles or swaps lines, or changes characters in one.
std::string damaged(std::vector<std::string> lines, std::mt19937_64& random)
{
    static const std::string characters = "0123456789-+.e\"[]{}=,#x \\\t\x01\xff";
    const auto any_line = [&] { return lines.begin() + static_cast<std::ptrdiff_t>(random() % lines.size()); };
    for (int damage = 0; damage < 2; ++damage) {
        switch (random() % 4) {
        case 0: lines.erase(any_line()); break;
        case 1: lines.insert(any_line(), *any_line()); break;
        case 2: std::iter_swap(any_line(), any_line()); break;
        default:
            std::string& line = *any_line();
            line.insert(line.begin() + static_cast<std::ptrdiff_t>(random() % (line.size() + 1)),
                        characters[random() % characters.size()]);
            if (line.size() > 1) line.erase(random() % line.size(), 1);
        }
    }
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

TEST(ParseMachine, ReadsOrRefusesWhateverItIsGiven)
{
    int read = 0, refused = 0;
    for (const std::string& name : described_machines()) {
        const auto lines = lines_of(name);
        for (std::uint64_t seed = 1; seed <= 150; ++seed) {
            SCOPED_TRACE(name + ", seed " + std::to_string(seed));
            std::mt19937_64 random(seed);
            const std::string text = damaged(lines, random);
            try {
                const Machine machine = parse_machine(text, "m.toml");
                for (const Core& core : machine.cores) ASSERT_LT(core.kind, static_cast<int>(machine.kinds.size()));
                for (const KernelTime& kernel : machine.kernels) ASSERT_GT(kernel.gflops, 0);
                ++read;
            } catch (const Error& error) {
                ASSERT_EQ(error.code(), ErrorCode::bad_argument);
                ASSERT_THAT(error.what(), ::testing::MatchesRegex("m\\.toml:[0-9]+: [^\n]+"));
                ++refused;
            }
        }
    }
    EXPECT_GT(read, 100) << "comments and figures may change";
    EXPECT_GT(refused, 100);
}

} // namespace
} // namespace trencadis
