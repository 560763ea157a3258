#pragma once
#include "algorithms/forms/form.hpp"
#include "base/error.hpp"

#include <cstddef>

namespace trencadis {

/// Who cuts a problem up: tiles are for so many cores, and for devices of so many bytes.
struct Cutters {
    int workers;
    Bytes device_bytes;  ///< 0: there is none
    bool arrays = false; ///< these are what arrays have left

    /// A core and a device share tiles as two cores would.
    int sharing() const { return device_bytes > 0 && workers < 2 ? 2 : workers; }
};

/// A device has less memory than the operands of one task take.
struct NoRoomThere : Error {
    using Error::Error;
};

/// A device has the operands of one task in its memory together. Tiles that nobody asked for are as small as that needs; those of
/// a problem of one tile are the cores'. Throws NoRoomThere.
void fit_devices(Problem& problem, const Form& form, const Cutters& by, bool asked, std::size_t element_bytes);

/// The tiles of an n x n problem that nobody asked for: smaller ones where a device has less memory. Throws NoRoomThere.
Index tile_of(const Form& form, Index n, std::size_t element_bytes, const Cutters& by);

} // namespace trencadis
