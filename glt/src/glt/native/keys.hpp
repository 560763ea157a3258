#pragma once
#include "glt/native/unit.hpp"

namespace trencadis::ult {

/// The values of a unit's keys, by the keys' numbers.
struct Values {
    std::uint32_t size;
    struct {
        std::uint64_t key; ///< the handle it was set for
        void* value;
    } entry[];
};

/// Calls the destructors and frees the values; a destructor may set others, four times.
void end_values(Unit& unit);
void forget_keys(); ///< at the end of the runtime

/// A unit with that counter (a handle) ended.
void count_down(std::uint64_t counter);

} // namespace trencadis::ult
