#pragma once
#include "graph/dependences.hpp"

#include <memory>
#include <vector>

namespace trencadis {

/// The dependence table of a fixed number of lists that some runtimes have: a lookup walks the list, so its cost grows with the
/// data in flight. Data at rest are dropped by whoever walks past them. Owner of the table only.
class FixedLists {
public:
    explicit FixedLists(std::size_t lists) : heads_(lists) {}

    /// Makes room for `count` more data, so that find does not throw.
    void reserve(int count);
    /// The datum called `key`; a new one without groups when there is none. `drop(entry)` is asked for each one passed on
    /// the way: true when it was given up.
    template <class Drop> DependenceTable::Entry& find(const void* key, Drop&& drop)
    {
        Node** link = &heads_[(reinterpret_cast<std::uintptr_t>(key) * 0x9E3779B97F4A7C15ull >> 20) % heads_.size()];
        while (Node* node = *link) {
            if (node->entry.key == key) return node->entry;
            if (drop(node->entry)) {
                *link = node->next;
                give_back(*node);
            } else link = &node->next;
        }
        *link = take();
        (*link)->entry = {key, nullptr, 0};
        return (*link)->entry;
    }
    template <class Visit> void clear(Visit&& visit)
    {
        for (Node*& head : heads_)
            while (Node* node = head) {
                head = node->next;
                visit(node->entry);
                give_back(*node);
            }
    }

private:
    struct Node {
        DependenceTable::Entry entry;
        Node* next;
    };
    Node* take();
    void give_back(Node& node);

    std::vector<Node*> heads_;
    Node* free_ = nullptr;
    int free_count_ = 0;
    std::vector<std::unique_ptr<Node[]>> blocks_;
};

} // namespace trencadis
