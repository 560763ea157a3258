#pragma once
#include "base/types.hpp"

#include <cstdint>

namespace trencadis {

/// A task that any worker may run, and a datum that lies nowhere in particular.
inline constexpr int any_node = -1;

/// What a task uses: memory that is known by its address at home (for a tile: that of its first element). Its shape is for those who
/// place or move it: `cols` columns of `rows` elements, `ld` elements apart. Opaque data are one column of bytes.
struct Datum {
    const void* address = nullptr;
    Index rows = 0, cols = 1, ld = 0;
    std::int32_t element = 1;     ///< bytes
    std::int16_t home = any_node; ///< the memory node that it lies on, as far as that is known
    std::int16_t owner = 0;       ///< the process that holds it, of those that work together; a process alone is 0

    constexpr Datum() = default;
    /// Opaque; 0 bytes: not known how many.
    constexpr Datum(const void* at, Bytes bytes = 0) : address(at), rows(static_cast<Index>(bytes)), ld(rows) {}
    constexpr Datum(const void* at, Index r, Index c, Index l, std::size_t bytes)
        : address(at), rows(r), cols(c), ld(l), element(static_cast<std::int32_t>(bytes))
    {
    }

    constexpr Bytes bytes() const { return double(rows) * double(cols) * element; }
    constexpr Datum on(int node) const
    {
        Datum there = *this;
        there.home = static_cast<std::int16_t>(node);
        return there;
    }
};

/// Where a running task finds a datum: at home, or where a copy is that its unit can use.
struct Operand {
    void* data;
    Index ld; ///< of matrices
};

} // namespace trencadis
