#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <vector>

namespace trencadis {

struct Traffic {
    std::int64_t count = 0;
    Bytes bytes = 0;
    void add(Bytes more)
    {
        ++count;
        bytes += more;
    }
};

/// What tasks of one space read and wrote in place, where it lies in one space; of a datum that is read and written both.
struct InPlace {
    Bytes read = 0, written = 0;
};

/// What happened to the copies of one space.
struct SpaceStatistics {
    std::int64_t hits = 0;   ///< operands found valid
    std::int64_t joined = 0; ///< operands already on their way for another task
    std::int64_t misses = 0; ///< operands that had to be fetched
    std::int64_t evictions = 0;
    std::int64_t fresh_blocks = 0;    ///< blocks taken from the space's memory
    std::int64_t reused_blocks = 0;   ///< blocks of the same size used again
    std::int64_t released_blocks = 0; ///< idle blocks given up to make room for another size
    Bytes peak_bytes = 0;             ///< most that copies took at once
};

struct MemoryStatistics {
    Traffic fetched;
    Traffic written_back;
    Traffic local;                 ///< operands used in place, in the task's own space
    Traffic remote;                ///< operands used in place, in another space of the domain
    std::vector<Traffic> between;  ///< copies, [from * spaces + to]
    std::vector<InPlace> in_place; ///< [the datum's space * spaces + the task's]
    std::vector<SpaceStatistics> spaces;
};

} // namespace trencadis
