#include "sha1.h"

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace trencadis {
namespace {

using Block = std::array<std::uint32_t, 16>;
using Digest = std::array<std::uint32_t, 5>;

/// Padding as FIPS 180-4, section 5.1.1, says, for at most 55 bytes.
Block padded(const std::string& message)
{
    Block block{};
    std::string bytes = message;
    bytes.push_back('\x80');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        block[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (24 - 8 * (i % 4));
    block[15] = static_cast<std::uint32_t>(8 * message.size());
    return block;
}

Digest digest(Sha1Block sha1, const Block& block)
{
    Digest result{};
    sha1(block.data(), result.data());
    return result;
}

std::vector<Sha1Block> implementations()
{
    std::vector<Sha1Block> all{sha1_block_portable, sha1_block_best()};
    if (sha1_block_native() != nullptr) all.push_back(sha1_block_native());
    return all;
}

TEST(Sha1, DigestsOfShortMessagesAreThoseOfTheStandard)
{
    for (const Sha1Block sha1 : implementations()) {
        EXPECT_EQ(digest(sha1, padded("abc")), (Digest{0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d}));
        EXPECT_EQ(digest(sha1, padded("")), (Digest{0xda39a3ee, 0x5e6b4b0d, 0x3255bfef, 0x95601890, 0xafd80709}));
        EXPECT_EQ(digest(sha1, padded("The quick brown fox jumps over the lazy dog")),
                  (Digest{0x2fd4e1c6, 0x7a2d28fc, 0xed849ee1, 0xbb76e739, 0x1b93eb12}));
    }
}

TEST(Sha1, TheProcessorsInstructionsGiveWhatThePortableCodeGives)
{
    if (sha1_block_native() == nullptr) GTEST_SKIP() << "this processor has no SHA-1 instructions";
    std::mt19937 random(2006);
    for (int i = 0; i < 10000; ++i) {
        Block block;
        for (std::uint32_t& word : block) word = static_cast<std::uint32_t>(random());
        ASSERT_EQ(digest(sha1_block_native(), block), digest(sha1_block_portable, block)) << "block " << i << " of seed 2006";
    }
}

} // namespace
} // namespace trencadis
