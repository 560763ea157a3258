#include "memory/replicas.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace trencadis {

Replicas::Replicas(std::vector<Space> spaces, MemoryEnvironment environment)
    : spaces_(std::move(spaces)), environment_(std::move(environment)), recency_(spaces_.size()), pinned_(spaces_.size()),
      home_bytes_(spaces_.size())
{
    if (spaces_.empty())
        throw Error(ErrorCode::bad_argument, "no memory spaces; there must be at least one, where data have their home");
    for (const Space& space : spaces_) pools_.emplace_back(space.capacity);
    statistics_.between.resize(spaces_.size() * spaces_.size());
    statistics_.in_place.resize(spaces_.size() * spaces_.size());
    statistics_.spaces.resize(spaces_.size());
}

// ---- data and their homes

const Replicas::DatumId* Replicas::find(const void* data) const
{
    const auto place = ids_.find(data);
    return place == ids_.end() ? nullptr : &place->second;
}

Replicas::DatumId Replicas::add(const void* data, Bytes bytes, SpaceId home, const DatumShape& shape)
{
    DatumId datum = static_cast<DatumId>(datums_.size());
    if (unused_.empty()) {
        datums_.emplace_back();
        replicas_.resize(replicas_.size() + spaces_.size());
    } else {
        datum = unused_.back();
        unused_.pop_back();
    }
    datums_[datum] = Datum{data, bytes, home};
    datums_[datum].shape = shape;
    at(datum, home) = Replica{Replica::State::here, home_memory, 0, 1};
    home_bytes_[home] += bytes;
    ids_.emplace(data, datum);
    return datum;
}

SpaceId Replicas::expected_home(const TaskDatum& use, SpaceId space) const
{
    SpaceId home = use.home;
    if (home == any_node) home = environment_.home ? environment_.home(use.data, use.bytes, space) : 0;
    check_space(home);
    return home;
}

Replicas::DatumId Replicas::find_or_add(const TaskDatum& use, SpaceId space)
{
    const DatumId* known = find(use.data);
    if (!known) return add(use.data, use.bytes, expected_home(use, space), use.shape);
    Datum& datum = datums_[*known];
    if (use.bytes > datum.bytes && use.mode != AccessMode::write) {
        if (datum.copies > 0 || datum.users > 0)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("the datum at {} had {} bytes and is now used with {}; declare one size for one address",
                                    use.data, datum.bytes, use.bytes));
        home_bytes_[datum.home] += use.bytes - datum.bytes;
        datum.bytes = use.bytes;
        datum.shape = use.shape;
    }
    if (use.shape != datum.shape) note_shape(datum, use);
    return *known;
}

bool Replicas::agrees(const TaskDatum& use) const
{
    const DatumId* id = find(use.data);
    if (!id) return true;
    const Datum& datum = datums_[*id];
    const bool unused = datum.copies == 0 && datum.users == 0;
    const bool size = unused || use.mode == AccessMode::write || use.bytes <= datum.bytes;
    const bool whole = unused && (!datum.shape.element || is_part(datum.shape, use.shape));
    return size && (!use.shape.element || is_part(use.shape, datum.shape) || whole);
}

/// A part of the datum from its first element on is as good as the whole, as long as its columns lie where the whole has them.
void Replicas::note_shape(Datum& datum, const TaskDatum& use)
{
    const DatumShape &known = datum.shape, &said = use.shape;
    if (!said.element || is_part(said, known)) return;
    const bool unused = datum.copies == 0 && datum.users == 0;
    if (unused && (!known.element || is_part(known, said))) {
        datum.shape = said;
        return;
    }
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("the datum at {} was {} x {} elements of {} bytes, columns {} apart, and is now used with {} x {} of {}, "
                    "{} apart; declare one shape for one address",
                    use.data, known.rows, known.cols, known.element, known.ld, said.rows, said.cols, said.element, said.ld));
}

void Replicas::check_space(SpaceId space) const
{
    if (space < 0 || space >= spaces())
        throw Error(ErrorCode::bad_argument,
                    fmt::format("memory space {} is not there; spaces are 0 to {}", space, spaces() - 1));
}

bool Replicas::is_moving(DatumId datum) const
{
    return std::any_of(transfers_.begin(), transfers_.end(), [&](const auto& t) { return t.second.datum == datum; });
}

bool Replicas::in_use(const void* data) const
{
    const DatumId* known = find(data);
    return known && (datums_[*known].users > 0 || is_moving(*known));
}

void Replicas::check_idle(DatumId datum, const char* wish) const
{
    const Datum& d = datums_[datum];
    if (in_use(d.data))
        throw Error(ErrorCode::bad_argument,
                    fmt::format("the datum at {} cannot be {} while a task or a transfer uses it", d.data, wish));
}

void Replicas::place(const void* data, Bytes bytes, SpaceId home)
{
    check_space(home);
    const DatumId* known = find(data);
    if (!known) {
        add(data, bytes, home);
        return;
    }
    check_idle(*known, "placed");
    if (datums_[*known].copies > 0)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("the datum at {} cannot be placed anew: it has copies; forget it first", data));
    Datum& datum = datums_[*known];
    home_bytes_[datum.home] -= datum.bytes;
    at(*known, datum.home) = Replica{};
    datum.home = home;
    datum.bytes = bytes;
    home_bytes_[home] += bytes;
    at(*known, home) = Replica{Replica::State::here, home_memory, 0, datum.version};
}

/// Drops all copies of a datum that nobody uses; what is at home counts as its value, of the new size.
void Replicas::resize(DatumId datum, Bytes bytes)
{
    for (SpaceId s = 0; s < spaces(); ++s)
        if (at(datum, s).block) drop(datum, s, no_transfer);
    Datum& d = datums_[datum];
    home_bytes_[d.home] += bytes - d.bytes;
    d.bytes = bytes;
    at(datum, d.home) = Replica{Replica::State::here, home_memory, 0, d.version};
}

void Replicas::forget(const void* data)
{
    const DatumId* known = find(data);
    if (!known) return;
    const DatumId datum = *known;
    check_idle(datum, "forgotten");
    for (SpaceId s = 0; s < spaces(); ++s) {
        if (at(datum, s).block) drop(datum, s, no_transfer);
        at(datum, s) = Replica{};
    }
    home_bytes_[datums_[datum].home] -= datums_[datum].bytes;
    datums_[datum] = Datum{};
    ids_.erase(data);
    unused_.push_back(datum);
}

SpaceId Replicas::place_from(SpaceId home, SpaceId space) const
{
    return spaces_[space].domain >= 0 && spaces_[space].domain == spaces_[home].domain ? home : space;
}

// ---- copies

bool Replicas::valid(DatumId datum, SpaceId space) const
{
    const Replica& r = at(datum, space);
    return r.state == Replica::State::here && r.version == datums_[datum].version;
}

bool Replicas::on_way(DatumId datum, SpaceId space) const
{
    const Replica& r = at(datum, space);
    return r.state == Replica::State::arriving && r.version == datums_[datum].version;
}

void Replicas::pin(DatumId datum, SpaceId space)
{
    Replica& r = at(datum, space);
    if (r.pins++ == 0 && r.block) pinned_[space] += datums_[datum].bytes;
}

void Replicas::unpin(DatumId datum, SpaceId space)
{
    Replica& r = at(datum, space);
    if (--r.pins > 0) return;
    if (r.block) pinned_[space] -= datums_[datum].bytes;
    settle(datum, space);
}

/// Gives up the block of a copy that is neither current nor in use.
void Replicas::settle(DatumId datum, SpaceId space)
{
    const Replica& r = at(datum, space);
    if (r.block && r.pins == 0 && r.version != datums_[datum].version) drop(datum, space, no_transfer);
}

void Replicas::drop(DatumId datum, SpaceId space, TransferId reader)
{
    Replica& r = at(datum, space);
    pools_[space].free(r.block, datums_[datum].bytes, reader);
    recency_[space].remove(datum);
    r = Replica{};
    --datums_[datum].copies;
}

void Replicas::invalidate_others(DatumId datum)
{
    if (datums_[datum].copies == 0) return;
    for (SpaceId s = 0; s < spaces(); ++s) settle(datum, s);
}

Seconds Replicas::cost(SpaceId from, SpaceId to, Bytes bytes) const
{
    return environment_.cost ? environment_.cost(from, to, bytes) : bytes;
}

/// Where there is no direct way: by way of the datum's home, or of the nearest space without limit, in which there is always
/// room. -1: there is a direct way, or none at all.
SpaceId Replicas::way_between(SpaceId from, SpaceId home, SpaceId to, Bytes bytes) const
{
    constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
    if (cost(from, to, bytes) < never) return -1;
    const auto by = [&](SpaceId s) { return s == from || s == to ? never : cost(from, s, bytes) + cost(s, to, bytes); };
    SpaceId best = -1;
    Seconds least = by(home);
    if (least < never) return home;
    for (SpaceId s = 0; s < spaces(); ++s)
        if (pools_[s].capacity() == 0 && by(s) < least) best = s, least = by(s);
    return best;
}

Seconds Replicas::cost_by_way(SpaceId from, SpaceId home, SpaceId to, Bytes bytes) const
{
    const SpaceId by = way_between(from, home, to, bytes);
    return by < 0 ? cost(from, to, bytes) : cost(from, by, bytes) + cost(by, to, bytes);
}

/// The nearest space with a valid copy; when there is none yet, one that a copy is on its way to.
SpaceId Replicas::source_of(DatumId datum, SpaceId to) const
{
    SpaceId best = -1;
    Seconds best_cost = 0;
    for (const bool arrived : {true, false}) {
        for (SpaceId s = 0; s < spaces(); ++s) {
            if (s == to || !(arrived ? valid(datum, s) : on_way(datum, s))) continue;
            const Seconds c = cost(s, to, datums_[datum].bytes);
            if (best < 0 || c < best_cost) {
                best = s;
                best_cost = c;
            }
        }
        if (best >= 0) break;
    }
    return best;
}

void Replicas::keep_under_way(std::vector<TransferId>& ids) const
{
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::erase_if(ids, [&](TransferId id) { return !under_way(id); });
}

/// Transfers that read or fill this copy's memory: whoever writes it comes after them.
void Replicas::wait_for_uses(DatumId datum, SpaceId space, std::vector<TransferId>& after) const
{
    if (at(datum, space).pins == 0) return;
    for (const auto& [id, t] : transfers_)
        if (t.datum == datum && ((t.from == space && t.holds_source) || t.to == space)) after.push_back(id);
}

TransferId Replicas::start(DatumId datum, SpaceId from, SpaceId to, TransferReason reason, std::vector<TransferId> after,
                           Plan& plan)
{
    const Bytes bytes = datums_[datum].bytes;
    const TransferId id = ++last_transfer_;
    keep_under_way(after);
    const TransferId brings_source = on_way(datum, from) ? at(datum, from).arriving : no_transfer;
    Replica& target = at(datum, to);
    target.state = Replica::State::arriving;
    target.version = datums_[datum].version;
    target.arriving = id;
    pin(datum, to);
    const bool holds_source = reason == TransferReason::fetch;
    if (holds_source) pin(datum, from);
    transfers_.emplace(id, UnderWay{datum, from, to, target.version, holds_source, brings_source});
    (reason == TransferReason::fetch ? statistics_.fetched : statistics_.written_back).add(bytes);
    statistics_.between[std::size_t(from) * spaces_.size() + to].add(bytes);
    plan.transfers.push_back({id, datums_[datum].data, bytes, from, to, reason, std::move(after), at(datum, from).block,
                              target.block, datums_[datum].shape});
    return id;
}

void Replicas::evict_one(SpaceId space, Plan& plan)
{
    int datum = recency_[space].least_recent();
    while (datum != Recency::none && at(datum, space).pins > 0) datum = recency_[space].next(datum);
    if (datum == Recency::none)
        throw Error(ErrorCode::environment, "no copy can be evicted although there was room for the task");
    evict(datum, space, plan);
}

bool Replicas::is_elsewhere(DatumId datum, SpaceId space) const
{
    for (SpaceId s = 0; s < spaces(); ++s)
        if (s != space && (valid(datum, s) || on_way(datum, s))) return true;
    return false;
}

/// A copy that nobody uses. Its value goes home, or as far on the way there as the first space, and stays there.
void Replicas::evict(DatumId datum, SpaceId space, Plan& plan)
{
    ++statistics_.spaces[space].evictions;
    TransferId reader = no_transfer;
    if (!is_elsewhere(datum, space)) {
        const SpaceId home = datums_[datum].home, by = way_between(space, home, home, datums_[datum].bytes);
        const SpaceId to = by < 0 ? home : by;
        std::vector<TransferId> after;
        wait_for_uses(datum, to, after);
        take_block(datum, to, after, plan);
        reader = start(datum, space, to, TransferReason::write_back, std::move(after), plan);
    }
    drop(datum, space, reader);
}

void Replicas::take_block(DatumId datum, SpaceId space, std::vector<TransferId>& after, Plan& plan)
{
    Replica& r = at(datum, space);
    if (r.block || space == datums_[datum].home) return;
    std::vector<std::pair<BlockId, TransferId>> given_up;
    while ((r.block = pools_[space].take(datums_[datum].bytes, after, given_up)) == home_memory) evict_one(space, plan);
    give_up(space, given_up, plan.released);
    if (r.pins > 0) pinned_[space] += datums_[datum].bytes;
    ++datums_[datum].copies;
    recency_[space].touch(datum);
}

void Replicas::give_up(SpaceId space, const std::vector<std::pair<BlockId, TransferId>>& blocks,
                       std::vector<ReleasedBlock>& released) const
{
    for (const auto& [block, reader] : blocks) released.push_back({space, block, under_way(reader) ? reader : no_transfer});
}

void Replicas::make_room(SpaceId space, Plan& plan)
{
    for (DatumId datum = recency_[space].least_recent(); datum != Recency::none;) {
        const DatumId next = recency_[space].next(datum);
        if (at(datum, space).pins == 0) evict(datum, space, plan);
        datum = next;
    }
    release_idle(space, plan.released);
}

void Replicas::release_idle(SpaceId space, std::vector<ReleasedBlock>& released)
{
    std::vector<std::pair<BlockId, TransferId>> given_up;
    pools_[space].release_idle(given_up);
    give_up(space, given_up, released);
}

void Replicas::limit(SpaceId space, Bytes capacity) { pools_[space].limit(capacity); }

// ---- transfers

bool Replicas::has_all(std::span<const TaskDatum> data, SpaceId space) const
{
    return std::all_of(data.begin(), data.end(), [&](const TaskDatum& use) {
        const DatumId* const datum = find(use.data);
        return datum && valid(*datum, space);
    });
}

/// Makes the current version come to a space; returns what to wait for, no_transfer when it is there.
TransferId Replicas::bring(DatumId datum, SpaceId to, Plan& plan)
{
    if (valid(datum, to)) return no_transfer;
    if (on_way(datum, to)) return at(datum, to).arriving;
    SpaceId from = source_of(datum, to);
    if (const SpaceId by = way_between(from, datums_[datum].home, to, datums_[datum].bytes); by >= 0) {
        bring(datum, by, plan);
        from = by;
    }
    std::vector<TransferId> after;
    wait_for_uses(datum, to, after);
    take_block(datum, to, after, plan);
    if (on_way(datum, from)) after.push_back(at(datum, from).arriving);
    return start(datum, from, to, TransferReason::fetch, std::move(after), plan);
}

void Replicas::complete(TransferId id)
{
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) throw Error(ErrorCode::bad_argument, fmt::format("transfer {} is not under way", id));
    const UnderWay t = found->second;
    if (environment_.log) {
        const Transfer transfer{
            .id = id, .data = datums_[t.datum].data, .bytes = datums_[t.datum].bytes, .from = t.from, .to = t.to};
        environment_.log({.what = MemoryEvent::What::complete, .transfers = {transfer}});
    }
    transfers_.erase(found);
    pools_[t.from].completed(id);
    Replica& target = at(t.datum, t.to);
    if (target.arriving == id) {
        target.arriving = no_transfer;
        target.state = Replica::State::here;
    }
    unpin(t.datum, t.to);
    if (t.holds_source) unpin(t.datum, t.from);
}

} // namespace trencadis
