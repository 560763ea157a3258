#pragma once
#include <bit>
#include <climits>
#include <cstdint>

namespace trencadis {

/// Whole numbers in the same order: those of a double as a float, whose bits are ordered like its magnitude.
inline int priority_rank(double priority)
{
    const auto bits = std::bit_cast<std::int32_t>(static_cast<float>(priority));
    return bits >= 0 ? bits : INT_MIN - bits;
}

} // namespace trencadis
