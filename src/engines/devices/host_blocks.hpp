#pragma once
#include "memory/plan.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>

namespace trencadis {

/// The host's memory for copies of data that are at home elsewhere, by the number of its block. Serialised by its owner.
class HostBlocks {
public:
    /// From its first use on; null: there is none.
    void* find(BlockId block, Bytes bytes);
    void give_up(BlockId block) { blocks_.erase(block); }
    bool empty() const { return blocks_.empty(); }

private:
    static constexpr std::size_t line = 64;
    struct Give {
        void operator()(void* memory) const;
    };
    std::unordered_map<BlockId, std::unique_ptr<void, Give>> blocks_;
};

} // namespace trencadis
