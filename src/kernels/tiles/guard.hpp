#pragma once
#include "graph/info.hpp"

namespace trencadis {

/// Whether a tile task of a factorization still makes sense: it does nothing once a bad pivot is known at `last` or before.
/// A task of step k names the last row of that step, so that what is computed after a failure depends on where it
/// happened, never on timing.
struct Guard {
    const Info* info = nullptr; ///< none: always go on
    Index last = 0;

    bool stopped() const { return info && info->reached(last); }
};

} // namespace trencadis
