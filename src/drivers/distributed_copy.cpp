#include "drivers/distributed.hpp"
#include "drivers/shared_call.hpp"
#include "kernels/tiles/copy_part.hpp"
#include "kernels/tiles/tile_access.hpp"

#include <algorithm>
#include <array>

namespace trencadis::distributed {
namespace {

/// Part of a matrix: from that row and column on.
template <Scalar T> struct From {
    TileMatrix<T> tiles;
    Index mb, nb, row, col;

    /// The rest of the tile that has element (i, j) of the part.
    struct At {
        Index I, J, row, col, rows, cols;
    };
    At at(Index i, Index j) const
    {
        const Index r = row + i, c = col + j, I = r / mb, J = c / nb;
        return {I, J, r % mb, c % nb, std::min(mb, tiles.rows() - I * mb) - r % mb, std::min(nb, tiles.cols() - J * nb) - c % nb};
    }
    task::Part part(const At& at) const { return {datum(tiles(at.I, at.J)), at.row, at.col}; }
};

template <Scalar T> void copy_parts(Flow& flow, const From<T>& from, const From<T>& to, Index rows, Index cols)
{
    for (Index j = 0, width = 0; j < cols; j += width) {
        width = std::min({cols - j, from.at(0, j).cols, to.at(0, j).cols});
        for (Index i = 0, height = 0; i < rows; i += height) {
            const auto source = from.at(i, j), target = to.at(i, j);
            height = std::min({rows - i, source.rows, target.rows});
            task::copy_part(flow, from.part(source), to.part(target), height, width);
        }
    }
}

template <Scalar T> TileMatrix<T> named(Residence& residence, AddressRange& names, const HeldTiles<T>& A)
{
    const Index row_tiles = A.row_tiles(), col_tiles = A.col_tiles();
    T* const begin = names.take<T>(row_tiles * A.mb, col_tiles * A.nb);
    const TileMatrix<T> tiles =
        TileMatrix<T>({begin, A.rows, A.cols, A.mb}, A.mb, A.nb, A.mb * A.nb, A.mb * A.nb * row_tiles).held_by(A.owners);
    residence.matrices.push_back({tiles.held(), A.rows, A.cols, A.mb, A.nb, shared(A).at});
    return tiles;
}

/// `argument`: the number of `row`; that of `col` is the next.
void require_part(Index row, Index col, Index rows, Index cols, const SharedOperand& A, int argument)
{
    constexpr int rows_argument = 7, cols_argument = 8;
    const auto require = [&](bool fits, int number) {
        if (fits) return;
        throw Error(ErrorCode::bad_argument, number,
                    std::to_string(rows) + " x " + std::to_string(cols) + " elements from (" + std::to_string(row) + ", " +
                        std::to_string(col) + ") on are not in a matrix " + text(A));
    };
    require(rows >= 0, rows_argument);
    require(cols >= 0, cols_argument);
    require(row >= 0 && row <= A.rows - rows, argument);
    require(col >= 0 && col <= A.cols - cols, argument + 1);
}

} // namespace

template <Scalar T>
void copy(Crew& crew, const HeldTiles<T>& from, Index from_row, Index from_col, const HeldTiles<T>& to, Index to_row,
          Index to_col, Index rows, Index cols, const RoutineOptions& options)
{
    checked(crew, "copy", [&] {
        require_owners(crew, from, 1);
        require_owners(crew, to, 4);
        require_part(from_row, from_col, rows, cols, shared(from), 2);
        require_part(to_row, to_col, rows, cols, shared(to), 5);
    });
    Processes& all = processes(crew);
    std::string call =
        std::string("copy in precision ") + precision_letter<T> + " of " + compared(shared(from)) + " to " + compared(shared(to));
    for (const Index number : {from_row, from_col, to_row, to_col, rows, cols}) call += ' ' + std::to_string(number);
    if (rows == 0 || cols == 0) return all.agree(call);
    Residence residence{all.rank(), all.size(), {}, {}};
    AddressRange names(names_of_processes);
    const From<T> source{named(residence, names, from), from.mb, from.nb, from_row, from_col};
    const From<T> target{named(residence, names, to), to.mb, to.nb, to_row, to_col};
    run_resident(
        crew, {"copy", "copy", call}, residence, [&](Flow& flow) { copy_parts(flow, source, target, rows, cols); }, options);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void copy(Crew&, const HeldTiles<T>&, Index, Index, const HeldTiles<T>&, Index, Index, Index, Index,                \
                       const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::distributed
