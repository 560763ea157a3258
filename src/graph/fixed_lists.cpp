#include "graph/fixed_lists.hpp"

#include <utility>

namespace trencadis {

void FixedLists::reserve(int count)
{
    while (free_count_ < count) {
        constexpr int size = 256;
        blocks_.push_back(std::make_unique<Node[]>(size));
        for (int i = 0; i < size; ++i) give_back(blocks_.back()[i]);
    }
}

FixedLists::Node* FixedLists::take()
{
    --free_count_;
    Node* node = std::exchange(free_, free_->next);
    node->next = nullptr;
    return node;
}

void FixedLists::give_back(Node& node)
{
    node.next = std::exchange(free_, &node);
    ++free_count_;
}

} // namespace trencadis
