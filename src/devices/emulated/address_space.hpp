#pragma once
#include "devices/device.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace trencadis::devices {

/// The memory of an emulated device. A block is an address at which this process may not read or write; what the device's own
/// threads find there lies elsewhere. So host code that takes a block for memory faults at once, and what is no block of this
/// device is found out before anything is touched. Fresh blocks are full of bytes 0xff: no number, in any precision. Any thread.
class AddressSpace final : public BlockMap {
public:
    explicit AddressSpace(std::size_t bytes) : bytes_(bytes) {}
    ~AddressSpace();
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;

    Status allocate(std::size_t bytes, Block& block);
    Status release(Block block);
    void* at(const void* in_block) const override;
    /// The same for so many bytes; null where they do not lie in one block.
    char* behind(const void* in_block, std::size_t bytes) const;

    std::size_t bytes() const { return bytes_; }
    std::size_t used() const;

private:
    struct Region {
        std::size_t bytes; ///< as asked for
        std::size_t pages; ///< the bytes of its pages
        char* memory;      ///< behind the block
    };

    const std::size_t bytes_;
    mutable std::mutex mutex_;
    std::size_t used_ = 0;
    std::map<std::uintptr_t, Region> regions_; ///< by the block's address
};

} // namespace trencadis::devices
