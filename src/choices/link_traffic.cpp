#include "choices/link_traffic.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace trencadis::choices {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
constexpr Seconds at_once = 1e-9;

} // namespace

LinkTraffic::LinkTraffic(const Machine& machine) : machine_(machine), routes_(machine)
{
    for (const Link& link : machine.links) {
        ends_.emplace_back(find_place(machine, link.from), find_place(machine, link.to));
        for (const bool forth : {true, false}) capacity_.push_back(link.towards(forth));
    }
    for (const MemoryNode& node : machine.nodes) capacity_.push_back(node.bandwidth);
}

Seconds LinkTraffic::alone(int from, int to, Bytes bytes, int pieces) const
{
    const Routes::Route& way = routes_.between(from, to);
    return way.links.empty() ? 0 : bytes / way.bandwidth + pieces * way.latency;
}

int LinkTraffic::way_of(int from, int to, int home)
{
    const auto [known, fresh] = numbers_.try_emplace({from, to}, int(ways_.size()));
    if (!fresh) return known->second;
    Way way;
    int at = from;
    for (const int l : routes_.between(from, to).links) {
        const auto& [one, other] = ends_[std::size_t(l)];
        const bool forth = at == one;
        way.over.push_back(2 * l + !forth);
        at = forth ? other : one;
    }
    // Who uses memory in place uses that of the data alone.
    if (machine_.nodes[std::size_t(home)].bandwidth > 0) way.over.push_back(int(2 * machine_.links.size()) + home);
    ways_.push_back(std::move(way));
    return known->second;
}

void LinkTraffic::send(int who, int from, int to, int home, Bytes bytes, Seconds now)
{
    advance(now);
    const int way = way_of(from, to, home);
    under_way_.push_back({who, way, bytes});
    ++ways_[std::size_t(way)].transfers;
    share();
}

Seconds LinkTraffic::next() const
{
    Seconds soonest = never;
    for (const Transfer& transfer : under_way_)
        soonest = std::min(soonest, transfer.left / ways_[std::size_t(transfer.way)].rate);
    return now_ + soonest;
}

std::vector<int> LinkTraffic::arrived(Seconds now)
{
    advance(now);
    std::vector<int> who;
    std::erase_if(under_way_, [&](const Transfer& transfer) {
        Way& way = ways_[std::size_t(transfer.way)];
        const bool there = transfer.left <= way.rate * at_once;
        if (there) who.push_back(transfer.who);
        way.transfers -= there;
        return there;
    });
    share();
    return who;
}

void LinkTraffic::advance(Seconds now)
{
    for (Transfer& transfer : under_way_) transfer.left -= ways_[std::size_t(transfer.way)].rate * (now - now_);
    now_ = now;
}

/// What has least for each of those that pass it gives each its part; then the rest of them share what is left elsewhere.
void LinkTraffic::share()
{
    std::vector<double> left = capacity_;
    std::vector<int> passing(capacity_.size(), 0);
    for (Way& way : ways_) {
        way.rate = 0;
        for (const int over : way.over) passing[std::size_t(over)] += way.transfers;
    }
    while (true) {
        int narrowest = -1;
        double least = 0;
        for (int one = 0; one < int(left.size()); ++one) {
            if (passing[std::size_t(one)] == 0) continue;
            const double part = left[std::size_t(one)] / passing[std::size_t(one)];
            if (narrowest < 0 || part < least) narrowest = one, least = part;
        }
        if (narrowest < 0) return;
        for (Way& way : ways_) {
            if (way.transfers == 0 || way.rate > 0 || std::ranges::find(way.over, narrowest) == way.over.end()) continue;
            way.rate = least;
            for (const int over : way.over) {
                left[std::size_t(over)] -= least * way.transfers;
                passing[std::size_t(over)] -= way.transfers;
            }
        }
    }
}

} // namespace trencadis::choices
