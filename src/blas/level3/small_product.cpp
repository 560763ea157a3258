#include "blas/level3/small_product.hpp"

#include "blas/level3/packing.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>
#include <cstdint>

namespace trencadis::blas {
namespace {

constexpr Index chunks_wanted = 96; ///< that leave little to wait for in the end
constexpr double least_flops = 1e5; ///< of a chunk: a microsecond
constexpr Index patient_uses = 12;  ///< packing columns that are slow to read pays where a panel is used more often
constexpr Index abreast = 4;        ///< panels of columns whose lines of C come ahead of all rows
constexpr Index line = 64;          ///< bytes
constexpr Index nothing = -1;       ///< no panel is packed

/// A panel of rows whose columns of A are `step` apart: what is the same for all that is multiplied with it.
template <Scalar T> ProductInPlace<T> panel_of(const Product<T>& x, Index rows, Index step)
{
    return {.rows = rows,
            .a_step = step,
            .b_rs = x.B.rs,
            .b_cs = x.B.cs,
            .alpha = x.alpha,
            .cs = x.cs,
            .conjugate_a = x.A.conjugated,
            .conjugate_b = x.B.conjugated};
}

/// Pages that `lines` columns or rows touch, each of `length` elements, `stride` apart.
template <Scalar T> Index pages_of(Index lines, Index length, Index stride)
{
    constexpr Index page = 4096;
    return lines * std::min(stride * Index(sizeof(T)), length * Index(sizeof(T)) + page) / page;
}
template <Scalar T> Index pages_of(const Operand<T>& operand, Index rows, Index cols)
{
    return operand.rs == 1 ? pages_of<T>(cols, rows, operand.cs) : pages_of<T>(rows, cols, operand.rs);
}
/// In more pages than half of what the second table of pages holds: 2,048 in most cores, of which two threads may share one.
template <Scalar T> bool is_scattered(const Product<T>& x)
{
    constexpr Index at_hand = 1024;
    return pages_of(x.A, x.m, x.k) + pages_of(x.B, x.k, x.n) + pages_of<T>(x.n, x.m, x.cs) > at_hand;
}

} // namespace

/// Do the lines of a panel of B's columns fill half of the first cache or more, where B lies by rows? Each panel of A would fetch
/// them anew, and its neighbours' parts of these lines with them. Half of that cache is what a packed panel of B takes, but where
/// its depth has reached its bound.
template <Scalar T> bool SmallProduct<T>::drives_out(const Operand<T>& B, Index m, Index k)
{
    if constexpr (is_complex<T>) return false;
    constexpr Index half = 1 << 14, few = 2; // panels of A, for which B is not worth packing
    const MicroKernel<T>& kernel = micro_kernel<T>();
    if (B.rs == 1 || k * line < half || m <= few * kernel.mr) return false;
    return k * line >= block_sizes<T>().kc * kernel.nr * Index(sizeof(T));
}

template <Scalar T> bool SmallProduct<T>::fits(const Product<T>& x)
{
    if (x.part != Part::all || x.rs != 1 || x.alpha == T(0) || x.k <= 0 || x.A.structure != Structure::general ||
        x.B.structure != Structure::general || (x.B.rs != 1 && x.B.cs != 1))
        return false;
    if (FewColumns<T>::suits(x)) return true;
    if constexpr (is_complex<T>) {
        const MicroKernel<T>& kernel = micro_kernel<T>();
        if (suits_planes(x)) return true;
        const Index widest = kernel.widest_in_place;
        if (x.A.rs == 1) return (kernel.reads_any_rows || x.m % kernel.step == 0) && std::max(x.n, x.k / 4) <= widest;
        return x.A.cs == 1 && std::max(x.n, x.k / 2) <= widest;
    } else return is_low(x.n, x.k) || is_compact(x) || is_flat(x);
}

/// Complex numbers: are there so many columns that to pack A by planes pays? Where pairs lie, each column of A is turned anew for
/// every few columns of B, which takes a processor whose multiply-adds share a port with such moves a tenth. But not so many, nor
/// so deep, that to pack B as well pays; what lies by rows comes in more lines.
template <Scalar T> bool SmallProduct<T>::suits_planes(const Product<T>& x)
{
    if constexpr (!is_complex<T>) return false;
    const MicroKernel<T>& kernel = micro_kernel<T>();
    const Index few = x.A.rs == 1 ? 4 : 2; // panels of B
    const Index widest = x.B.rs == 1 ? kernel.widest_by_planes : kernel.widest_by_planes * 2 / 3;
    return (x.A.rs == 1 || x.A.cs == 1) && x.n >= few * kernel.nr && std::max(x.n, x.k) <= widest;
}
/// Not for so few rows that pairs take half as many vectors; with the same bits.
template <Scalar T> bool SmallProduct<T>::packs_planes(Index rows) const
{
    return planes_ && (image_ > 0 || 2 * rows > kernel_.step || (x_.A.rs == 1 && !reads(rows)));
}

/// By columns, or by rows that a kernel fetches by itself from a cache where they have sets.
template <Scalar T> bool SmallProduct<T>::reads_where_it_lies(const Operand<T>& B)
{
    return B.rs == 1 || (micro_kernel<T>().fetches_columns && !conflict(B.rs));
}

template <Scalar T> bool SmallProduct<T>::is_flat(const Product<T>& x)
{
    if constexpr (is_complex<T>) return false;
    constexpr Index few = 4;                     // panels of A
    const BlockSizes& sizes = block_sizes<T>(0); // the same on every core: a task's chunks are counted on another one
    return reads_where_it_lies(x.B) && x.m <= few * micro_kernel<T>().mr && 2 * x.m * x.k <= sizes.kc * sizes.mc;
}

/// Has C so few columns that packing A would cost more than is multiplied with it, while A does not stay in the second cache but
/// B does, and are there enough panels for several cores? A B by rows comes with its neighbours' parts of its lines.
template <Scalar T> bool SmallProduct<T>::is_narrow(const Product<T>& x)
{
    if constexpr (is_complex<T>) return false;
    const MicroKernel<T>& kernel = micro_kernel<T>();
    constexpr Index fewest = 8; // panels
    if (x.n > widest * kernel.nr || x.m < fewest * kernel.mr || x.A.rs != 1 || !reads(kernel, x.m)) return false;
    if (!reads_where_it_lies(x.B)) return false;
    const Index stays = block_sizes<T>(0).kc * block_sizes<T>(0).mc; // the same on every core, as above
    const Index wide = x.B.rs == 1 ? x.n : x.n + line / Index(sizeof(T));
    return x.m * x.k > stays && wide * x.k <= stays;
}
/// So few panels that a core would wait long for the last one of another, unless they are cut into pieces of columns?
template <Scalar T> bool SmallProduct<T>::has_few_panels(const Product<T>& x)
{
    constexpr Index few = 32, piece = 4; // panels of rows, of columns
    return x.m < few * micro_kernel<T>().mr && x.n > piece * micro_kernel<T>().nr;
}
template <Scalar T> bool SmallProduct<T>::suits_narrow(const Product<T>& x)
{
    return is_narrow(x) && (x.n <= micro_kernel<T>().nr || !is_driven_out(x.A, std::min(x.k, block_sizes<T>().kc)));
}

template <Scalar T> bool SmallProduct<T>::made_at_once(const Product<T>& x, const Setup<T>& with)
{
    constexpr Index few = is_complex<T> ? 1 : 4; // panels
    const MicroKernel<T>& kernel = with.kernel;
    if (x.m > few * kernel.mr || x.A.rs != 1 || !reads(kernel, x.m) || x.k > with.tree[Loop::pc] ||
        x.n > patient_uses * kernel.nr || (suits_planes(x) && 2 * x.m > kernel.step) ||
        (x.m > kernel.mr && is_driven_out(x.A, x.k)))
        return false;
    ProductInPlace<T> some = panel_of(x, 0, x.A.cs);
    some.cols = x.n;
    some.k = x.k;
    some.B = x.B.data;
    some.beta = x.beta;
    Index row = 0;
    const auto multiply = [&](Index panels, Index rows) {
        if (panels == 0) return;
        some.panels = panels;
        some.rows = rows;
        some.A = x.A.data + row;
        some.C = x.C + row;
        kernel.multiply_in_place(some);
        row += panels * rows;
    };
    const Heights heights(x.m, kernel);
    multiply(heights.taller, (heights.each + 1) * kernel.step);
    multiply((x.m - row) / (heights.each * kernel.step), heights.each * kernel.step);
    multiply(row < x.m ? 1 : 0, x.m - row); // the last one may end within a vector
    return true;
}

template <Scalar T>
SmallProduct<T>::SmallProduct(const Product<T>& product, const Setup<T>& with, bool shared)
    : x_(FewColumns<T>::upright(product)), kernel_(with.kernel), kept_(with.tree[Loop::pc] * kernel_.nr * Index(sizeof(T))),
      kept_second_(with.tree[Loop::ic] * with.tree[Loop::pc] * Index(sizeof(T))),
      depth_(balanced_block(x_.k, with.tree[Loop::pc], 8)), slow_(is_slow_to_read(x_.A)), planes_(suits_planes(x_)),
      narrow_((is_narrow(x_) && !(shared && has_few_panels(x_))) || FewColumns<T>::suits(x_)),
      panels_((x_.m + kernel_.mr - 1) / kernel_.mr), pieces_(1), piece_(x_.n), lead_(rows_above_a_line()),
      heights_(x_.m - lead_, kernel_, panels_)
{
    const Product<T>& x = x_;
    const MicroKernel<T>& kernel = with.kernel;
    if (x.n <= widest * kernel.nr && x.m * x.k * Index(sizeof(T)) > kept_second_ && !is_driven_out(x.A, depth_))
        fetching_ = left_panel_stays(kernel, with.tree[Loop::pc], std::min(depth_, x.k)) ? Fetching::rows : Fetching::everything;
    if (FewColumns<T>::suits(x) && (!is_narrow(x) || FewColumns<T>::beats_tiles(x))) {
        few_.emplace(x, with);
        lead_ = 0;
        heights_ = Heights(x_.m, kernel_);
    }
    if (narrow_) return;
    if (!shared && is_low(x.n, x.k) && x.m * x.n * Index(sizeof(T)) <= kept_second_) return;
    if (!shared && (is_low(x.n, x.k) || is_flat(x))) {
        take_columns();
        return;
    }
    scattered_ = !shared && is_scattered(x);
    // As many chunks as leave little to wait for in the end, none too short to be worth fetching.
    const double flops = 2.0 * double(std::min(x.m, kernel.mr)) * double(x.n) * double(x.k);
    const Index wanted = (chunks_wanted + panels_ - 1) / panels_, worth = std::max<Index>(1, Index(flops / least_flops));
    const Index width = (x.n + std::min(wanted, worth) - 1) / std::min(wanted, worth);
    piece_ = (width + kernel.nr - 1) / kernel.nr * kernel.nr;
    pieces_ = (x.n + piece_ - 1) / piece_;
    // A panel that is packed is used for as many columns as stay in half of the second cache. How many chunks there are must not
    // depend on where the operands lie: that is known where a task runs.
    if (slow_ || planes_ || (shared && x_.A.rs != 1))
        together_ = std::min(with.tree[Loop::ic] * with.tree[Loop::pc] / x.k / piece_ + 1, pieces_);
}

/// C does not stay in the second cache, or B is long: all panels of A for a few columns, and so on. C then comes and goes in
/// whole pages, and B once.
template <Scalar T> void SmallProduct<T>::take_columns()
{
    piece_ = std::min(x_.n, abreast * kernel_.nr);
    pieces_ = (x_.n + piece_ - 1) / piece_;
    image_ = packs() ? (x_.m + kernel_.step - 1) / kernel_.step * kernel_.step * x_.k : 0;
    crowded_ = 2 * x_.m * x_.k * Index(sizeof(T)) > kept_second_;
}

template <Scalar T> bool SmallProduct<T>::packs() const { return !narrow_ && (x_.A.rs != 1 || !reads(x_.m) || slow_ || planes_); }

/// Are its columns so far apart that they share few sets of the caches, too few for the second one to keep a panel, from which it
/// is read as fast as one that is packed?
template <Scalar T> bool SmallProduct<T>::is_driven_out(const Operand<T>& A, Index depth)
{
    const BlockSizes& sizes = block_sizes<T>();
    return conflict(A.cs) && depth * A.cs >= sizes.kc * sizes.mc;
}

/// Is it driven out, or are its columns such that most vectors cross two lines of the first cache? Or have panels no whole lines,
/// so that what a panel reads with its neighbours' parts is more than stays in that cache?
template <Scalar T> bool SmallProduct<T>::is_slow_to_read(const Operand<T>& A) const
{
    const Index height = kernel_.mr * Index(sizeof(T)), lines = x_.k * (height + line);
    const bool crossing =
        kernel_.step * Index(sizeof(T)) >= line && A.cs * Index(sizeof(T)) % line != 0 && lines > kept_ + kept_ / 3;
    const bool overflowing = height % line != 0 && lines > kept_;
    return !is_complex<T> && A.rs == 1 && (crossing || overflowing || is_driven_out(A, depth_));
}

/// Rows above the first one that begins a line, where all columns of A begin alike and vectors are as long as a line: without
/// them no vector of A crosses two lines, for a low panel more. Not where panels are one vector high, as those of complex
/// numbers: without these rows there may be fewer vectors than panels.
template <Scalar T> Index SmallProduct<T>::rows_above_a_line() const
{
    constexpr Index few = 6, element = sizeof(T); // panels: one more low one would cost as much as is gained
    const bool suits = !is_complex<T> && !packs() && !slow_ && kernel_.reads_any_rows && kernel_.step * element >= line;
    if (!suits || kernel_.mr < 2 * kernel_.step || panels_ <= few) return 0;
    const Index bytes = Index(-reinterpret_cast<std::uintptr_t>(x_.A.data) % line);
    return bytes % element == 0 ? bytes / element : 0;
}

template <Scalar T> void SmallProduct<T>::work(Index begin, Index end) const
{
    if (packs()) scratch<T>(Buffer::left, std::max(image_, kernel_.mr * x_.k)); // if there is no memory, before C is touched
    if (image_ > 0)
        for (Index p = 0; p < panels_; ++p) pack(bound(p), std::min(x_.m, bound(p + 1)) - bound(p), image_of(bound(p)));
    Index packed = nothing;
    if (chunks() == 1 && !narrow_) return panel(0, x_.m, 0, x_.n, packed);
    work({begin, end}, false, packed);
}

/// `packed`: where the panel begins that the thread's memory holds. Who takes chunks from the end makes the last ones first, so
/// that the next ones may go on with it.
template <Scalar T> void SmallProduct<T>::work(Chunks chunks, bool from_the_end, Index& packed) const
{
    if (narrow_) return narrow_panels(chunks.begin, chunks.end);
    if (!is_complex<T> && together_ == 1 && !packs()) {
        for (Index c = chunks.begin, end; c < chunks.end; c = end) {
            const Index piece = c / panels_, first = piece * panels_;
            end = std::min(chunks.end, first + panels_);
            panels(c - first, end - first, piece * piece_, std::min(x_.n, (piece + 1) * piece_));
        }
        return;
    }
    while (chunks) {
        const Run run = from_the_end ? last_run(chunks) : first_run(chunks);
        const Index row = bound(run.panel), col = run.piece * piece_;
        panel(row, std::min(x_.m, bound(run.panel + 1)) - row, col, std::min(x_.n, col + run.count * piece_), packed);
        if (from_the_end) chunks.end -= run.count;
        else chunks.begin += run.count;
    }
}

/// All panels for some pieces of columns, and so on; within a panel its pieces follow one another.
template <Scalar T> typename SmallProduct<T>::Place SmallProduct<T>::place_of(Index chunk) const
{
    const Index earlier = chunk / (panels_ * together_) * together_, here = std::min(together_, pieces_ - earlier),
                rest = chunk - earlier * panels_, panel = rest / here, piece = rest - panel * here;
    return {panel, earlier + piece, piece + 1, here - piece};
}
template <Scalar T> typename SmallProduct<T>::Run SmallProduct<T>::first_run(Chunks chunks) const
{
    const Place place = place_of(chunks.begin);
    return {place.panel, place.piece, std::min(chunks.end - chunks.begin, place.behind)};
}
template <Scalar T> typename SmallProduct<T>::Run SmallProduct<T>::last_run(Chunks chunks) const
{
    const Place place = place_of(chunks.end - 1);
    const Index count = std::min(chunks.end - chunks.begin, place.before);
    return {place.panel, place.piece + 1 - count, count};
}

template <Scalar T> void SmallProduct<T>::work(Team& team) const
{
    if (packs()) scratch<T>(Buffer::left, kernel_.mr * x_.k); // a member without memory takes nothing
    if (few_) few_->reserve();
    // Nor does anybody hold much: one whose core is taken away meanwhile holds up the call with it.
    constexpr double held_flops = 4e6;
    const double flops = flops_per_fma<T> * double(x_.m) * double(x_.n) * double(x_.k) / double(chunks());
    // But all that a panel is used for, where it has to be packed.
    const Index least = few_ ? std::max<Index>(1, FewColumns<T>::least_rows / kernel_.mr) : 1,
                most = std::max({least, together_, Index(held_flops / flops)});
    Index packed = nothing;
    while (const Chunks c = team.next_of_two_ends(std::clamp<Index>(team.remaining() / 8, least, most)))
        work(c, team.is_joined(), packed);
}

/// Where panel p begins. The first has the rows above a line too.
template <Scalar T> Index SmallProduct<T>::bound(Index p) const
{
    return p == 0 ? 0 : lead_ + (p * heights_.each + std::min(p, heights_.taller)) * kernel_.step;
}

/// Where the image of the rows from i on is, where there is one of all.
template <Scalar T> T* SmallProduct<T>::image_of(Index i) const { return scratch<T>(Buffer::left, image_) + i * x_.k; }

/// Rows [i, i + rows) of A as multiply_in_place reads them, height(rows) apart; planes lie where the pairs would.
template <Scalar T> const T* SmallProduct<T>::pack(Index i, Index rows, T* image) const
{
    if (is_complex<T> && !packs_planes(rows))
        kernel_.transpose_pairs(rows, x_.k, x_.A.data + i * x_.A.rs, x_.A.rs, image, kernel_.height(rows));
    else pack_left(kernel_, x_.A.block(i, 0), rows, x_.k, reinterpret_cast<Real<T>*>(image));
    return image;
}

/// Some panels for all columns, piece by piece of the depth, so that the first caches hold B and a panel's piece of A.
template <Scalar T> void SmallProduct<T>::narrow_panels(Index begin, Index end) const
{
    if (few_) return few_->multiply(bound(begin), std::min(x_.m, bound(end)), depth_);
    for (Index p = 0; p < x_.k; p += depth_)
        for (Index c = begin; c < end; ++c) {
            const Index row = bound(c), behind = std::min(x_.m, bound(c + 1)), above = c == 0 ? std::min(lead_, behind) : 0;
            if (above > 0) piece(row, above, 0, x_.n, p, x_.A.data + row, x_.A.cs);
            if (above < behind - row) piece(row + above, behind - row - above, 0, x_.n, p, x_.A.data + row + above, x_.A.cs);
        }
}

/// Rows [i, i + rows) of columns [j0, j1).
template <Scalar T> void SmallProduct<T>::panel(Index i, Index rows, Index j0, Index j1, Index& packed) const
{
    if (i == 0 && 0 < lead_ && lead_ < rows) {
        panel(0, lead_, j0, j1, packed);
        return panel(lead_, rows - lead_, j0, j1, packed);
    }
    const T* A = x_.A.data + i * x_.A.rs;
    Index step = x_.A.cs;
    const bool planes = packs_planes(rows);
    if (image_ > 0 || packed == i || x_.A.rs != 1 || !reads(rows) || planes || (slow_ && j1 - j0 > patient_uses * kernel_.nr)) {
        T* const image = image_ > 0 ? image_of(i) : scratch<T>(Buffer::left, kernel_.mr * x_.k);
        A = image_ > 0 || packed == i ? image : pack(i, rows, image);
        packed = i;
        step = kernel_.height(rows);
    }
    for (Index p = 0; p < x_.k; p += depth_) piece(i, rows, j0, j1, p, A, step);
}

/// The same for whole panels, A where it lies: as many together as are of one height.
template <Scalar T> void SmallProduct<T>::panels(Index begin, Index end, Index j0, Index j1) const
{
    Index none = nothing;
    for (Index behind; begin < end; begin = behind) {
        const Index row = bound(begin), rows = std::min(x_.m, bound(begin + 1)) - row;
        behind = begin + 1;
        if (begin == 0 && lead_ > 0) {
            panel(row, rows, j0, j1, none);
            continue;
        }
        while (behind < end && std::min(x_.m, bound(behind + 1)) - bound(behind) == rows) ++behind;
        for (Index p = 0; p < x_.k; p += depth_) piece(row, rows, j0, j1, p, x_.A.data + row, x_.A.cs, behind - begin);
    }
}

/// The same for the piece of the depth from p on, with a panel of A whose columns are `step` apart.
template <Scalar T>
void SmallProduct<T>::piece(Index i, Index rows, Index j0, Index j1, Index p, const T* A, Index step, Index panels) const
{
    ProductInPlace<T> panel = panel_of(x_, rows, step);
    panel.cols = j1 - j0;
    panel.C = x_.C + i + j0 * x_.cs;
    panel.panels = panels;
    panel.fetching = step == x_.A.cs ? fetching_ : Fetching::nothing;
    panel.k = std::min(depth_, x_.k - p);
    panel.A = A + p * step;
    if (packs_planes(rows)) panel.planes = reinterpret_cast<const Real<T>*>(panel.A);
    panel.B = x_.B.data + p * x_.B.rs + j0 * x_.B.cs;
    panel.beta = p == 0 ? x_.beta : T(1);
    kernel_.multiply_in_place(panel);
}

template class SmallProduct<float>;
template class SmallProduct<double>;
template class SmallProduct<std::complex<float>>;
template class SmallProduct<std::complex<double>>;

} // namespace trencadis::blas
