#pragma once
#include "base/types.hpp"

#include <cstdint>

namespace trencadis {

/// A task that any worker may run, and a datum that lies nowhere in particular.
inline constexpr int any_node = -1;
/// Where a datum is at home that is a name alone: nothing lies there, and only what does not compute may use it.
inline constexpr int named_only = -2;

/// What a task uses: memory that is known by its address at home (for a tile: that of its first element). Its shape is for those
/// who place or move it: `cols` columns of `rows` elements of `element` bytes, `ld` elements apart; a tile has less than 2^31 of
/// both. Opaque data have elements of 0 bytes, and their size in `ld`.
struct Datum {
    const void* address = nullptr;
    Index ld = 0;
    std::int32_t rows = 0, cols = 0;
    std::int32_t element = 0;
    std::int16_t home =
        any_node;           ///< the memory node that it lies on, as far as that is known; noted by the engine where nobody has
    std::int16_t owner = 0; ///< the process that holds it, of those that work together; a process alone is 0

    constexpr Datum() = default;
    /// Opaque; 0 bytes: not known how many.
    constexpr explicit Datum(const void* at, Bytes bytes = 0) : address(at), ld(static_cast<Index>(bytes)) {}
    constexpr Datum(const void* at, Index of_rows, Index of_cols, Index apart, std::size_t bytes)
        : address(at), ld(apart), rows(static_cast<std::int32_t>(of_rows)), cols(static_cast<std::int32_t>(of_cols)),
          element(static_cast<std::int32_t>(bytes))
    {
    }

    constexpr bool is_name() const { return home == named_only; }
    constexpr Bytes bytes() const { return element ? double(rows) * cols * element : double(ld); }
    constexpr Datum at_home(std::int16_t node) const
    {
        Datum datum = *this;
        datum.home = node;
        return datum;
    }
    constexpr Datum owned_by(std::int16_t process) const
    {
        Datum datum = *this;
        datum.owner = process;
        return datum;
    }
};

/// Where a running task finds a datum: at home, or where a copy is that its unit can use.
struct Operand {
    void* data;
    Index ld;                        ///< of matrices
    std::int32_t rows = 0, cols = 0; ///< as in the datum
    bool is_name = false;            ///< nothing lies there
};

} // namespace trencadis
