#pragma once
#include "algorithms/graphs.hpp"
#include "graph/access_mode.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A routine's task graph as a list, for those who draw it, count it or compare it with a paper's.
namespace trencadis {

/// One use of a datum by a task.
struct ListedUse {
    AccessMode mode;
    /// Operands by their names in the routine's signature, tiles and pieces of vectors counted from 1: "A(2,1)", "ipiv(1)";
    /// several tiles at once "A(2:4,1)"; a part of a tile, as tasks inside a task have them, by its elements:
    /// "A(1,1)[1:32,33:64]". What a form has beside its operands: "work 1" and so on in the order in which it is first named.
    std::string datum;
};

struct ListedTask {
    std::string kernel;          ///< as in traces; "wait" is no task: the submitter waits for all before it
    std::string variant;         ///< what tells it from others of that name; often nothing
    Flops flops = 0;             ///< 0: not counted
    std::int64_t inside = -1;    ///< the task that submitted it; -1: the routine
    std::vector<ListedUse> uses; ///< in the order in which they are numbered
    /// The tasks it waits for, each once, in ascending order: for each datum those of the group of accesses before its own
    /// (graph/dependences.hpp). Those that write a datum by turns (commute) do not wait for each other here.
    std::vector<std::int64_t> after;
};

/// What a graph is as a whole.
struct GraphListing {
    std::vector<ListedTask> tasks; ///< in the order of their submission; tasks inside a task come right behind it
    std::int64_t depth = 0;        ///< tasks of the longest chain
    std::int64_t width = 0;        ///< most tasks with equally long chains before them
};

/// The graph of a form by name (none: the routine's first), nothing of it computed. Throws Error{bad_argument} for what
/// graphs.hpp does not know and where there are more than `most` tasks. O(tasks + dependences) time and memory; any thread.
GraphListing list_graph(std::string_view routine, std::string_view variant, const GraphShape& shape, std::int64_t most);

/// "read", "write" and so on.
std::string_view name_of(AccessMode mode);

} // namespace trencadis
