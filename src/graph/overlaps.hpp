#pragma once
#include "graph/access.hpp"
#include "graph/data.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace trencadis {

/// Data are told apart by their addresses: two that share memory and begin at different places would have no dependence between
/// them, nor have a datum and its parts where both are named. Whoever finds dependences may keep the data in use here and refuse
/// such a one when it is first named. Data of 0 bytes overlap nothing. Expected cost: a search in a balanced tree, and a
/// comparison with each datum whose columns lie among those of the new one (the tiles of one column of tiles). Not thread-safe.
class Overlaps {
public:
    /// One of the data kept that shares memory with this one and is not called by its address.
    std::optional<Datum> find(const Datum& datum) const;
    /// Keeps it in place of a smaller one at the same address.
    void add(const Datum& datum);
    void remove(const void* address);
    template <class Unused> void remove_if(Unused&& unused)
    {
        std::erase_if(kept_, [&](const auto& entry) { return unused(entry.second); });
    }
    std::size_t size() const { return kept_.size(); }

private:
    std::map<std::uintptr_t, Datum> kept_;
    std::uintptr_t longest_ = 0; ///< bytes from the first to the last of any datum so far
};

/// Bytes from the first to behind the last one of a datum.
std::uintptr_t span_of(const Datum& datum);
/// Do they have a byte in common?
bool overlap(const Datum& a, const Datum& b);

} // namespace trencadis
