#pragma once
#include "memory/plan.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace trencadis {

/// What happens to the copies of a run: what an engine does to them, and what is planned for that. Two runs with the same events
/// in the same order move the same bytes.
struct MemoryEvent {
    enum class What : std::uint8_t {
        take,    ///< a unit has taken a task that uses data
        acquire, ///< a task's data have their memory there, and what has to move was planned
        release,
        complete, ///< a transfer has ended
    };
    What what;
    SpaceId space = -1;                   ///< where the task computes
    std::int64_t task = -1;               ///< of `take`: its order in its flow
    std::vector<const void*> data = {};   ///< of `acquire` and `release`: the task's
    std::vector<Transfer> transfers = {}; ///< that were planned, or the one that has ended
};

/// Is told of them one at a time, under whatever lock the engine keeps its copies under; none: nobody is.
using MemoryLog = std::function<void(const MemoryEvent&)>;

} // namespace trencadis
