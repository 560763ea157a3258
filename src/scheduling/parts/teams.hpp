#pragma once
#include "scheduling/scheduler.hpp"

#include <string_view>
#include <vector>

namespace trencadis {

/// A leader first, then its followers.
using TeamMembers = std::vector<WorkerId>;

/// Teams by text: members joined by '+', teams by '/', as in 4+0/5+1; the first of each leads. Workers not named are teams of
/// their own. Throws Error{bad_argument} for what is no number, no worker, or named twice.
std::vector<TeamMembers> parse_teams(std::string_view text, int workers);

/// In each memory node as many teams as there can be with the same number of workers of each kind in all of them, the fastest
/// kind leading: 4 + 4 cores make 4 pairs, 6 + 8 make 2 teams of 3 + 4. Where all are of one kind every worker is on its own; so
/// is a device, which has a memory of its own.
std::vector<TeamMembers> even_teams(const View& view);

} // namespace trencadis
