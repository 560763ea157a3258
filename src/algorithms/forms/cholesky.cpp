#include "algorithms/column_cholesky.hpp"
#include "algorithms/empty_cholesky.hpp"
#include "algorithms/forms/device_skills.hpp"
#include "algorithms/potrf.hpp"
#include "algorithms/tile_size.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/tile_storage.hpp"

#include <algorithm>
#include <optional>

/// Cholesky, and solutions with it: of the triangle `uplo` of an n x n matrix, with n x nrhs right sides as second operand.
namespace trencadis {
namespace {

/// What makes a lower triangle of the stored one.
template <Scalar T> Op seen_by(const Problem& x) { return x.uplo == Uplo::lower ? Op::none : herm_op<T>; }
template <Scalar T> TileMatrix<T> lower(Place& place, const Problem& x)
{
    return place.tiles<T>(x.n, x.n, x.nb, x.nb).with(seen_by<T>(x));
}
template <Scalar T> TileMatrix<T> right_sides(Place& place, const Problem& x)
{
    return place.tiles<T>(x.n, x.nrhs, x.nb, x.rhs_nb);
}

/// The triangle as it lies.
template <Scalar T> struct InPlace {
    InPlace(Place& place, const Problem& x) : A(lower<T>(place, x)) {}
    void factor(Flow& flow) { potrf(flow, A); }
    void solve(Flow& flow, TileMatrix<T> B) { posv(flow, A, B); }
    TileMatrix<T> A;
};

/// The triangle in place, and the images of its tiles, but for those so large that kernels gain little by them.
template <Scalar T> struct Packed {
    Packed(Place& place, const Problem& x) : A(TileMatrix<T>(place.columns<T>(x.n, x.n), x.nb, x.nb).with(seen_by<T>(x)))
    {
        if (x.nb < largest_packed_tile) images.emplace(x.n, x.nb, place.images());
    }
    void factor(Flow& flow)
    {
        if (images) potrf_packed(flow, A, *images);
        else potrf(flow, A);
    }
    void solve(Flow& flow, TileMatrix<T> B) { posv(flow, A, B, images ? &*images : nullptr); }
    TileMatrix<T> A;
    std::optional<CholeskyImages<T>> images;
};

template <Scalar T> struct TwoLevel {
    TwoLevel(Place& place, const Problem& x) : A(lower<T>(place, x)), inner(x.inner) {}
    void factor(Flow& flow) { potrf_two_level(flow, A, inner); }
    void solve(Flow& flow, TileMatrix<T> B) { posv_two_level(flow, A, B, inner); }
    TileMatrix<T> A;
    Index inner;
};

template <Scalar T> struct LeftLooking {
    LeftLooking(Place& place, const Problem& x) : A(lower<T>(place, x)) {}
    void factor(Flow& flow) { potrf_left_looking(flow, A); }
    TileMatrix<T> A;
};

/// In contiguous tiles, which are copied in and out.
template <Scalar T> struct InTiles {
    InTiles(Place& place, const Problem& x)
        : users(lower<T>(place, x)), storage(x.n, x.n, x.nb, x.nb), A(storage.matrix().with(seen_by<T>(x)))
    {
    }
    void factor(Flow& flow)
    {
        copy(flow, users, A);
        potrf(flow, A);
        copy(flow, A, users);
    }
    void solve(Flow& flow, TileMatrix<T> B)
    {
        copy(flow, users, A);
        posv(flow, A, B);
        copy(flow, A, users);
    }
    static void copy(Flow& flow, TileMatrix<T> from, TileMatrix<T> to)
    {
        for (Index j = 0; j < from.tiles(); ++j) {
            task::copy_lower(flow, from(j, j), to(j, j));
            for (Index i = j + 1; i < from.tiles(); ++i) task::copy(flow, from(i, j), to(i, j));
        }
    }
    TileMatrix<T> users;
    TileStorage<T> storage;
    TileMatrix<T> A;
};

/// Block columns of the triangle, and right sides as high as it is.
template <Scalar T> struct ByColumns {
    ByColumns(Place& place, const Problem& x) : A(lower<T>(place, x)) {}
    void factor(Flow& flow) { potrf_columns(flow, A); }
    TileMatrix<T> A;
};
template <Scalar T> struct SolveByColumns final : Layout {
    SolveByColumns(Place& place, const Problem& x)
        : A(lower<T>(place, x)), B(place.tiles<T>(x.n, x.nrhs, std::max<Index>(x.n, 1), x.rhs_nb))
    {
    }
    void submit(Flow& flow) override { posv_columns(flow, A, B); }
    TileMatrix<T> A, B;
};

template <class Matrix> struct Factorization final : Layout {
    Factorization(Place& place, const Problem& x) : matrix(place, x) {}
    void submit(Flow& flow) override { matrix.factor(flow); }
    Matrix matrix;
};
template <Scalar T, class Matrix> struct Solution final : Layout {
    Solution(Place& place, const Problem& x) : matrix(place, x), B(right_sides<T>(place, x)) {}
    void submit(Flow& flow) override { matrix.solve(flow, B); }
    Matrix matrix;
    TileMatrix<T> B;
};
template <Scalar T> using FactorInPlace = Factorization<InPlace<T>>;
template <Scalar T> using FactorPacked = Factorization<Packed<T>>;
template <Scalar T> using FactorTwoLevel = Factorization<TwoLevel<T>>;
template <Scalar T> using FactorLeftLooking = Factorization<LeftLooking<T>>;
template <Scalar T> using FactorByColumns = Factorization<ByColumns<T>>;
template <Scalar T> using FactorInTiles = Factorization<InTiles<T>>;
template <Scalar T> using SolveInPlace = Solution<T, InPlace<T>>;
template <Scalar T> using SolvePacked = Solution<T, Packed<T>>;
template <Scalar T> using SolveInTiles = Solution<T, InTiles<T>>;
template <Scalar T> using SolveTwoLevel = Solution<T, TwoLevel<T>>;

template <Scalar T> struct Substitution final : Layout {
    Substitution(Place& place, const Problem& x) : A(lower<T>(place, x)), B(right_sides<T>(place, x)) {}
    void submit(Flow& flow) override { potrs(flow, A, B); }
    TileMatrix<T> A, B;
};

template <Scalar T> struct EmptyTasks final : Layout {
    EmptyTasks(Place& place, const Problem& x) : names(place.names<char>(x.n, x.n)), tile_rows(x.n) {}
    void submit(Flow& flow) override { empty_cholesky(flow, names, tile_rows); }
    char* names;
    Index tile_rows;
};

Index tile(Index, Index n, std::size_t element, int workers) { return cholesky_tile(n, element, workers); }
Index packed_tile(Index, Index n, std::size_t element, int workers) { return packed_cholesky_tile(n, element, workers); }

using Names = std::string_view;
constexpr Names kernels[] = {"potrf", "trsm", "herk", "gemm"};
constexpr Names solve_kernels[] = {"trsm", "gemm"};
constexpr Names empty_kernels[] = {"potrf", "trsm", "syrk", "gemm"};
constexpr KernelRoutine own[] = {KernelRoutine::gemm, KernelRoutine::herk, KernelRoutine::trsm};
constexpr auto nested = nested_cholesky_tile;
constexpr Index device_tiles[] = {512, 1024, 2048, 4096};
/// Of block columns: a factored one, and one that is updated with it, or right sides.
constexpr Index column_tiles[] = {512, 1024, 2048};
Bytes two_columns(const Problem& x, std::size_t element)
{
    return double(x.n) * double(x.nb + std::max(x.nb, std::min(x.nrhs, x.rhs_nb))) * double(element);
}

constexpr Form potrf_forms[] = {
    {.name = "packed",
     .tile = packed_tile,
     .lay = TRC_LAY(FactorPacked),
     .kernels = kernels,
     .packs_images = true,
     .own = own,
     .inner = nested},
    {.name = "in-place",
     .tile = tile,
     .lay = TRC_LAY(FactorInPlace),
     .kernels = kernels,
     .inner = nested,
     .device_tiles = device_tiles,
     .device_bytes = three_tiles},
    {.name = "tile-layout",
     .tile = tile,
     .lay = TRC_LAY(FactorInTiles),
     .simulated = false,
     .inner = nested,
     .device_bytes = three_tiles},
    {.name = "left-looking",
     .tile = tile,
     .lay = TRC_LAY(FactorLeftLooking),
     .kernels = kernels,
     .inner = nested,
     .device_bytes = three_tiles},
    {.name = "two-level",
     .tile = tile,
     .lay = TRC_LAY(FactorTwoLevel),
     .kernels = kernels,
     .inner = nested,
     .device_tiles = device_tiles,
     .device_bytes = three_tiles},
    {.name = "columns",
     .tile = tile,
     .lay = TRC_LAY(FactorByColumns),
     .simulated = false, // times of tiles say little of columns
     .device_tiles = column_tiles,
     .device_bytes = two_columns,
     .asks_of_devices = factors,
     .by_columns = true},
};
constexpr Form potrs_forms[] = {{.name = "in-place",
                                 .tile = tile,
                                 .lay = TRC_LAY(Substitution),
                                 .kernels = solve_kernels,
                                 .device_tiles = device_tiles,
                                 .device_bytes = three_tiles}};
constexpr Form posv_forms[] = {
    {.name = "packed", .tile = packed_tile, .lay = TRC_LAY(SolvePacked), .kernels = kernels, .packs_images = true, .own = own},
    {.name = "in-place",
     .tile = tile,
     .lay = TRC_LAY(SolveInPlace),
     .kernels = kernels,
     .device_tiles = device_tiles,
     .device_bytes = three_tiles},
    {.name = "tile-layout", .tile = tile, .lay = TRC_LAY(SolveInTiles), .simulated = false, .device_bytes = three_tiles},
    {.name = "two-level",
     .tile = tile,
     .lay = TRC_LAY(SolveTwoLevel),
     .kernels = kernels,
     .inner = nested,
     .device_tiles = device_tiles,
     .device_bytes = three_tiles},
    {.name = "columns",
     .tile = tile,
     .lay = TRC_LAY(SolveByColumns),
     .simulated = false, // times of tiles say little of columns
     .device_tiles = column_tiles,
     .device_bytes = two_columns,
     .asks_of_devices = factors,
     .by_columns = true},
};
Index square_tile(Index m, Index n, std::size_t element, int workers) { return product_tile(m, n, element, workers); }
constexpr Form tasks_forms[] = {
    {.name = "in-place", .tile = square_tile, .lay = TRC_LAY(EmptyTasks), .kernels = empty_kernels, .simulated_tile = tile}};

} // namespace

forms::Forms forms::potrf() { return potrf_forms; }
forms::Forms forms::potrs() { return potrs_forms; }
forms::Forms forms::posv() { return posv_forms; }
forms::Forms forms::tasks() { return tasks_forms; }

} // namespace trencadis
