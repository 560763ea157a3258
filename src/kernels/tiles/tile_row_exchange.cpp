#include "kernels/tiles/candidate_rows.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_access.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/row_exchange_operations.hpp"
#include "kernels/tiles/unpivoted_lu.hpp"

#include <numeric>
#include <unordered_map>
#include <vector>

namespace trencadis::task {
namespace {

using kernel_flops::weight_of;

/// What a panel's interchanges come to. Rows are numbered in the matrix, from 0; the top are those that have a pivot each.
struct Moves {
    struct Below {
        Index place, from; ///< `from` the top's first row
    };
    Index first, count;
    std::vector<Index> to_top; ///< for each row of the top the one that comes there
    std::vector<Below> below;  ///< what lies below the top is exchanged for rows of the top alone

    Moves(Index first_row, Pivots pivots) : first(first_row), count(pivots.count), to_top(std::size_t(count))
    {
        std::iota(to_top.begin(), to_top.end(), first);
        std::unordered_map<Index, Index> others;
        for (Index i = 0; i < count; ++i) {
            const Index place = pivots.data[i] - 1;
            Index& there =
                place < first + count ? to_top[std::size_t(place - first)] : others.try_emplace(place, place).first->second;
            std::swap(to_top[std::size_t(i)], there);
        }
        for (const auto& [place, from] : others) below.push_back({place, from - first});
    }
    bool from_top(Index i) const { return to_top[std::size_t(i)] < first + count; }
};
Pivots pivots_of(const TaskContext& context, int operand)
{
    const Operand pivots = context.operand(operand);
    return {static_cast<Index*>(pivots.data), pivots.rows};
}

/// Where a row begins.
template <class T> struct Row {
    T* data;
    Index ld;
};
template <class T> Row<T> row_of(Stored<T> A, Index i) { return {A.data + i, A.ld}; }

/// Rows to other places, one column after the other, in this order.
template <class T> class RowMoves {
public:
    void add(Row<const T> from, Row<T> to) { all_.push_back({from, to}); }
    void run(Index columns) const
    {
        for (Index c = 0; c < columns; ++c)
            for (const auto& [from, to] : all_) to.data[c * to.ld] = from.data[c * from.ld];
    }

private:
    std::vector<std::pair<Row<const T>, Row<T>>> all_;
};

/// A ColumnPart of a running task: its tiles' numbers among the operands, the first one's first row, and how many rows of the
/// matrix lie between the beginnings of two of them.
struct PartPlace {
    std::int32_t first, tiles;
    Index row, step;

    template <Scalar T> static PartPlace of(std::size_t first, const ColumnPart<T>& part, const TileGrid<T>& tiles)
    {
        const Index step = part.A.first_row(part.first + part.stride) - part.A.first_row(part.first);
        return {std::int32_t(first), std::int32_t(tiles.down), part.A.first_row(part.first), step};
    }
    bool has(Index i, const TaskContext& context) const
    {
        return i >= row && (i - row) / step < tiles && (i - row) % step < context.operand(first + int((i - row) / step)).rows;
    }
    template <class T> Row<T> row_at(Index i, const TaskContext& context) const
    {
        return row_of(stored<T>(context, first + int((i - row) / step)), (i - row) % step);
    }
};

/// The top of a part, of so many rows, goes to `displaced`.
template <Scalar T> void displace(Index rows, Index columns, Stored<const T> top, Stored<T> displaced)
{
    for (Index c = 0; c < columns; ++c) std::copy_n(top.data + c * top.ld, rows, displaced.data + c * displaced.ld);
}
/// Rows below the top, where the part has them.
template <Scalar T>
void bring_down(const TaskContext& context, const Moves& moves, const PartPlace& part, Stored<const T> displaced, Index columns)
{
    RowMoves<T> down;
    for (const Moves::Below& one : moves.below)
        if (part.has(one.place, context)) down.add(row_of(displaced, one.from), part.row_at<T>(one.place, context));
    down.run(columns);
}

/// Operands: pivots, winners, displaced rows, the part.
template <Scalar T> struct TopArgs {
    Index rows, m, n, nb;
    PartPlace part;

    Flops flops() const { return weight_of<T> * kernel_flops::getrf(double(m), double(n)); }
    void run(TaskContext& context)
    {
        const Pivots pivots{data_of<Index>(context, 0), n};
        const Rows<T> winners = Rows<T>::of(data_of<void>(context, 1), nb);
        const Stored<T> displaced = stored<T>(context, 2), top = stored<T>(context, part.first);
        interchanges(winners.numbers, n, part.row, rows, pivots.data);
        displace<T>(n, n, {top.data, top.ld}, displaced);
        for (Index c = 0; c < n; ++c) std::copy_n(winners.entries + c * winners.ld, n, top.data + c * top.ld);
        bring_down<T>(context, Moves(part.row, pivots), part, {displaced.data, displaced.ld}, n);
        factor_unpivoted(kernels_of(context), m, n, top.data, top.ld);
        if (const Index zero = zero_on_diagonal(n, top.data, top.ld)) context.outcome().report(part.row + zero);
    }
};

/// Operands: chosen rows, pivots, the part.
template <Scalar T> struct GatherArgs {
    Index n, first;
    PartPlace part;

    void run(TaskContext& context)
    {
        const Stored<T> chosen = stored<T>(context, 0);
        const Moves moves(first, pivots_of(context, 1));
        RowMoves<T> up;
        for (Index i = 0; i < moves.count; ++i)
            if (const Index from = moves.to_top[std::size_t(i)]; !moves.from_top(i) && part.has(from, context)) {
                const Row<T> there = part.row_at<T>(from, context);
                up.add({there.data, there.ld}, row_of(chosen, i));
            }
        up.run(n);
    }
};

/// Operands: L, pivots, rows that others have chosen, displaced rows, the part.
template <Scalar T> struct AcrossArgs {
    Index n, nb;
    std::int32_t others;
    PartPlace part;

    Flops flops() const { return weight_of<T> * kernel_flops::gessm(double(nb), double(n)); }
    void run(TaskContext& context)
    {
        const Stored<const T> L = stored<const T>(context, 0);
        const Moves moves(part.row, pivots_of(context, 1));
        const Stored<T> displaced = stored<T>(context, 2 + others), top = stored<T>(context, part.first);
        displace<T>(moves.count, n, {top.data, top.ld}, displaced);
        bring_up(context, moves, top, displaced);
        bring_down<T>(context, moves, part, {displaced.data, displaced.ld}, n);
        kernels_of(context).trsm(Side::left, Uplo::lower, Op::none, Diag::unit, moves.count, n, T(1), L.data, L.ld, top.data,
                                 top.ld);
    }
    void bring_up(const TaskContext& context, const Moves& moves, Stored<T> top, Stored<T> displaced) const
    {
        RowMoves<T> up;
        for (Index i = 0; i < moves.count; ++i) {
            const Index from = moves.to_top[std::size_t(i)];
            const auto other = int((from - part.row) / nb % (others + 1)); // of the parts
            const Row<T> there = moves.from_top(i) ? row_of(displaced, from - moves.first)
                                 : other == 0      ? part.row_at<T>(from, context)
                                                   : row_of(stored<T>(context, 1 + other), i);
            up.add({there.data, there.ld}, row_of(top, i));
        }
        up.run(n);
    }
};

/// Operands: displaced rows, pivots, the part.
template <Scalar T> struct ScatterArgs {
    Index n, first;
    PartPlace part;

    void run(TaskContext& context)
    {
        bring_down<T>(context, Moves(first, pivots_of(context, 1)), part, stored<const T>(context, 0), n);
    }
};

template <Scalar T> PartPlace placed(std::vector<Access>& to, Access (*mode)(Tile<T>), const ColumnPart<T>& part)
{
    const TileGrid<T> tiles = part.tiles();
    const PartPlace place = PartPlace::of(to.size(), part, tiles);
    add(to, mode, tiles);
    return place;
}

} // namespace

template <Scalar T>
void getrf_nopiv(Flow& flow, const ColumnPart<T>& part, Candidates<T> winners, Pivots pivots, Tile<T> displaced)
{
    static constexpr Codelet codelet = codelet_of<TopArgs<T>>("getrf_nopiv", "part");
    const Tile<T> top = part.A(part.first, part.j);
    std::vector<Access> accesses{write(pivots), trencadis::read(datum(winners)), write(displaced)};
    const PartPlace place = placed(accesses, &trencadis::readwrite<T>, part);
    flow.submit(codelet, TopArgs<T>{part.A.rows() - place.row, top.rows, top.cols, winners.nb, place}, accesses);
}

template <Scalar T> void gather_rows(Flow& flow, const ColumnPart<T>& part, Index first, Pivots pivots, Tile<T> chosen)
{
    static constexpr Codelet codelet = codelet_of<GatherArgs<T>>("laswp", "gather");
    std::vector<Access> accesses{write(chosen), read(pivots)};
    const PartPlace place = placed(accesses, &trencadis::read<T>, part);
    flow.submit(codelet, GatherArgs<T>{chosen.cols, first, place}, accesses);
}

template <Scalar T>
void swptr(Flow& flow, Tile<T> L, const ColumnPart<T>& part, Pivots pivots, std::span<const Tile<T>> chosen, Tile<T> displaced)
{
    static constexpr Codelet codelet = codelet_of<AcrossArgs<T>>("swptr", "part");
    std::vector<Access> accesses{trencadis::read(L), read(pivots)};
    for (const Tile<T>& tile : chosen) accesses.push_back(trencadis::read(tile));
    accesses.push_back(write(displaced));
    const PartPlace place = placed(accesses, &trencadis::readwrite<T>, part);
    const Index nb = part.A.first_row(1);
    flow.submit(codelet, AcrossArgs<T>{displaced.cols, nb, std::int32_t(chosen.size()), place}, accesses);
}

template <Scalar T> void scatter_rows(Flow& flow, Tile<T> displaced, Index first, Pivots pivots, const ColumnPart<T>& part)
{
    static constexpr Codelet codelet = codelet_of<ScatterArgs<T>>("laswp", "scatter");
    std::vector<Access> accesses{trencadis::read(displaced), read(pivots)};
    const PartPlace place = placed(accesses, &trencadis::readwrite<T>, part);
    flow.submit(codelet, ScatterArgs<T>{displaced.cols, first, place}, accesses);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getrf_nopiv(Flow&, const ColumnPart<T>&, Candidates<T>, Pivots, Tile<T>);                                      \
    template void gather_rows(Flow&, const ColumnPart<T>&, Index, Pivots, Tile<T>);                                              \
    template void swptr(Flow&, Tile<T>, const ColumnPart<T>&, Pivots, std::span<const Tile<T>>, Tile<T>);                        \
    template void scatter_rows(Flow&, Tile<T>, Index, Pivots, const ColumnPart<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
