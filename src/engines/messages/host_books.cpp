#include "engines/messages/host_books.hpp"

#include <algorithm>

namespace trencadis {
namespace {

/// Names of copies: addresses that no operand has, for nobody's memory lies there, nor do the simulated tiles
/// (simulation/simulation.cpp).
constexpr std::uintptr_t first_name = 0x680000000000, name_apart = 64;

} // namespace

Datum HostBooks::datum_of(CopyId copy, const Datum& original)
{
    Datum named = original.owned_by(0);
    named.address = reinterpret_cast<const void*>(first_name + copy * name_apart);
    return named;
}

std::optional<HostBooks::CopyId> HostBooks::named_by(const void* address) const
{
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at < first_name || (at - first_name) / name_apart >= copies_.size()) return {};
    return static_cast<CopyId>((at - first_name) / name_apart);
}

void HostBooks::know(const Datum& datum)
{
    const auto [place, fresh] = data_.try_emplace(datum.address, Known{datum.bytes(), {}});
    if (!fresh) return;
    HostCount& owner = hosts_[static_cast<std::size_t>(datum.owner)];
    owner.owned += datum.bytes();
    owner.peak = std::max(owner.peak, owner.owned + owner.copies);
}

std::optional<HostBooks::CopyId> HostBooks::copy_of(const Datum& datum, int host) const
{
    const auto& copies = data_.at(datum.address).copies;
    const auto at = std::lower_bound(copies.begin(), copies.end(), std::pair(static_cast<std::int16_t>(host), CopyId{0}));
    return at != copies.end() && at->first == host ? std::optional(at->second) : std::nullopt;
}

HostBooks::CopyId HostBooks::add_copy(const Datum& datum, int host)
{
    const auto id = static_cast<CopyId>(copies_.size());
    copies_.push_back({datum.bytes(), 0, static_cast<std::int16_t>(host)});
    auto& copies = data_.at(datum.address).copies;
    const std::pair mine{static_cast<std::int16_t>(host), id};
    copies.insert(std::lower_bound(copies.begin(), copies.end(), mine), mine);
    return id;
}

void HostBooks::written(const Datum& datum, int by)
{
    auto& copies = data_.at(datum.address).copies;
    for (const auto& [host, id] : copies) {
        if (host == by) continue;
        copies_[id].last = true;
        drop_if_over(copies_[id]);
    }
    std::erase_if(copies, [by](const auto& copy) { return copy.first != by; });
}

void HostBooks::sent(int from, int to, Bytes bytes)
{
    HostCount &sender = hosts_[static_cast<std::size_t>(from)], &receiver = hosts_[static_cast<std::size_t>(to)];
    ++sender.messages_sent;
    ++receiver.messages_received;
    sender.bytes_sent += bytes;
    receiver.bytes_received += bytes;
}

void HostBooks::complete()
{
    data_.clear();
    for (Copy& copy : copies_) {
        copy.last = true;
        drop_if_over(copy);
    }
}

void HostBooks::begins(CopyId id)
{
    Copy& copy = copies_[id];
    if (std::exchange(copy.here, true)) return;
    HostCount& host = hosts_[static_cast<std::size_t>(copy.host)];
    host.copies += copy.bytes;
    host.peak = std::max(host.peak, host.owned + host.copies);
}

void HostBooks::used(CopyId id)
{
    --copies_[id].readers;
    drop_if_over(copies_[id]);
}

void HostBooks::drop_if_over(Copy& copy)
{
    if (!copy.last || copy.readers > 0 || !std::exchange(copy.here, false)) return;
    hosts_[static_cast<std::size_t>(copy.host)].copies -= copy.bytes;
}

const HostCount& HostBooks::busiest_sender() const
{
    return *std::max_element(hosts_.begin(), hosts_.end(),
                             [](const HostCount& a, const HostCount& b) { return a.bytes_sent < b.bytes_sent; });
}

const HostCount& HostBooks::fullest() const
{
    return *std::max_element(hosts_.begin(), hosts_.end(),
                             [](const HostCount& a, const HostCount& b) { return a.peak < b.peak; });
}

} // namespace trencadis
