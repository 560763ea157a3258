#pragma once
#include <cstdint>

namespace trencadis {

/// Random numbers for victims and ties: a few operations, the same sequence for the same seed and stream. Literature: Marsaglia
/// 2003 (xorshift); the state is spread by Steele, Lea, Flood 2014 (splitmix).
class QuickRandom {
public:
    explicit QuickRandom(std::uint64_t seed, std::uint64_t stream = 0)
    {
        std::uint64_t z = seed + 0x9E3779B97F4A7C15ull * (stream + 1);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        state_ = (z ^ (z >> 31)) | 1; // never zero
    }
    /// In [0, bound); bound > 0.
    std::uint64_t below(std::uint64_t bound)
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return (state_ >> 11) % bound;
    }

private:
    std::uint64_t state_;
};

} // namespace trencadis
