#pragma once
#include "graph/flow.hpp"
#include "graph/task_context.hpp"

#include <cstring>

namespace trencadis::task {

/// Part of a matrix in memory: elements from (row, col) on.
struct Part {
    Datum datum;
    Index row = 0, col = 0;
};

struct CopyPartArgs {
    Index rows, cols, from_row, from_col, to_row, to_col, element;

    void run(TaskContext& context)
    {
        const Operand from = context.operand(0), to = context.operand(1);
        for (Index j = 0; j < cols; ++j)
            std::memcpy(static_cast<char*>(to.data) + (to_row + (to_col + j) * to.ld) * element,
                        static_cast<const char*>(from.data) + (from_row + (from_col + j) * from.ld) * element,
                        std::size_t(rows * element));
    }
};

/// rows x cols elements of `to` <- those of `from`; the rest of `to` stays.
inline void copy_part(Flow& flow, const Part& from, const Part& to, Index rows, Index cols)
{
    static constexpr Codelet codelet = codelet_of<CopyPartArgs>("copy", "part");
    const bool whole = rows == to.datum.rows && cols == to.datum.cols;
    flow.submit(codelet, CopyPartArgs{rows, cols, from.row, from.col, to.row, to.col, Index(to.datum.element)},
                {read(from.datum), whole ? write(to.datum) : readwrite(to.datum)});
}

} // namespace trencadis::task
