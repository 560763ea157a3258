#include "algorithms/tile_size.hpp"

#include "algorithms/cutting.hpp"

#include <algorithm>
#include <limits>

namespace trencadis {
namespace {

constexpr Index quantum = 32; // a multiple of every vendor's register block

/// Tiles of equal bytes in all precisions: complex and double elements make the same tile smaller.
Index scaled(Index for_double, std::size_t element)
{
    return element == 4 ? for_double * 5 / 4 : element == 16 ? for_double * 3 / 4 : for_double;
}

} // namespace

Index cholesky_tile(Index n, std::size_t element, int workers)
{
    struct Row {
        Index up_to, nb;
    };
    // Measured in double with OpenBLAS (AVX2 and AVX-512 kernels) and MKL on 2 cores; flat around these values. The
    // critical path of
    // about 3 n / nb operations needs smaller tiles the more workers there are.
    static constexpr Row table[] = {{256, 64}, {512, 96}, {1024, 176}, {2048, 352}, {4096, 384}};
    Index nb = 448;
    for (const Row& row : table)
        if (n <= row.up_to) {
            nb = row.nb;
            break;
        }
    const Index enough = n / (3 * std::max(workers, 1)) + 1;
    nb = std::max<Index>(64, std::min(scaled(nb, element), enough));
    // Equal tiles rather than a thin last one, which costs a whole step of the critical path.
    return std::max<Index>(64, balanced(n, nb, 16));
}

Index packed_cholesky_tile(Index n, std::size_t element, int workers)
{
    // One worker's kernels cut large tiles up better than tasks would. Calls are stopped between them.
    if (workers == 1) return balanced(n, scaled(1024, element), 8);
    // A packed tile runs at full speed when it is small, so parallelism decides: two workers want four to a dozen tiles in a row,
    // the more of them the larger the matrix, as the work in front of the last panel grows; more workers eight and more. Below
    // 600 two for each worker are enough: a step more costs as much as the others gain by it (two cores of a Zen 3, AVX2: 360 to
    // 500 in 4 tiles is 3 to 12 % faster than in 5 and 6).
    const Index each = n / std::max(workers, 1) + 1;
    const Index for_two_each = std::min<Index>(150, pieces(n, 2 * std::max(workers, 1)));
    // Up to 391 columns a call's caller may compute all tiles alone, as they lie in memory (drivers/cholesky.cpp): multiples of
    // what a vector of 64 bytes holds, so that nothing is padded.
    constexpr Index medium = 391;
    if (n <= medium)
        return std::max<Index>(
            48, balanced(n, std::max<Index>(48, std::min(scaled(std::max<Index>(80, for_two_each), element), each)), 8));
    const Index for_two = std::min<Index>(312, 80 + n / 9);
    const Index for_more = n <= 2048 ? 48 + n / 10 : std::min<Index>(288, 256 + (n - 2048) / 64);
    const Index wanted = std::max(workers <= 2 ? for_two : for_more, for_two_each);
    const Index nb = std::max<Index>(48, std::min(scaled(wanted, element), each));
    // Whole panels that updates go by (24 rows in double with AVX-512, 12 with AVX2; twice as many in single precision): what is
    // beyond is padded.
    return std::max<Index>(48, balanced(n, nb, element == 4 ? 48 : 24));
}

static bool is_elongated(Index m, Index n) { return m >= 4 * n; }

static bool is_tall(Index m, Index n)
{
    constexpr Index narrow = 400;
    return n <= narrow && is_elongated(m, n);
}
static bool is_wide(Index m, Index n)
{
    constexpr Index low = 512;
    return m <= low && n >= 6 * m;
}

bool has_few_panels(Index m, Index n) { return is_tall(m, n) || is_wide(m, n); }

/// Of tall matrices, where some panels, each three of the kernels' high, leave others something to update; of larger ones, whose
/// panels are cut up themselves; and of wide ones, where panels are less of the work and so may be wide. 0: it is none of them.
static Index elongated_lu_tile(Index m, Index n, std::size_t element, int workers)
{
    if (workers == 1) return 0;
    if (is_tall(m, n)) return scaled(n <= 160 ? 56 : 72, element) / 8 * 8;
    if (is_elongated(m, n)) return balanced(n, scaled(256, element), 8);
    if (!is_elongated(n, m)) return 0;
    const Index widest = scaled(is_wide(m, n) ? 320 : 256, element);
    const Index columns_each = is_wide(m, n) ? 3 : 4; // of tiles, at least
    return balanced(m, std::min(widest, std::max<Index>(64, n / (columns_each * workers))), 8);
}

/// One worker's panels are cut up by recursion (lu_panel_cut), which is all the faster the wider they are. Calls are stopped
/// between its tasks.
static Index lone_panel(Index m, Index n, std::size_t element) { return balanced(std::min(m, n), scaled(2048, element), 8); }

Index panel_lu_tile(Index m, Index n, std::size_t element, int workers)
{
    return workers == 1 ? lone_panel(m, n, element) : lu_tile(m, n, element, workers);
}

Index lu_tile(Index m, Index n, std::size_t element, int workers)
{
    if (const Index nb = elongated_lu_tile(m, n, element, workers)) return nb;
    return cholesky_tile(std::min(m, n), element, workers);
}

Index packed_lu_tile(Index m, Index n, std::size_t element, int workers)
{
    if (workers == 1) return lone_panel(m, n, element);
    if (const Index nb = elongated_lu_tile(m, n, element, workers)) return nb;
    // As for Cholesky; a whole number of panels of rows as well (24 in double with AVX-512), which updates go by.
    const Index k = std::min(m, n);
    const Index square = k <= 2048 ? 48 + k / 10 : std::min<Index>(312, 256 + (k - 2048) / 48);
    // Columns beyond the last panel keep two tiles for each worker beside every panel: those of short matrices may be wider then,
    // and C goes to memory and back fewer times.
    constexpr Index widest = 208;
    const Index wanted = std::max(square, std::min(widest, (n - k) / (2 * std::max(workers, 1))));
    const Index nb = std::max<Index>(48, std::min(scaled(wanted, element), k / std::max(workers, 1) + 1));
    return std::max<Index>(48, balanced(k, nb, 24));
}

PanelCut lu_panel_cut(Index nb, int workers)
{
    if (workers == 1) return {.columns = 512, .rows = 2048, .beside = std::numeric_limits<Index>::max()};
    // Columns that the others update while one core factors a panel at a third of their speed.
    return {.columns = 32, .rows = 512, .beside = nb * workers * 3 / 2, .worth = 5e7};
}

Index qr_tile(Index k, std::size_t element, int workers)
{
    // Measured in double on 2 cores; narrower than LU's, as a panel costs twice as much and its factor T grows with the
    // square. With fewer than eight of them the others wait for panels most of the time. Wide ones are whole panels of
    // rows (24 in double with AVX-512), which the reflectors' products go by.
    Index wanted = scaled(std::min<Index>(192, 40 + k / 40), element);
    if (workers > 1) wanted = std::min(wanted, std::max<Index>(24, k / 8));
    wanted = std::max<Index>(24, std::min(wanted, k / std::max(workers, 1) + 1));
    const Index step = wanted < 48 ? 8 : 24;
    return balanced(k, (wanted + step / 2) / step * step, step);
}

Index right_sides_tile(Index nb, Index nrhs, int workers)
{
    const Index share = pieces(nrhs, std::max(workers, 1));
    return std::max<Index>(1, std::min(nb, std::max<Index>(share, std::min<Index>(nrhs, 16))));
}

Index nested_cholesky_tile(Index nb)
{
    // 128 in tiles of 1024 as Lima et al. measured; smaller ones are slow on every core, larger ones leave cores without work.
    return std::max<Index>(128, round_up(nb / 8, quantum));
}

Index product_tile(Index m, Index n, std::size_t element, int workers)
{
    const Index largest = scaled(512, element), smallest = 64;
    // At least four tiles for each worker, so that the last ones to finish leave little idle time.
    Index nb = largest;
    const auto tiles = [&](Index size) { return pieces(m, size) * pieces(n, size); };
    while (nb > smallest && tiles(nb) < 4 * std::max(workers, 1)) nb -= quantum;
    return std::max(smallest, round_up(nb, quantum));
}

Index depth_tile(Index k, std::size_t element) { return std::max(quantum, balanced(k, scaled(1024, element), quantum)); }

namespace {

/// Of two workers, who share panels and updates as well as tasks do (decision 0103).
Flops most_by_panels(Work work)
{
    switch (work) {
    case Work::lu: return 3.1e8;
    case Work::complex_lu: return 9e7;
    case Work::qr: return 1.7e8;
    case Work::complex_qr: return 6e7;
    default: return 2e7;
    }
}

} // namespace

DirectLimits direct_limits(int workers, bool own_kernels, Work work)
{
    // Measured in double on 2 cores. Our kernels keep their speed at small sizes, and a factorization is a chain of small
    // operations.
    constexpr Flops half_a_millisecond = 5e7, some_hundredths = 1e9; // longer calls can be interrupted and traced
    if (!own_kernels) return workers > 1 ? DirectLimits{2e6, 2e6, 2e6} : DirectLimits{4e6, 4e6, 4e6};
    if (workers == 1) {
        // Tiles are for others; solves alone keep more in the second cache by them.
        const Flops most = work == Work::solve ? half_a_millisecond : some_hundredths;
        return {most, most, most};
    }
    if (work == Work::cholesky) return {3e6, 3e6, 3e6}; // tiles cost the calling thread 4 to 8 % where nobody helps
    if (work != Work::solve && work != Work::product) { // others help with their updates all the same
        const Flops most = workers == 2 ? most_by_panels(work) : 2e7;
        return {most, most, most};
    }
    if (work == Work::solve) return {3e6, 3e6, 3e6};
    return {1.2e6, 6e6, half_a_millisecond};
}

} // namespace trencadis
