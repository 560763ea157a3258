#pragma once
#include "devices/driven/driver.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace trencadis::devices {

/// The blocks of a device whose driver gives handles: a block is an address at which this process may neither read nor write, so
/// that kernels may reckon with it and the host that takes it for memory faults at once. None begins where another one ends. Any
/// thread, for others copy from them.
class Blocks {
public:
    Blocks() = default;
    ~Blocks();
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;

    /// Null where the process has no addresses left.
    /// `owned`: it is to be given back to the driver.
    Block add(std::size_t bytes, Memory memory, bool owned = true);
    struct Piece {
        std::size_t bytes;
        Memory memory;
        bool owned;
    };
    std::optional<Piece> take(Block block); ///< nothing: it is none
    /// Of so many bytes from there on; nothing where they do not lie in one block.
    std::optional<Spot> find(const void* in_block, std::size_t bytes) const;
    // When nobody else is there.
    std::map<std::uintptr_t, Piece>::const_iterator begin() const { return pieces_.begin(); }
    std::map<std::uintptr_t, Piece>::const_iterator end() const { return pieces_.end(); }

private:
    mutable std::mutex mutex_;
    std::map<std::uintptr_t, Piece> pieces_; ///< by the block's address
};

} // namespace trencadis::devices
