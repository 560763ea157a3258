#include "memory/block_pool.hpp"

#include <algorithm>

namespace trencadis {

void BlockPool::now_used(Bytes bytes)
{
    used_ += bytes;
    peak_ = std::max(peak_, used_);
}

bool BlockPool::release_oldest(std::vector<std::pair<BlockId, TransferId>>& given_up)
{
    const auto oldest = std::min_element(idle_blocks_.begin(), idle_blocks_.end(), [](const auto& a, const auto& b) {
        return a.second.front().age < b.second.front().age;
    });
    if (oldest == idle_blocks_.end()) return false;
    const Idle block = oldest->second.front();
    if (block.reader != no_transfer) readers_.push_back(block.reader);
    given_up.emplace_back(block.block, block.reader);
    idle_ -= oldest->first;
    ++released_;
    oldest->second.pop_front();
    if (oldest->second.empty()) idle_blocks_.erase(oldest);
    return true;
}

BlockId BlockPool::take(Bytes bytes, std::vector<TransferId>& after, std::vector<std::pair<BlockId, TransferId>>& given_up)
{
    if (const auto same = idle_blocks_.find(bytes); same != idle_blocks_.end()) {
        const Idle block = same->second.front();
        if (block.reader != no_transfer) after.push_back(block.reader);
        same->second.pop_front();
        if (same->second.empty()) idle_blocks_.erase(same);
        idle_ -= bytes;
        ++reused_;
        now_used(bytes);
        return block.block;
    }
    while (capacity_ > 0 && used_ + idle_ + bytes > capacity_)
        if (!release_oldest(given_up)) return home_memory;
    // Which of the memory given up becomes this block is not tracked, so it waits for all that is still read.
    after.insert(after.end(), readers_.begin(), readers_.end());
    ++fresh_;
    now_used(bytes);
    return ++last_block_;
}

void BlockPool::free(BlockId block, Bytes bytes, TransferId reader)
{
    used_ -= bytes;
    idle_ += bytes;
    idle_blocks_[bytes].push_back({age_++, block, reader});
}

} // namespace trencadis
