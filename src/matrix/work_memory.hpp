#pragma once
#include <cstddef>

namespace trencadis {

/// A block of page-aligned memory for packed tiles and other work space of one call; large pages are asked for. A block that is
/// given back is kept for the next call, because fresh pages cost as much as several percent of a factorization; at most
/// `kept_limit` bytes are kept in all, the rest goes back to the system at once. Contents are undefined. Throws
/// Error{out_of_memory}.
///
/// A block may be asked for on a memory node (machine/node_memory.hpp): its pages are bound there, and it is kept apart for the
/// next call that asks for that node. Where the system does not bind, they lie where they are first touched. Thread-safety:
/// blocks may be made and destroyed by any thread.
class WorkMemory {
public:
    static constexpr std::size_t kept_limit = std::size_t(256) << 20;

    static constexpr int anywhere = -1;

    explicit WorkMemory(std::size_t bytes, int node = anywhere);
    ~WorkMemory();
    WorkMemory(const WorkMemory&) = delete;
    WorkMemory& operator=(const WorkMemory&) = delete;

    void* data() const { return data_; }
    std::size_t bytes() const { return bytes_; } ///< at least what was asked for
    bool bound() const { return bound_; }        ///< its pages are on the node that was asked for

    static constexpr std::size_t least_room = std::size_t(1) << 20;

    /// Is there address space left for what the program and our tasks allocate in small pieces, which cannot do with less? Asked
    /// after a large block, which then had better be smaller. Where the address space has no limit, that costs next to nothing.
    static bool leaves_room(std::size_t room = least_room);

    static std::size_t kept(); ///< bytes that are kept for later calls
    static void release();     ///< gives all of them back to the system

private:
    std::size_t bytes_ = 0;
    void* data_ = nullptr;
    int node_ = anywhere;
    bool bound_ = false;
};

} // namespace trencadis
