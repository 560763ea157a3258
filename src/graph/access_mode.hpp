#pragma once
#include <cstddef>
#include <cstdint>

namespace trencadis {

/// How a task uses a datum. Consecutive accesses of the same grouping mode may be held together; every
/// other pair is ordered as submitted.
enum class AccessMode : std::uint8_t {
    read,             ///< several readers together
    write,            ///< alone; the previous value is not needed
    readwrite,        ///< alone
    concurrent_write, ///< several writers together, unordered; the tasks see to their own races
    commute,          ///< any order, one at a time
    reduce,           ///< several together, each on a private part; the parts are combined afterwards
};

/// How private parts of a `reduce` access are made and folded. Must outlive the tasks that name it; `combine` may run where no
/// task can fail any more, and must not throw.
/// `combine` must be associative and commutative up to what the caller tolerates: the order is not fixed.
struct Reduction {
    std::size_t bytes;
    void (*initialise)(void* part);
    void (*combine)(void* into, const void* part);
};

} // namespace trencadis
