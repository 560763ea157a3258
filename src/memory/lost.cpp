// What becomes of values whose memory is lost, or that did not arrive.
#include "memory/replicas.hpp"

namespace trencadis {
namespace {

constexpr SpaceId nowhere = -1;

} // namespace

/// Whatever it has is the value from now on, and whatever comes of what is on its way there: there is no other.
void Replicas::count_as_home(DatumId datum)
{
    Replica& home = at(datum, datums_[datum].home);
    home.state = Replica::State::here;
    home.version = datums_[datum].version;
    home.arriving = no_transfer;
}

/// False: its only value was there.
bool Replicas::lose(DatumId datum, SpaceId space)
{
    Datum& d = datums_[datum];
    Replica& r = at(datum, space);
    const bool current = valid(datum, space) || on_way(datum, space), elsewhere = is_elsewhere(datum, space);
    r.version = 0;
    settle(datum, space);
    if (!current || elsewhere) return true;
    count_as_home(datum);
    return d.writers > 0 && d.mode == AccessMode::write; // who writes it needs none
}

std::vector<const void*> Replicas::lose(SpaceId space)
{
    std::vector<const void*> lost;
    for (DatumId datum = 0; datum < static_cast<DatumId>(datums_.size()); ++datum) {
        if (!datums_[datum].data) continue;
        const bool at_home = space == datums_[datum].home; // its value cannot be given back any more, wherever it is
        if (at_home) count_as_home(datum);
        if (at_home || !lose(datum, space)) lost.push_back(datums_[datum].data);
    }
    return lost;
}

/// A copy that is on its way is worth what it is copied from: nothing, where that is itself on its way and does not come.
void Replicas::expect_nothing_of(TransferId id)
{
    UnderWay& its = transfers_.at(id);
    its.brings_nothing = true;
    if (Replica& target = at(its.datum, its.to); target.arriving == id) target.version = 0;
    for (const auto& [next, other] : transfers_)
        if (other.brings_source == id) expect_nothing_of(next);
}

bool Replicas::fail(TransferId id)
{
    bool lost = false;
    if (const auto found = transfers_.find(id); found != transfers_.end()) {
        const DatumId datum = found->second.datum;
        const bool was_there = is_elsewhere(datum, nowhere);
        expect_nothing_of(id);
        lost = was_there && !is_elsewhere(datum, nowhere);
        if (lost) count_as_home(datum);
    }
    complete(id);
    return lost;
}

bool Replicas::brings_nothing(TransferId id) const
{
    const auto found = transfers_.find(id);
    return found != transfers_.end() && found->second.brings_nothing;
}

} // namespace trencadis
