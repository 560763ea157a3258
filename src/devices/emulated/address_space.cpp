#include "devices/emulated/address_space.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

namespace trencadis::devices {
namespace {

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// Once for those who compute on the device and once as addresses, with a page in front that nobody may touch: [guard | memory |
/// block]. What runs out of the memory at its end runs into the block's pages.
void* map_twice(std::size_t pages, std::size_t guard)
{
    void* const all = mmap(nullptr, guard + 2 * pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    if (mprotect(static_cast<char*>(all) + guard, pages, PROT_READ | PROT_WRITE) == 0) return all;
    munmap(all, guard + 2 * pages);
    return nullptr;
}

std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

} // namespace

AddressSpace::~AddressSpace()
{
    for (const auto& [block, region] : regions_) munmap(region.memory - page(), page() + 2 * region.pages);
}

Status AddressSpace::allocate(std::size_t bytes, Block& block)
{
    const std::lock_guard lock(mutex_);
    if (bytes == 0) return {Fault::bad_argument, "a block of 0 bytes"};
    if (bytes > bytes_ - used_)
        return {Fault::out_of_memory, fmt::format("{} bytes were asked for, {} of {} are free", bytes, bytes_ - used_, bytes_)};
    const std::size_t pages = (bytes + page() - 1) / page() * page();
    void* const all = map_twice(pages, page());
    if (!all) return {Fault::out_of_memory, fmt::format("the host has no {} bytes for an emulated device", bytes)};
    char* const memory = static_cast<char*>(all) + page();
    std::memset(memory, 0xff, pages);
    block = memory + pages;
    regions_.emplace(number(block), Region{bytes, pages, memory});
    used_ += bytes;
    return {};
}

Status AddressSpace::release(Block block)
{
    const std::lock_guard lock(mutex_);
    const auto found = regions_.find(number(block));
    if (found == regions_.end()) return {Fault::bad_argument, fmt::format("{} is no block of this device", block)};
    used_ -= found->second.bytes;
    munmap(found->second.memory - page(), page() + 2 * found->second.pages);
    regions_.erase(found);
    return {};
}

char* AddressSpace::behind(const void* in_block, std::size_t bytes) const
{
    const std::lock_guard lock(mutex_);
    auto next = regions_.upper_bound(number(in_block));
    if (next == regions_.begin()) return nullptr;
    const auto& [block, region] = *std::prev(next);
    const std::size_t offset = number(in_block) - block;
    return offset < region.bytes && bytes <= region.bytes - offset ? region.memory + offset : nullptr;
}

void* AddressSpace::at(const void* in_block) const
{
    if (void* const memory = behind(in_block, 0)) return memory;
    throw Error(ErrorCode::bad_argument, fmt::format("{} is in no block of this device", in_block));
}

std::size_t AddressSpace::used() const
{
    const std::lock_guard lock(mutex_);
    return used_;
}

} // namespace trencadis::devices
