#include "scheduling/parts/teams.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <string>

namespace trencadis {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why)
{
    throw Error(ErrorCode::bad_argument,
                "scheduler 'virtual-cores': teams=" + std::string(text) + ": " + why + "; write teams=4+0/5+1, the leader first");
}

WorkerId parse_worker(std::string_view text, std::string_view word, int workers)
{
    WorkerId worker = no_worker;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), worker);
    if (error != std::errc() || end != word.data() + word.size())
        refuse(text, std::string("'").append(word).append("' is not a worker's number"));
    if (worker < 0 || worker >= workers)
        refuse(text, "there is no worker " + std::string(word) + ", workers are 0 to " + std::to_string(workers - 1));
    return worker;
}

/// Calls `visit` for each piece of the text between separators.
template <class Visit> void for_each_piece(std::string_view text, char separator, Visit&& visit)
{
    while (true) {
        const std::size_t end = text.find(separator);
        visit(text.substr(0, end));
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

} // namespace

std::vector<TeamMembers> parse_teams(std::string_view text, int workers)
{
    std::vector<TeamMembers> teams;
    std::vector<bool> named(static_cast<std::size_t>(workers), false);
    for_each_piece(text, '/', [&](std::string_view team) {
        teams.emplace_back();
        for_each_piece(team, '+', [&](std::string_view word) {
            const WorkerId worker = parse_worker(text, word, workers);
            if (named[worker]) refuse(text, "worker " + std::to_string(worker) + " is named twice");
            named[worker] = true;
            teams.back().push_back(worker);
        });
    });
    for (WorkerId worker = 0; worker < workers; ++worker)
        if (!named[worker]) teams.push_back({worker});
    return teams;
}

std::vector<TeamMembers> even_teams(const View& view)
{
    using Kinds = std::map<int, std::vector<WorkerId>, std::greater<>>; // the fastest first
    std::map<int, Kinds> nodes;
    for (WorkerId worker = 0; worker < view.workers(); ++worker) nodes[view.node(worker)][view.kind(worker)].push_back(worker);
    std::vector<TeamMembers> teams;
    for (const auto& [node, kinds] : nodes) {
        std::size_t count = 0;
        for (const auto& [kind, members] : kinds) count = std::gcd(count, members.size());
        const std::size_t first = teams.size();
        teams.resize(first + count);
        for (const auto& [kind, members] : kinds)
            for (std::size_t i = 0; i < members.size(); ++i) teams[first + i % count].push_back(members[i]);
    }
    return teams;
}

} // namespace trencadis
