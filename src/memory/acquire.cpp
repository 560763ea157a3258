// What a task does to the copies: acquire before it runs, release after it; and the questions policies ask.
#include "memory/replicas.hpp"

#include <algorithm>

namespace trencadis {

void Replicas::resolve(std::span<const TaskDatum> data, SpaceId space)
{
    check_space(space);
    uses_.clear();
    for (const TaskDatum& use : data) {
        const DatumId datum = find_or_add(use, space);
        // Who writes a part only leaves the rest as it is.
        const bool part = use.mode == AccessMode::write && use.bytes < datums_[datum].bytes;
        uses_.push_back(
            {datum, part ? AccessMode::readwrite : use.mode, place_of(datum, space), std::max(use.bytes, datums_[datum].bytes)});
    }
}

/// Dependences keep such tasks apart, except those that may hold a datum together in one memory but not in two. A larger value
/// takes the place of one that is not on its way anywhere.
bool Replicas::conflicts(const Use& use) const
{
    const Datum& d = datums_[use.datum];
    if (d.users == 0) return use.bytes != d.bytes && is_moving(use.datum);
    if (!is_writing(use.mode)) return d.writers > 0;
    if (d.writers == 0) return true;
    const bool together = use.mode == d.mode && (use.mode == AccessMode::concurrent_write || use.mode == AccessMode::reduce);
    return !together || use.place != d.writer_place;
}

bool Replicas::has_room(SpaceId space) const
{
    if (pools_[space].capacity() == 0) return true;
    Bytes more = 0;
    for (const Use& use : uses_) {
        if (use.place != space || datums_[use.datum].home == space) continue;
        const Replica& r = at(use.datum, space);
        if (!r.block || r.pins == 0) more += use.bytes;
    }
    return pinned_[space] + more <= pools_[space].capacity();
}

void Replicas::prepare_write(const Use& use, Plan& plan)
{
    wait_for_uses(use.datum, use.place, plan.wait_for);
    if (use.mode != AccessMode::write) return;
    // The previous value is not needed: the copies of it make room at once.
    take_block(use.datum, use.place, plan.wait_for, plan);
    Replica& r = at(use.datum, use.place);
    r.state = Replica::State::here;
    r.arriving = no_transfer;
    r.version = ++datums_[use.datum].version;
    invalidate_others(use.datum);
}

void Replicas::use_in_place(const Use& use, SpaceId space, Plan& plan)
{
    const Datum& d = datums_[use.datum];
    if (spaces_[space].domain < 0 || use.place != d.home) return;
    InPlace& bytes = statistics_.in_place[std::size_t(use.place) * spaces_.size() + space];
    if (use.mode != AccessMode::write) bytes.read += d.bytes;
    if (is_writing(use.mode)) bytes.written += d.bytes;
    if (use.place == space) {
        statistics_.local.add(d.bytes);
    } else {
        statistics_.remote.add(d.bytes);
        plan.remote.push_back({d.data, d.bytes, use.place, space, is_writing(use.mode)});
    }
}

void Replicas::use(const Use& use, SpaceId space, Plan& plan)
{
    Datum& d = datums_[use.datum];
    ++d.users;
    if (use.mode != AccessMode::write) {
        SpaceStatistics& counts = statistics_.spaces[use.place];
        ++(valid(use.datum, use.place) ? counts.hits : on_way(use.datum, use.place) ? counts.joined : counts.misses);
        if (const TransferId id = bring(use.datum, use.place, plan); id != no_transfer) plan.wait_for.push_back(id);
    }
    if (is_writing(use.mode)) {
        ++d.writers;
        d.mode = use.mode;
        d.writer_place = use.place;
        prepare_write(use, plan);
    }
    use_in_place(use, space, plan);
    if (at(use.datum, use.place).block) recency_[use.place].touch(use.datum);
}

void Replicas::note(MemoryEvent::What what, std::span<const TaskDatum> data, SpaceId space, const Plan* plan) const
{
    MemoryEvent event{.what = what, .space = space};
    for (const TaskDatum& use : data) event.data.push_back(use.data);
    if (plan) event.transfers = plan->transfers;
    environment_.log(event);
}

Plan Replicas::acquire(std::span<const TaskDatum> data, SpaceId space)
{
    resolve(data, space);
    Plan plan;
    for (const Use& one : uses_)
        if (one.place == space && datums_[one.datum].home != space) plan.working_set += one.bytes;
    if (const Bytes capacity = pools_[space].capacity(); capacity > 0 && plan.working_set > capacity) {
        plan.verdict = Verdict::never;
        return plan;
    }
    if (!has_room(space) || std::any_of(uses_.begin(), uses_.end(), [&](const Use& use) { return conflicts(use); })) {
        plan.verdict = Verdict::later;
        return plan;
    }
    for (const Use& one : uses_)
        if (one.bytes != datums_[one.datum].bytes) resize(one.datum, one.bytes);
    // All are pinned first, so that making room for one does not evict another.
    for (const Use& one : uses_) pin(one.datum, one.place);
    for (const Use& one : uses_) use(one, space, plan);
    if (!plan.wait_for.empty()) keep_under_way(plan.wait_for);
    if (environment_.log) note(MemoryEvent::What::acquire, data, space, &plan);
    return plan;
}

void Replicas::release(std::span<const TaskDatum> data, SpaceId space, bool ran)
{
    if (environment_.log) note(MemoryEvent::What::release, data, space, nullptr);
    resolve(data, space);
    for (const Use& use : uses_) {
        Datum& d = datums_[use.datum];
        --d.users;
        if (is_writing(use.mode)) {
            --d.writers;
            if (ran) {
                at(use.datum, use.place).version = ++d.version;
                invalidate_others(use.datum);
            }
        }
        if (at(use.datum, use.place).block) recency_[use.place].touch(use.datum);
        unpin(use.datum, use.place);
    }
}

std::vector<const void*> Replicas::spoil(std::span<const TaskDatum> data, SpaceId space)
{
    resolve(data, space);
    std::vector<const void*> lost;
    for (const Use& use : uses_)
        if (is_writing(use.mode) && !lose(use.datum, use.place)) lost.push_back(datums_[use.datum].data);
    return lost;
}

// ---- questions

bool Replicas::holds(const void* data, SpaceId space) const { return holds({data, 0, AccessMode::read}, space); }

bool Replicas::holds(const TaskDatum& use, SpaceId space) const
{
    check_space(space);
    const DatumId* datum = find(use.data);
    return datum ? valid(*datum, space) || on_way(*datum, space) : expected_home(use, space) == space;
}

Bytes Replicas::valid_bytes(std::span<const TaskDatum> data, SpaceId space) const
{
    Bytes sum = 0;
    for (const TaskDatum& use : data)
        if (use.mode != AccessMode::write && holds(use, space)) sum += use.bytes;
    return sum;
}

Seconds Replicas::transfer_time(std::span<const TaskDatum> data, SpaceId space) const
{
    Seconds sum = 0;
    for (const TaskDatum& use : data) {
        const DatumId* datum = find(use.data);
        const SpaceId home = datum ? datums_[*datum].home : expected_home(use, space);
        const SpaceId place = place_from(home, space);
        const Bytes bytes = datum ? datums_[*datum].bytes : use.bytes;
        if (use.mode != AccessMode::write && !holds(use, place))
            sum += cost_by_way(datum ? source_of(*datum, place) : home, home, place, bytes);
        if (place != space) sum += cost(place, space, bytes);
    }
    return sum;
}

bool Replicas::holds_written(std::span<const TaskDatum> data, SpaceId space) const
{
    return std::any_of(data.begin(), data.end(), [&](const TaskDatum& use) { return is_writing(use.mode) && holds(use, space); });
}

Bytes Replicas::working_set(std::span<const TaskDatum> data, SpaceId space) const
{
    Bytes sum = 0;
    for (const TaskDatum& use : data) {
        const DatumId* datum = find(use.data);
        const SpaceId home = datum ? datums_[*datum].home : expected_home(use, space);
        if (home != space && place_from(home, space) == space)
            sum += datum ? std::max(datums_[*datum].bytes, use.bytes) : use.bytes;
    }
    return sum;
}

bool Replicas::fits(std::span<const TaskDatum> data, SpaceId space) const
{
    return pools_[space].capacity() == 0 || working_set(data, space) <= pools_[space].capacity();
}

std::vector<TaskDatum> Replicas::away() const
{
    std::vector<TaskDatum> list;
    for (DatumId datum = 0; datum < static_cast<DatumId>(datums_.size()); ++datum) {
        const Datum& d = datums_[datum];
        if (d.data && !valid(datum, d.home) && !on_way(datum, d.home))
            list.push_back({d.data, d.bytes, AccessMode::read, any_node, d.shape});
    }
    return list;
}

DatumShape Replicas::shape(const void* data) const
{
    const DatumId* datum = find(data);
    return datum ? datums_[*datum].shape : DatumShape{};
}

Bytes Replicas::bytes(const void* data) const
{
    const DatumId* datum = find(data);
    return datum ? datums_[*datum].bytes : 0;
}

SpaceId Replicas::home(const void* data) const
{
    const DatumId* datum = find(data);
    return datum ? datums_[*datum].home : -1;
}

BlockId Replicas::block(const void* data, SpaceId space) const
{
    check_space(space);
    const DatumId* datum = find(data);
    return datum ? at(*datum, space).block : home_memory;
}

MemoryStatistics Replicas::statistics() const
{
    MemoryStatistics copy = statistics_;
    for (SpaceId s = 0; s < spaces(); ++s) {
        copy.spaces[s].fresh_blocks = pools_[s].fresh();
        copy.spaces[s].reused_blocks = pools_[s].reused();
        copy.spaces[s].released_blocks = pools_[s].released();
        copy.spaces[s].peak_bytes = pools_[s].peak();
    }
    return copy;
}

std::span<const TaskDatum> data_of(const Task& task, std::vector<TaskDatum>& into)
{
    into.clear();
    for_each_datum(task, [&](const TaskDatum& datum) { into.push_back(datum); });
    return into;
}

} // namespace trencadis
