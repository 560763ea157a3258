#pragma once
#include "base/types.hpp"

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

/// May two consecutive accesses in this mode belong to one group (see graph/dependences.hpp)?
constexpr bool is_shared(AccessMode mode) { return mode != AccessMode::write && mode != AccessMode::readwrite; }
constexpr bool is_writing(AccessMode mode) { return mode != AccessMode::read; }

/// How private parts of a `reduce` access are made and folded. Must outlive the tasks that name it.
/// `combine` must be associative and commutative up to what the caller tolerates: the order is not fixed.
struct Reduction {
    std::size_t bytes;
    void (*initialise)(void* part);
    void (*combine)(void* into, const void* part);
};

/// One declared access. A datum is known by an address: for a tile, that of its first element. Its size matters to those who place
/// or move data; 0 when not known.
struct Access {
    const void* data;
    AccessMode mode;
    const Reduction* reduction = nullptr;
    Bytes bytes = 0;
};

inline Access read(const void* data, Bytes bytes = 0) { return {data, AccessMode::read, nullptr, bytes}; }
inline Access write(void* data, Bytes bytes = 0) { return {data, AccessMode::write, nullptr, bytes}; }
inline Access readwrite(void* data, Bytes bytes = 0) { return {data, AccessMode::readwrite, nullptr, bytes}; }
inline Access concurrent_write(void* data, Bytes bytes = 0) { return {data, AccessMode::concurrent_write, nullptr, bytes}; }
inline Access commute(void* data, Bytes bytes = 0) { return {data, AccessMode::commute, nullptr, bytes}; }
inline Access reduce(void* data, const Reduction& how) { return {data, AccessMode::reduce, &how, Bytes(how.bytes)}; }

} // namespace trencadis
