// What becomes of values whose memory is lost, or that did not arrive.
#include "memory/replicas.hpp"

namespace trencadis {

/// Whatever it has is the value from now on: there is no other.
void Replicas::count_as_home(DatumId datum)
{
    Replica& home = at(datum, datums_[datum].home);
    home.state = Replica::State::here;
    home.version = datums_[datum].version;
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
        if (at_home) {
            at(datum, space).arriving = no_transfer; // whatever becomes of that
            count_as_home(datum);
        }
        if (at_home || !lose(datum, space)) lost.push_back(datums_[datum].data);
    }
    return lost;
}

void Replicas::fail(TransferId id)
{
    if (const auto found = transfers_.find(id); found != transfers_.end()) {
        Replica& target = at(found->second.datum, found->second.to);
        const DatumId datum = found->second.datum;
        const bool current = target.arriving == id && target.version == datums_[datum].version;
        if (target.arriving == id) target.version = 0;
        if (current && !is_elsewhere(datum, found->second.to)) count_as_home(datum);
    }
    complete(id);
}

} // namespace trencadis
