#pragma once
#include "blas/level3/control_tree.hpp"
#include "blas/level3/few_columns.hpp"
#include "blas/level3/product.hpp"
#include "graph/team.hpp"

#include <algorithm>
#include <optional>

namespace trencadis::blas {

/// A product C <- alpha A B + beta C so small that packing B would cost more than it gains: B is read where it lies, A too where
/// its columns suit the vectors; otherwise a panel of its rows is packed right before it is used, or all of it where one core
/// uses it for a few columns after the other. Nothing is common to the cores that take part but the operands, so that cutting it
/// up costs nothing: chunks are panels of rows times some columns, in any order, each done once. Those that share columns follow
/// one another, so that a core keeps few of B's in its cache. The depth is cut as it is where operands are packed, so that an
/// element of C has the same bits either way.
/// General operands, all of C. Of complex numbers A is packed by planes for many columns; for few it stays in pairs, and a panel
/// by rows is transposed. Literature: the "small and
/// unpacked" products of Van Zee, Smith, van de Geijn (BLIS, sup).
template <Scalar T> class SmallProduct {
public:
    /// Can it be made so? x normalised.
    static bool fits(const Product<T>& x);
    /// Is that the fastest way?
    static bool suits(const Product<T>& x)
    {
        return fits(x) && (FewColumns<T>::suits(x) || is_narrow(x) || is_flat(x) || !drives_out(x.B, x.m, x.k));
    }
    /// Has a whole call no long side, nor a B by rows whose lines share few sets of a cache while every panel of A reads
    /// them anew? Or few columns, for which a large A is read once?
    static bool is_compact(const Product<T>& x)
    {
        const bool has_sets = is_low(x.n, x.k) || x.B.rs == 1 || !conflict(x.B.rs);
        const bool is_short = !is_complex<T> && std::max({x.m, x.n, x.k}) <= longest && has_sets;
        return is_short || suits_narrow(x) || FewColumns<T>::suits(x);
    }
    /// Has it few columns beside a large A, of which each panel is read where it lies and stays for all of them?
    static bool suits_narrow(const Product<T>& x);
    /// Has C so few rows that packing B would cost a good part of what is multiplied with it, and does A stay in the second cache
    /// beside it?
    static bool is_flat(const Product<T>& x);
    /// Do all of its operands stay in the second cache, or nearly so?
    static bool is_tiny(const Product<T>& x) { return !is_complex<T> && std::max({x.m, x.n, x.k}) <= deepest; }
    /// Makes the product right away where all of it is one panel of rows, of real numbers a few, that are read where they lie,
    /// beside a few dozen columns at most: what an object with its chunks costs would be a third of the time, of a few panels
    /// some per cent. False: it is not so, nothing was done.
    static bool made_at_once(const Product<T>& x, const Setup<T>& with);
    /// `shared`: cut into chunks for several cores; otherwise into panels of rows, where the caches hold B.
    SmallProduct(const Product<T>& product, const Setup<T>& with, bool shared);

    Index chunks() const { return panels_ * pieces_; }
    bool packs() const; ///< may a panel of A have to be packed?
    /// Would panels of A be packed anew for some pieces of columns, and not only for vectors that cross lines, or be read from
    /// farther than the second cache? Or do the operands lie in more pages than a core has at hand? Then a core alone has less to
    /// do where it packs both operands once.
    bool packs_again() const
    {
        return crowded_ || scattered_ || (image_ == 0 && together_ < pieces_ && (x_.A.rs != 1 || is_driven_out(x_.A, depth_)));
    }
    void work(Index begin, Index end) const; ///< chunks; allocates scratch memory of the thread once
    /// What `team` gives until nothing is left: long runs first, then shorter ones, so that all end together (guided
    /// self-scheduling:
    /// Polychronopoulos and Kuck 1987).
    void work(Team& team) const;

private:
    static constexpr Index deepest = 384;       ///< of a panel of A that stays in the first two caches
    static constexpr Index largest = 384 * 384; ///< elements of B, which every panel of A reads anew
    static constexpr Index longest = 640;       ///< of m, n and k: then pieces of B stay in the second cache, with a panel of A

    static constexpr Index widest = 32; ///< panels of columns, for which A is not packed: for more a B stays no better

    static bool is_low(Index n, Index k) { return k <= deepest && n * k <= largest; }
    static bool is_narrow(const Product<T>& x);
    static bool has_few_panels(const Product<T>& x);
    static bool suits_planes(const Product<T>& x);
    bool packs_planes(Index rows) const;
    void take_columns();
    static bool drives_out(const Operand<T>& B, Index m, Index k);
    static bool reads_where_it_lies(const Operand<T>& B);
    /// Lines so far apart share few sets of a cache.
    static bool conflict(Index stride) { return stride * Index(sizeof(T)) % 1024 == 0; }

    /// Whole vectors shared out to the panels evenly, since low ones are slow.
    struct Heights {
        Index each, taller; ///< vectors of a panel, and how many first ones have one more

        Heights(Index rows, const MicroKernel<T>& kernel, Index panels)
            : each((rows + kernel.step - 1) / kernel.step / std::max<Index>(1, panels)),
              taller((rows + kernel.step - 1) / kernel.step - each * panels)
        {
        }
        Heights(Index rows, const MicroKernel<T>& kernel) : Heights(rows, kernel, (rows + kernel.mr - 1) / kernel.mr) {}
    };
    /// Rows of one panel and some pieces of columns: chunks that follow one another.
    struct Run {
        Index panel, piece, count;
    };
    Run first_run(Chunks chunks) const;
    Run last_run(Chunks chunks) const;
    struct Place {
        Index panel, piece;
        Index before, behind; ///< pieces of the panel that it is used for in one go, up to this one and from it on
    };
    Place place_of(Index chunk) const;
    void work(Chunks chunks, bool from_the_end, Index& packed) const;
    bool reads(Index rows) const { return reads(kernel_, rows); }
    static bool reads(const MicroKernel<T>& kernel, Index rows) { return kernel.reads_any_rows || rows % kernel.step == 0; }
    bool is_slow_to_read(const Operand<T>& A) const;
    static bool is_driven_out(const Operand<T>& A, Index depth);
    Index rows_above_a_line() const;
    Index bound(Index p) const;
    T* image_of(Index i) const;
    const T* pack(Index i, Index rows, T* image) const;
    void narrow_panels(Index begin, Index end) const;
    void panel(Index i, Index rows, Index j0, Index j1, Index& packed) const;
    void panels(Index begin, Index end, Index j0, Index j1) const;
    void piece(Index i, Index rows, Index j0, Index j1, Index p, const T* A, Index step, Index panels = 1) const;

    Product<T> x_;
    const MicroKernel<T>& kernel_;
    Index kept_;                       ///< bytes of a panel that stay in the first cache
    Index kept_second_;                ///< in the second
    Index depth_;                      ///< of a cut along k
    bool slow_;                        ///< are columns of A slow to read where they lie?
    bool planes_;                      ///< is A packed by planes?
    std::optional<FewColumns<T>> few_; ///< how A goes past sums of many rows, where it does
    bool narrow_;                      ///< are its chunks panels of rows for all columns, and is A read where it lies?
    Index panels_, pieces_, piece_;
    Index lead_;             ///< rows of the first panel that are made before its others
    Heights heights_;        ///< of the panels without these
    Index together_ = 1;     ///< pieces that a panel is used for one after the other
    Index image_ = 0;        ///< numbers of an image of all of A, which is packed first; 0: there is none
    Fetching fetching_ = {}; ///< of an A that comes from farther than the second cache, for few columns
    bool scattered_ = false; ///< do the operands of a core alone lie in many pages?
    bool crowded_ = false;   ///< would A not stay in the second cache while it is used for piece after piece?
};

} // namespace trencadis::blas
