#pragma once
#include "graph/access_mode.hpp"
#include "graph/data.hpp"

namespace trencadis {

/// May two consecutive accesses in this mode belong to one group (see graph/dependences.hpp)?
constexpr bool is_shared(AccessMode mode) { return mode != AccessMode::write && mode != AccessMode::readwrite; }
constexpr bool is_writing(AccessMode mode) { return mode != AccessMode::read; }

/// One declared access.
struct Access {
    Datum datum;
    AccessMode mode;
    const Reduction* reduction = nullptr;
    /// Nobody reads this value after the task: copies that other processes have of it can go, and all of it where the datum is a
    /// name.
    bool last = false;
};

inline Access read(const Datum& datum) { return {datum, AccessMode::read}; }
inline Access write(const Datum& datum) { return {datum, AccessMode::write}; }
inline Access readwrite(const Datum& datum) { return {datum, AccessMode::readwrite}; }
inline Access concurrent_write(const Datum& datum) { return {datum, AccessMode::concurrent_write}; }
inline Access commute(const Datum& datum) { return {datum, AccessMode::commute}; }

// The same for data whose shape is nobody's business, by their address; 0 bytes: not known how many.
inline Access read(const void* data, Bytes bytes = 0) { return read(Datum(data, bytes)); }
inline Access write(void* data, Bytes bytes = 0) { return write(Datum(data, bytes)); }
inline Access readwrite(void* data, Bytes bytes = 0) { return readwrite(Datum(data, bytes)); }
inline Access concurrent_write(void* data, Bytes bytes = 0) { return concurrent_write(Datum(data, bytes)); }
inline Access commute(void* data, Bytes bytes = 0) { return commute(Datum(data, bytes)); }
inline Access reduce(void* data, const Reduction& how) { return {Datum(data, Bytes(how.bytes)), AccessMode::reduce, &how}; }

} // namespace trencadis
