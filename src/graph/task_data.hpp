#pragma once
#include "graph/dependences.hpp"
#include "graph/task.hpp"

#include <algorithm>

namespace trencadis {

/// What a two-dimensional copy needs beside addresses; elements of 0 bytes: nobody knows more than how many bytes there are.
struct DatumShape {
    Index ld = 0; ///< of the datum at home
    std::int32_t rows = 0, cols = 0, element = 0;

    bool operator==(const DatumShape&) const = default;
};

inline DatumShape shape_of(const Datum& datum)
{
    return datum.element ? DatumShape{datum.ld, datum.rows, datum.cols, datum.element} : DatumShape{};
}

/// From the first element of the whole on, with its columns where the whole has them.
inline bool is_part(const DatumShape& part, const DatumShape& whole)
{
    return part.element == whole.element && part.rows <= whole.rows && part.cols <= whole.cols &&
           (part.cols <= 1 || part.ld == whole.ld);
}

/// Of two that a task names by one address. Null: neither is a part of the other.
inline const DatumShape* larger_of(const DatumShape& one, const DatumShape& other)
{
    return is_part(other, one) ? &one : is_part(one, other) ? &other : nullptr;
}

/// One datum a task uses, for those who place tasks and move data.
struct TaskDatum {
    const void* data;
    Bytes bytes; ///< 0 when not known
    AccessMode mode;
    int home = any_node; ///< Datum::home, of a name any_node
    DatumShape shape = {};
};

/// Under the same address once more: what is larger holds both. Where neither does, they are the first one's
/// (names_two_ways).
inline void widen(TaskDatum& use, const Datum& again)
{
    const DatumShape shape = shape_of(again);
    const DatumShape* const larger = larger_of(use.shape, shape);
    if (!larger) return;
    const bool is_known = use.bytes > 0 && again.bytes() > 0;
    use.bytes = is_known ? std::max(use.bytes, again.bytes()) : 0;
    use.shape = *larger;
}

/// Does it name something twice, as data of which neither holds the other? A copy has one shape.
inline bool names_two_ways(const Task& task)
{
    for (int i = 0; i < task.access_count; ++i)
        for (int j = 0; j < i; ++j) {
            const Datum &first = task.data[j], &again = task.data[i];
            if (first.address == again.address && !larger_of(shape_of(first), shape_of(again))) return true;
        }
    return false;
}

/// Calls `visit(TaskDatum)` for each different datum of a task that was submitted and has not finished.
template <class Visit> void for_each_datum(const Task& task, Visit&& visit)
{
    for (int i = 0; i < task.access_count; ++i) {
        const AccessNode& node = task.accesses[i];
        if (!node.task || !node.group) continue;
        const Datum& datum = task.data[i];
        TaskDatum use{datum.address, datum.bytes(), node.mode, datum.is_name() ? any_node : datum.home, shape_of(datum)};
        for (int j = i + 1; j < task.access_count; ++j)
            if (!task.accesses[j].task && task.data[j].address == datum.address) widen(use, task.data[j]);
        visit(use);
    }
}

} // namespace trencadis
