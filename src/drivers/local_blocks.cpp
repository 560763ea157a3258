#include "drivers/local_blocks.hpp"

#include "base/error.hpp"
#include "graph/overlaps.hpp"
#include "graph/processes.hpp"

#include <limits>
#include <string>

namespace trencadis {
namespace {

[[noreturn]] void refuse(int argument, const std::string& message) { throw Error(ErrorCode::bad_argument, argument, message); }
std::string pair(std::int64_t a, std::int64_t b) { return std::to_string(a) + " x " + std::to_string(b); }

void require_grid(const LocalBlocks& A, int processes, int argument)
{
    constexpr int most = std::numeric_limits<std::int16_t>::max();
    if (A.grid_rows < 1 || A.grid_cols < 1 || A.grid_rows > most || A.grid_cols > most ||
        std::int64_t(A.grid_rows) * A.grid_cols != processes)
        refuse(argument, "the grid is " + pair(A.grid_rows, A.grid_cols) + ", and there are " + std::to_string(processes) +
                             (processes == 1 ? " process" : " processes") + "; the grid must have as many");
    if (A.first_row < 0 || A.first_col < 0 || A.first_row >= A.grid_rows || A.first_col >= A.grid_cols)
        refuse(argument, "the first block is with process (" + std::to_string(A.first_row) + ", " + std::to_string(A.first_col) +
                             ") of the grid, which is " + pair(A.grid_rows, A.grid_cols));
}

Datum memory_of(const LocalBlocks& A, int rank)
{
    return {A.data, A.local_rows(rank), A.local_cols(rank), A.ld, std::size_t(A.element)};
}

} // namespace

void require_local(Crew& crew, const LocalBlocks& A, int argument)
{
    constexpr Index largest = std::numeric_limits<std::int32_t>::max();
    const Processes& all = distributed::processes(crew);
    if (A.rows < 0 || A.cols < 0) refuse(argument, "the matrix is " + pair(A.rows, A.cols) + "; extents must be 0 or more");
    if (A.mb < 1 || A.nb < 1 || A.mb > largest || A.nb > largest)
        refuse(argument, "the blocks are " + pair(A.mb, A.nb) + "; they must be 1 x 1 or larger");
    require_grid(A, all.size(), argument);
    const Index rows = A.local_rows(all.rank()), cols = A.local_cols(all.rank());
    if (A.ld < std::max<Index>(rows, 1))
        refuse(argument, "process " + std::to_string(all.rank()) + " has " + pair(rows, cols) +
                             " of the matrix, and its leading dimension is " + std::to_string(A.ld));
    if (rows > 0 && cols > 0 && !A.data)
        refuse(argument, "process " + std::to_string(all.rank()) + " has " + pair(rows, cols) + " of the matrix, and no array");
}

void require_apart(Crew& crew, const LocalBlocks& result, std::initializer_list<LocalBlocks> from, int argument)
{
    const int rank = distributed::processes(crew).rank();
    const auto is_empty = [rank](const LocalBlocks& A) { return A.local_rows(rank) == 0 || A.local_cols(rank) == 0; };
    for (const LocalBlocks& A : from)
        if (!is_empty(result) && !is_empty(A) &&
            ((result.data && result.data == A.data) || overlap(memory_of(result, rank), memory_of(A, rank))))
            refuse(argument, "the result lies where an operand does, which is read meanwhile; give it memory of its own");
}

} // namespace trencadis
