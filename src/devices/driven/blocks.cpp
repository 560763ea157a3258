#include "devices/driven/blocks.hpp"

#include <iterator>
#include <sys/mman.h>

namespace trencadis::devices {
namespace {

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
void* address(std::uintptr_t number) { return reinterpret_cast<void*>(number); } // NOLINT(performance-no-int-to-ptr)

/// Behind each, so that what runs out of one runs into none, and two that follow one another are not taken for one.
constexpr std::size_t gap = 1;

} // namespace

Blocks::~Blocks()
{
    for (const auto& [block, piece] : pieces_) munmap(address(block), piece.bytes + gap);
}

Block Blocks::add(std::size_t bytes, Memory memory, bool owned)
{
    void* const block = mmap(nullptr, bytes + gap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) return nullptr;
    const std::lock_guard lock(mutex_);
    pieces_.emplace(number(block), Piece{bytes, memory, owned});
    return block;
}

std::optional<Blocks::Piece> Blocks::take(Block block)
{
    const std::lock_guard lock(mutex_);
    const auto found = pieces_.find(number(block));
    if (found == pieces_.end()) return std::nullopt;
    const Piece piece = found->second;
    pieces_.erase(found);
    munmap(block, piece.bytes + gap);
    return piece;
}

std::optional<Spot> Blocks::find(const void* in_block, std::size_t bytes) const
{
    const std::lock_guard lock(mutex_);
    const auto next = pieces_.upper_bound(number(in_block));
    if (next == pieces_.begin()) return std::nullopt;
    const auto& [block, piece] = *std::prev(next);
    const std::size_t offset = number(in_block) - block;
    if (offset >= piece.bytes || bytes > piece.bytes - offset) return std::nullopt;
    return Spot{piece.memory, offset};
}

} // namespace trencadis::devices
