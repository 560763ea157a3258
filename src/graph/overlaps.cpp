#include "graph/overlaps.hpp"

#include <algorithm>

namespace trencadis {
namespace {

/// A datum in bytes: `cols` columns of `bytes`, `apart` from one to the next; opaque data are one column.
struct Columns {
    std::uintptr_t begin;
    std::intptr_t bytes, cols, apart;

    explicit Columns(const Datum& datum) : begin(reinterpret_cast<std::uintptr_t>(datum.address))
    {
        if (datum.element) {
            bytes = std::intptr_t(datum.rows) * datum.element;
            cols = bytes ? datum.cols : 0;
            apart = std::max(std::intptr_t(datum.ld) * datum.element, bytes); // of one column nobody needs to say
        } else {
            bytes = apart = datum.ld;
            cols = bytes > 0;
        }
    }
    std::uintptr_t span() const { return cols > 0 ? std::uintptr_t((cols - 1) * apart + bytes) : 0; }
};

/// Columns at the same distance in both, or one column in b: b begins `down` bytes below the top of the column `right` of a, and
/// reaches into `more` further ones.
bool overlap_at_one_distance(const Columns& a, const Columns& b)
{
    const std::intptr_t from_a = static_cast<std::intptr_t>(b.begin - a.begin);
    std::intptr_t right = from_a / a.apart, down = from_a % a.apart;
    if (down < 0) {
        down += a.apart;
        --right;
    }
    const std::intptr_t more = (down + b.bytes - 1) / a.apart;
    const bool in_first = down < a.bytes && right < a.cols && right + b.cols > 0;
    return in_first || (more > 0 && right + 1 < a.cols && right + more + b.cols > 0);
}

bool overlap_anyhow(const Columns& a, const Columns& b)
{
    for (std::intptr_t j = 0; j < b.cols; ++j) {
        Columns column = b;
        column.begin += std::uintptr_t(j * b.apart);
        column.cols = 1;
        if (overlap_at_one_distance(a, column)) return true;
    }
    return false;
}

bool overlap(const Columns& a, const Columns& b)
{
    if (a.cols <= 0 || b.cols <= 0) return false;
    if (a.begin >= b.begin + b.span() || b.begin >= a.begin + a.span()) return false;
    if (a.apart == b.apart || b.cols == 1) return overlap_at_one_distance(a, b);
    return a.cols == 1 ? overlap_at_one_distance(b, a) : overlap_anyhow(a, b);
}

} // namespace

std::uintptr_t span_of(const Datum& datum) { return Columns(datum).span(); }
bool overlap(const Datum& a, const Datum& b) { return overlap(Columns(a), Columns(b)); }

std::optional<Datum> Overlaps::find(const Datum& datum) const
{
    const Columns columns(datum);
    const std::uintptr_t before = std::min(columns.begin, longest_);
    for (auto at = kept_.upper_bound(columns.begin - before); at != kept_.end() && at->first < columns.begin + columns.span();
         ++at)
        if (at->first != columns.begin && overlap(Columns(at->second), columns)) return at->second;
    return {};
}

void Overlaps::add(const Datum& datum)
{
    const std::uintptr_t span = span_of(datum);
    const auto [at, is_new] = kept_.try_emplace(reinterpret_cast<std::uintptr_t>(datum.address), datum);
    if (!is_new && span_of(at->second) < span) at->second = datum;
    longest_ = std::max(longest_, span);
}

void Overlaps::remove(const void* address) { kept_.erase(reinterpret_cast<std::uintptr_t>(address)); }

} // namespace trencadis
