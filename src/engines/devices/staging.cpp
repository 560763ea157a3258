#include "engines/devices/staging.hpp"

#include <algorithm>

namespace trencadis {

using devices::Completion;
using devices::DevicePlace;
using devices::Extent;
using devices::HostPlace;
using devices::Queue;
using devices::Status;

namespace {

/// Calls `piece(first byte, first column, extent, is last)` for pieces of so many bytes at most: whole columns, or parts of one.
template <class Piece> Status in_pieces(Extent extent, std::size_t most, Piece&& piece)
{
    const std::size_t rows = std::min(extent.bytes, most), columns = std::max<std::size_t>(1, most / extent.bytes);
    for (std::size_t column = 0; column < extent.columns; column += columns)
        for (std::size_t row = 0; row < extent.bytes; row += rows) {
            const Extent its{std::min(rows, extent.bytes - row), std::min(columns, extent.columns - column)};
            const bool last = column + its.columns == extent.columns && row + its.bytes == extent.bytes;
            if (Status status = piece(row, column, its, last); !status.ok()) return status;
        }
    return {};
}

char* at(void* memory, std::size_t row, std::size_t column, std::size_t pitch)
{
    return static_cast<char*>(memory) + row + column * pitch;
}

} // namespace

Staging::~Staging()
{
    for (Line& line : lines_)
        for (Slot& slot : line)
            if (slot.memory) (void)device_.release_host(slot.memory);
}

bool Staging::has_room(Queue queue, Extent extent)
{
    const std::size_t bytes = std::min(most, extent.bytes * extent.columns);
    for (Slot& slot : line(queue)) {
        if (slot.bytes >= bytes) continue;
        while (queue == Queue::out && !landings_.empty()) land_first();
        if (slot.free_at.number) (void)device_.wait(slot.free_at);
        if (slot.memory) (void)device_.release_host(slot.memory);
        slot = {};
        if (!device_.allocate_host(bytes, slot.memory).ok()) return false;
        slot.bytes = bytes;
    }
    return true;
}

/// The one that was taken longest ago, when it is free.
Staging::Slot& Staging::take_slot(Queue queue)
{
    const int taken = last(queue) = (last(queue) + 1) % slots;
    const auto is_its = [&](const Landing& landing) { return landing.slot == taken; };
    while (queue == Queue::out && std::ranges::any_of(landings_, is_its)) land_first();
    Slot& slot = line(queue)[std::size_t(taken)];
    if (slot.free_at.number) (void)device_.wait(slot.free_at); // how it went was told at its mark
    slot.free_at = {};
    return slot;
}

Status Staging::copy_in(HostPlace from, DevicePlace to, Extent extent, const Completion& piece_ended)
{
    return in_pieces(extent, most, [&](std::size_t row, std::size_t column, Extent its, bool is_last) {
        Slot& slot = take_slot(Queue::in);
        crew_.copy({at(from.at, row, column, from.pitch), from.pitch}, {slot.memory, its.bytes}, its);
        const Status status = device_.copy_in({slot.memory, its.bytes}, {at(to.block, row, column, to.pitch), to.pitch}, its);
        if (!is_last) slot.free_at = device_.mark(Queue::in, piece_ended);
        return status;
    });
}

Status Staging::copy_out(DevicePlace from, HostPlace to, Extent extent, const Completion& piece_ended)
{
    return in_pieces(extent, most, [&](std::size_t row, std::size_t column, Extent its, bool is_last) {
        Slot& slot = take_slot(Queue::out);
        const Status status =
            device_.copy_out({at(from.block, row, column, from.pitch), from.pitch}, {slot.memory, its.bytes}, its);
        if (status.ok()) landings_.push_back({last(Queue::out), {at(to.at, row, column, to.pitch), to.pitch}, its});
        if (!is_last) slot.free_at = device_.mark(Queue::out, piece_ended);
        return status;
    });
}

void Staging::sealed(Queue queue, const devices::Event& event) { line(queue)[std::size_t(last(queue))].free_at = event; }

/// Where it did not come, nothing is written.
void Staging::land_first()
{
    const Landing landing = landings_.front();
    landings_.pop_front();
    const Slot& slot = line(Queue::out)[std::size_t(landing.slot)];
    if (!device_.wait(slot.free_at).ok()) return;
    crew_.copy({slot.memory, landing.extent.bytes}, landing.to, landing.extent);
}

void Staging::land(const devices::Event& event)
{
    const auto has_come = [&](const Landing& landing) {
        const devices::Event& its = line(Queue::out)[std::size_t(landing.slot)].free_at;
        return its.number > 0 && its.number <= event.number;
    };
    while (!landings_.empty() && has_come(landings_.front())) land_first();
}

} // namespace trencadis
