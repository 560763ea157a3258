#pragma once
#include "base/scalar.hpp"
#include "session/session.hpp"

#include <cstddef>
#include <vector>

namespace trencadis::testing {

/// A matrix on a device, with the values of one in the host's memory.
template <Scalar T> struct OnDevice {
    OnDevice(Session& session, int device, const std::vector<T>& values, Index rows, Index cols, Index ld)
        : session(session), rows(rows), cols(cols), ld(ld),
          at(static_cast<T*>(session.allocate_on(device, std::size_t(ld * cols) * sizeof(T))))
    {
        session.copy_to(at, ld, values.data(), ld, rows, cols, sizeof(T));
    }
    ~OnDevice() { session.give_up(at); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    /// The same with what lies there now.
    std::vector<T> in(std::vector<T> values) const
    {
        session.copy_from(at, ld, values.data(), ld, rows, cols, sizeof(T));
        return values;
    }
    Session& session;
    const Index rows, cols, ld;
    T* const at;
};

} // namespace trencadis::testing
