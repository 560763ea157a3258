#pragma once
#include "graph/dependences.hpp"
#include "graph/task.hpp"

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

/// One datum a task uses, for those who place tasks and move data.
struct TaskDatum {
    const void* data;
    Bytes bytes; ///< 0 when not known
    AccessMode mode;
    int home = any_node; ///< Datum::home, of a name any_node
    DatumShape shape = {};
};

/// Calls `visit(TaskDatum)` for each different datum of a task that was submitted and has not finished.
template <class Visit> void for_each_datum(const Task& task, Visit&& visit)
{
    for (int i = 0; i < task.access_count; ++i) {
        const AccessNode& node = task.accesses[i];
        if (!node.task || !node.group) continue;
        const Datum& datum = task.data[i];
        visit(TaskDatum{datum.address, datum.bytes(), node.mode, datum.is_name() ? any_node : datum.home, shape_of(datum)});
    }
}

} // namespace trencadis
