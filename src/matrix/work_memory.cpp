#include "matrix/work_memory.hpp"

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "machine/node_memory.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

struct Block {
    void* data;
    std::size_t bytes;
    int node;
    bool bound;
};

/// Blocks that nobody uses, oldest first.
struct Kept {
    ProcessLock mutex;
    std::vector<Block> blocks;
    std::size_t bytes = 0;
};
Kept& kept_blocks()
{
    static constinit Lasting<Kept> kept;
    return kept.get();
}

constexpr std::size_t large_page = std::size_t(2) << 20;

std::size_t rounded(std::size_t bytes)
{
    const std::size_t unit = bytes < large_page ? 4096 : large_page;
    return (bytes + unit - 1) / unit * unit;
}

/// The node's smallest kept block that is large enough and not more than twice as large; null data if none is.
Block take(std::size_t bytes, int node)
{
    Kept& kept = kept_blocks();
    std::lock_guard lock(kept.mutex);
    auto best = kept.blocks.end();
    for (auto block = kept.blocks.begin(); block != kept.blocks.end(); ++block)
        if (block->node == node && block->bytes >= bytes && block->bytes / 2 <= bytes &&
            (best == kept.blocks.end() || block->bytes < best->bytes))
            best = block;
    if (best == kept.blocks.end()) return {nullptr, 0, node, false};
    const Block found = *best;
    kept.blocks.erase(best);
    kept.bytes -= found.bytes;
    return found;
}

/// The oldest kept block, where more are kept than may be.
bool take_surplus(Block& oldest)
{
    Kept& kept = kept_blocks();
    const std::lock_guard lock(kept.mutex);
    if (kept.bytes <= WorkMemory::kept_limit) return false;
    oldest = kept.blocks.front();
    kept.bytes -= oldest.bytes;
    kept.blocks.erase(kept.blocks.begin());
    return true;
}

Block map(std::size_t bytes, int node)
{
    const auto ask = [bytes] {
        void* const got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED || WorkMemory::leaves_room()) return got;
        munmap(got, bytes);
        return MAP_FAILED;
    };
    void* data = ask();
    if (data == MAP_FAILED) {
        WorkMemory::release(); // what is kept for later calls may be what is missing
        data = ask();
    }
    if (data == MAP_FAILED)
        throw Error(ErrorCode::out_of_memory, "no memory for a work space of " + std::to_string(bytes) + " bytes");
    if (bytes >= large_page) madvise(data, bytes, MADV_HUGEPAGE); // a wish: without it all works the same
    return {data, bytes, node, node != WorkMemory::anywhere && bind_to_node(data, bytes, node)};
}

} // namespace

WorkMemory::WorkMemory(std::size_t bytes, int node) : node_(node)
{
    if (bytes == 0) return;
    Block block = take(rounded(bytes), node);
    if (!block.data) block = map(rounded(bytes), node);
    data_ = block.data;
    bytes_ = block.bytes;
    bound_ = block.bound;
}

/// Takes no memory but for the list of what is kept; where there is none for that, the block is given back.
WorkMemory::~WorkMemory()
{
    if (!data_) return;
    Block surplus{data_, bytes_, node_, bound_};
    try {
        Kept& kept = kept_blocks();
        const std::lock_guard lock(kept.mutex);
        kept.blocks.push_back(surplus);
        kept.bytes += bytes_;
        surplus.data = nullptr;
    } catch (const std::bad_alloc&) {
    }
    for (; surplus.data || take_surplus(surplus); surplus.data = nullptr) munmap(surplus.data, surplus.bytes);
}

bool WorkMemory::leaves_room(std::size_t room)
{
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return true;
    void* const tried = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tried == MAP_FAILED) return false;
    munmap(tried, room);
    return true;
}

std::size_t WorkMemory::kept()
{
    std::lock_guard lock(kept_blocks().mutex);
    return kept_blocks().bytes;
}

void WorkMemory::release()
{
    std::vector<Block> blocks;
    {
        Kept& kept = kept_blocks();
        std::lock_guard lock(kept.mutex);
        blocks = std::exchange(kept.blocks, {});
        kept.bytes = 0;
    }
    for (const Block& block : blocks) munmap(block.data, block.bytes);
}

} // namespace trencadis
