#pragma once
#include "graph/team.hpp"

#include <functional>
#include <thread>

namespace trencadis::testing {

/// `work` by the caller, who takes chunks from the first on, and at the same time by one who joins, from the last.
inline void work_from_both_ends(Index chunks, const std::function<void(Team&)>& work)
{
    SharedWork all(chunks, 1);
    std::thread other([&] {
        Team joined(all, nullptr, 1, true);
        work(joined);
    });
    Team own(all);
    work(own);
    other.join();
}

} // namespace trencadis::testing
