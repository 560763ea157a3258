#pragma once
#include "blas/level3/product.hpp"
#include "blas/level3/shared_panels.hpp"
#include "graph/team.hpp"

#include <bitset>
#include <optional>
#include <vector>

namespace trencadis::blas {

/// One product C <- alpha A B + beta C carried out by several cores that come and go; B is packed once, by all of them
/// (Catalan et al. 2016; Costero, Igual, Olcoz, Quintana-Orti 2015), or read where it lies, where its columns are contiguous.
///
/// The columns of C are cut into *stages* of nc, the rows of a stage into parts of equal work. A part is done by one member in
/// full depth: it packs its rows of A itself, in blocks of its own core's mc, so that no part ever waits for another one.
///
/// Packed B of a stage lies in one of two slots. A part of stage s finds its slot free when all parts of the stages s - 2, s - 4,
/// ... are finished (release by each when it ends, acquire by the one that asks); if some member is still behind, that part packs
/// for itself what it needs, and nobody is held back. So does every part with depths beyond what a slot holds. Memory: 2 kc nc
/// numbers in common, and per member what an ordinary product takes plus kc times a few panels.
///
/// A small B of a product for few members is packed by each of them for itself: to get from another core what that one has just
/// packed takes longer.
///
/// The arguments must stay valid and C must not overlap A or B. Members see each other's writes as the team's leaving and
/// joining orders them.
template <Scalar T> class TeamProduct {
public:
    /// `real_diagonal`: C is Hermitian, the imaginary parts of its diagonal count as zero and are set so. `members`: no more take
    /// part; 0: any number.
    TeamProduct(Product<T> product, const Setup<T>& with, bool real_diagonal = false, int members = 0);

    Index chunks() const { return chunks_; } ///< what the team's counter hands out
    /// Does every member get along without what others pack of B?
    bool needs_no_other() const { return in_place_ || packed_by_each_; }
    /// The same before there is an object, for a product with contiguous rows of C.
    static Index count_chunks(const Setup<T>& with, Index m, Index n, Index k) { return cut(with, m, n, k).chunks(n); }
    /// Works on what `team` gives until nothing is left. Any thread, any number of times; `cpu` is the core's number for its
    /// block sizes, `begun` what the caller has already taken from the team.
    void work(Team& team, int cpu = -1, Chunks begun = {0, 0});
    Flops flops() const;

private:
    struct Stage {
        Index begin, cols;
        std::vector<Index> rows; ///< bounds of its parts, one more than parts
    };
    /// The image of B that a member makes for itself; none: it is shared, or there is no memory.
    struct Own {
        static constexpr Index most_units = 256;
        Real<T>* image = nullptr;
        std::bitset<most_units> packed{}; ///< units, those of a piece of the depth one after the other
    };
    struct Member {
        Index mc;
        Index ordinal; ///< where it begins in the row of units, apart from the others
        Own own;
    };
    /// How the loops are cut.
    struct Cut {
        Index kc, nc, unit_cols, most, parts; ///< most: numbers in a slot; parts: of a stage
        Index chunks(Index n) const { return (n + nc - 1) / nc * parts; }
    };
    static Cut cut(const Setup<T>& with, Index m, Index n, Index k);
    bool suits_each(const Setup<T>& with, int members) const;
    Own own_image() const;
    void cut_stages(Index parts);
    std::vector<Index> cut_rows(Index begin, Index cols, Index parts) const;
    double row_work(const Stage& stage, Index row) const;
    bool slot_is_free(Index stage) const;
    Index rows_in_memory(Index most) const;
    void do_chunks(Chunks chunks, Member& member);
    void do_rows(Index stage, Index begin, Index end, Index parts, Member& member);
    /// Units of a stage that some rows of C reach.
    struct Units {
        Index begin, end;
    };
    Units reached(const Stage& stage, Index row, Index rows) const;
    void do_piece_in_place(Index stage, Index piece, Index row, Index rows, const Real<T>* left);
    void do_piece_alone(Index piece, Index row, Index rows, const Real<T>* left, Own& own);
    void do_piece(Index stage, Index piece, Index row, Index rows, const Real<T>* left, bool shared, const Member& member);
    bool try_unit(Index stage, Index piece, Index unit, Index row, Index rows, const Real<T>* left, bool shared);
    void multiply_unit(Index stage, Index piece, Index unit, Index row, Index rows, const Real<T>* left, const Real<T>* right);
    void pack_unit(Index stage, Index piece, Index unit, Real<T>* to) const;
    void clear_diagonal(const Stage& stage, Index begin, Index end) const;

    Product<T> x_;
    const MicroKernel<T>& kernel_;
    bool real_diagonal_, in_place_ = false, packed_by_each_ = false;
    Index kc_, pieces_, shared_pieces_, nc_, unit_cols_, mc_;
    std::vector<Stage> stages_;
    std::vector<Index> first_chunk_; ///< of each stage
    Index chunks_ = 0;
    std::optional<SharedBuffer> packed_;
    std::optional<PanelMarks> marks_;
    std::unique_ptr<std::atomic<Index>[]> unfinished_; ///< parts of each stage; every member counts down
    std::atomic<Index> joined_{0};
};

} // namespace trencadis::blas
