#pragma once
#include "blas/level3/control_tree.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/shared_panels.hpp"
#include "blas/level3/triangular.hpp"
#include "graph/team.hpp"

#include <optional>

namespace trencadis::blas {

enum class WithTriangle { solve, multiply };

/// One triangular solve B <- alpha B U^-1 or, where `goes_past_factor`, product B <- alpha B U carried out by several cores that
/// come and go (every side, uplo and op by way of right_upper). Rows of B are independent. A member packs its rows and carries
/// them through all panels of U, nr columns each.
///
/// A small triangle is packed by each member for itself; where cores are far apart, one of up to two second caches. A larger one
/// is packed once, by all of them: a member that needs a panel that somebody is just packing first packs one further on for
/// everybody, and if that did not take long enough, the panel in question for itself. So nobody waits. Memory: n^2/2 numbers for
/// each member or in common, in common at most kc nc (panels beyond are packed by each member), and per member its rows, mc at
/// most, and one panel, n deep.
template <Scalar T> class TeamTriangle {
public:
    /// `line_ns`: what it takes a core to get a cache line that another one has written. `members`: how many may come; two take
    /// more rows at a time than many do, for which the triangle comes from the last cache once.
    TeamTriangle(WithTriangle what, RightUpper<T> x, T alpha, const Setup<T>& with, double line_ns = 0, int members = 8);

    Index chunks() const { return chunks_; }
    /// The same before there is an object.
    static Index count_chunks(const Setup<T>& with, Index rows);
    /// Has an element of X the bits that `trsm` gives it? With a larger triangle trsm goes by blocks of it, this does not.
    static bool is_one_block(const Setup<T>& with, Index order) { return order <= with.tree[Loop::pc]; }
    /// Is all of such a triangle packed in common?
    static bool is_packed_once(const Setup<T>& with, Index order);
    /// Works on what `team` gives until nothing is left. Any thread, any number of times. `cpu` is the core's number for its
    /// block sizes, `begun` what the caller has already taken from the team.
    void work(Team& team, int cpu = -1, Chunks begun = {0, 0});

private:
    static Index most_for_each(const Setup<T>& with, double line_ns);
    static Index rows_per_chunk(const Setup<T>& with);
    Index rows_at_a_time(const Setup<T>& with) const;
    /// The image of the triangle that a member makes for itself; none: it is shared, or there is no memory.
    struct Own {
        Real<T>* image = nullptr;
        Index panels = 0; ///< packed so far
    };
    Own own_image() const;
    void do_rows(Index begin, Index end, Own& own);
    Index do_without_image(T* B, Index rows, Own& own);
    void solve_rows(T* B, Index rows, Real<T>* X, Own& own);
    void multiply_rows(T* B, Index rows, Real<T>* X, Own& own);
    void solve_columns(Index j, const Real<T>* U, Real<T>* X, T* B, Index rows) const;
    bool has_memory_for(Index rows) const;
    const Real<T>* panel(Index j, Own& own);
    void pack_panel(Index j, Real<T>* to) const;
    bool pack_another(Index after);
    Real<T>* shared_panel(Index j) const;

    WithTriangle what_;
    RightUpper<T> x_;
    T alpha_;
    const MicroKernel<T>& kernel_;
    const Index kc_;
    const TrianglePanels panels_;
    int members_;
    Index most_rows_, rows_per_chunk_, chunks_, shared_panels_ = 0;
    bool packed_by_each_;
    std::optional<SharedBuffer> packed_;
    std::optional<PanelMarks> marks_;
};

} // namespace trencadis::blas
