#include "algorithms/cutting.hpp"
#include "algorithms/signatures.hpp"
#include "base/same_sums.hpp"
#include "blas/level3/by_halves.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/past_triangle.hpp"
#include "blas/level3/product.hpp"
#include "blas/level3/team_triangle.hpp"
#include "blas/level3/vector_product.hpp"
#include "blas/level3/vector_solve.hpp"
#include "drivers/alone.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/sharing.hpp"
#include "graph/team.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/diagonal.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <cmath>

namespace trencadis {
namespace {

constexpr Flops longest_by_team = 6e9; ///< with all of a triangle; what is longer is stopped between tasks

/// What trmm and trsm have in common.
template <Scalar T> struct TriangularCall {
    Crew& crew;
    Side side;
    Uplo uplo;
    Op op;
    Diag diag;
    Index m, n;
    T alpha;
    const T* A;
    Index lda;
    T* B;
    Index ldb;

    Index order() const { return side == Side::left ? m : n; }
    Index others() const { return side == Side::left ? n : m; }
    Flops flops() const { return operations::triangular(double(order()), double(others())).template flops<T>(); }
    void check(const InCall& in_call, std::string_view routine, const RoutineOptions& options) const
    {
        require(in_call, TRC_ARGUMENTS_trsm(TRC_CHECK));
        check_options(routine, options);
    }
    /// A short product: slices of B by the caller and others, by the caller alone, or as tasks, with the same bits.
    void multiply_together(const RoutineOptions& options) const
    {
        constexpr Index least = is_complex<T> ? 24 : 40; // of thinner ones packing the triangle costs more than a tenth
        if (blas::goes_by_halves<T>(side, m, n)) return share_few(blas::multiply_by_halves<T>);
        if (flops() > most_in_slices) return multiply_as_team(options);
        const auto multiply = [this](Index first, Index count) {
            const Tile<T> own = slice(first, count);
            crew.kernels().trmm(side, uplo, op, diag, own.rows, own.cols, alpha, A, lda, own.data, own.ld);
        };
        const blas::MicroKernel<T>& kernel = blas::setup<T>(0).kernel;
        const Index size = slice_size(crew, others(), least, side == Side::left ? kernel.nr : kernel.mr);
        if (crew.can_share(in_double<T>(flops())) && share_out<T>(crew, Slices(others(), size, multiply), flops())) return;
        if (is_for_one_core(crew, flops(), options, Work::solve))
            return crew.kernels().trmm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
        const Tile<T> triangle{const_cast<T*>(A), order(), order(), lda, op};
        const Uplo seen = op == Op::none ? uplo : opposite(uplo);
        run_routine(crew, options, [&](Flow& flow) {
            for (Index i = 0; i < others(); i += size)
                task::trmm(flow, side, seen, diag, alpha, triangle, slice(i, std::min(size, others() - i)));
        });
    }
    /// What is longer, if all of the triangle is carried past rows enough for each. Slices pack it anew; tiles do, and B as well.
    static constexpr Flops most_in_slices = is_complex<T> ? 1.2e8 : 2.7e8 * sizeof(double) / sizeof(T);
    bool multiplies_as_team() const
    {
        return shares_its_triangle() && !crew.has_devices() &&
               blas::goes_past_factor(blas::setup<T>(0).kernel, side, order(), others());
    }
    void multiply_as_team(const RoutineOptions& options) const
    {
        const auto triangle = blas::right_upper(side, uplo, op, diag, m, n, A, lda, B, ldb);
        blas::TeamTriangle<T> shared(blas::WithTriangle::multiply, triangle, alpha, blas::setup<T>(0), double(crew.line_ns()),
                                     crew.workers());
        if (crew.can_share(in_double<T>(flops())) && share_out<T>(crew, shared, flops())) return;
        as_one_task([](auto&&... x) { task::trmm(x...); }, options);
    }
    /// A short call: by the caller and whoever is awake, else by the caller alone or as one task that others join, with
    /// the same bits.
    void solve_together(const RoutineOptions& options) const
    {
        if (blas::goes_by_halves<T>(side, m, n)) return share_few(blas::solve_by_halves<T>);
        const blas::Setup<T> with = blas::setup<T>(0);
        const auto triangle = blas::right_upper(side, uplo, op, diag, m, n, A, lda, B, ldb);
        constexpr Flops without_session =
            2e6; // what is less is `direct` in a program's first calls (interfaces/lapack/compute.cpp)
        const bool one_block = blas::TeamTriangle<T>::is_one_block(with, order());
        const bool cut = blas::TeamTriangle<T>::count_chunks(with, triangle.rows) > 1 && (one_block || flops() > without_session);
        if (cut && crew.can_share(in_double<T>(flops()))) {
            blas::TeamTriangle<T> shared(blas::WithTriangle::solve, triangle, alpha, with, double(crew.line_ns()),
                                         crew.workers());
            if (share_out<T>(crew, shared, flops())) return;
        }
        if (cut && !is_for_one_core(crew, flops(), options)) return as_one_task([](auto&&... x) { task::trsm(x...); }, options);
        if (!cut || one_block || halves_long_triangles())
            return crew.kernels().trsm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
        blas::TeamTriangle<T> own(blas::WithTriangle::solve, triangle, alpha, with);
        SharedWork chunks(own.chunks(), own.chunks());
        Team alone(chunks);
        own.work(alone);
    }
    /// A column or two of B: of a large triangle others read their part, with the same bits.
    void solve_vectors() const
    {
        if (blas::vector_band<T>(m) == m || alpha == T(0))
            return crew.kernels().trsm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
        blas::scale(blas::Part::all, m, n, alpha, B, 1, ldb);
        const blas::Helpers others = helpers_for_parts<T>(crew);
        for (Index j = 0; j < n; ++j) blas::solve_vector(uplo, op, diag, m, A, lda, B + j * ldb, others);
    }
    bool solve_rows() const { return blas::solve_rows(uplo, op, diag, m, n, alpha, A, lda, B, ldb, helpers_for_parts<T>(crew)); }
    bool multiply_vectors() const
    {
        return blas::multiply_vectors(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb, helpers_for_parts<T>(crew));
    }
    /// Few columns (A on the right: rows) of B.
    template <class Compute> void share_few(const Compute& compute) const
    {
        compute(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb, helpers_for_parts<T>(crew));
    }
    /// Is all of the triangle packed once, where every core finds it, with rows enough for each? Then a solve takes less than one
    /// by tiles, whose own solves are short. Where bits are to be the same on every machine, it depends on none.
    bool shares_its_triangle() const
    {
        constexpr Index chunks_of_each = 8;
        const blas::Setup<T> with = blas::setup<T>(0);
        return crew.workers() > 1 && !SameSums::here() && blas::TeamTriangle<T>::is_packed_once(with, order()) &&
               blas::TeamTriangle<T>::count_chunks(with, others()) >= chunks_of_each * crew.workers();
    }
    /// By the kernels' trsm as a whole, which halves a long triangle on the left: other bits than several workers give it.
    bool halves_long_triangles() const
    {
        return side == Side::left && crew.workers() == 1 && !crew.has_devices() && crew.kernels().native(KernelRoutine::trsm);
    }
    /// For others to join.
    template <class Submit> void as_one_task(const Submit& submit, const RoutineOptions& options) const
    {
        const Tile<T> triangle{const_cast<T*>(A), order(), order(), lda, op}, unknowns{B, m, n, ldb};
        const Uplo seen = op == Op::none ? uplo : opposite(uplo);
        run_routine(crew, options, [&](Flow& flow) { submit(flow, side, seen, diag, alpha, triangle, unknowns); });
    }
    /// By one worker: some columns after the other, each with all of the triangle, between which it may be stopped.
    void solve_in_slices(const RoutineOptions& options) const
    {
        constexpr Flops at_a_time = 4e9;
        constexpr Index least = 1024; // of thinner ones packing the triangle costs more than 3 %
        const Index count = std::max<Index>(1, std::min(Index(std::ceil(flops() / at_a_time)), others() / least));
        const Index size = round_up(pieces(others(), count), blas::setup<T>(0).kernel.mr);
        const Tile<T> triangle{const_cast<T*>(A), order(), order(), lda, op};
        const Uplo seen = op == Op::none ? uplo : opposite(uplo);
        run_routine(crew, options, [&](Flow& flow) {
            for (Index i = 0; i < others(); i += size)
                task::trsm_apart(flow, side, seen, diag, alpha, triangle, slice(i, std::min(size, others() - i)));
        });
    }
    /// Columns of B beside a triangle on the left, else rows.
    Tile<T> slice(Index first, Index count) const
    {
        return side == Side::left ? Tile<T>{B + first * ldb, m, count, ldb} : Tile<T>{B + first, count, n, ldb};
    }
    /// `all`: a routine's forms, or one of them.
    template <class Forms> void run(const Forms& all, const RoutineOptions& options) const
    {
        const Problem problem{.m = m, .n = n, .side = side, .uplo = uplo, .op = op, .diag = diag, .alpha = alpha};
        lay_out<T>(crew, all, options, problem, {{A, lda}, {B, ldb}}).run(crew, options, is_crowded(crew, flops(), options));
    }
};

} // namespace

template <Scalar T>
void trmm(Crew& crew, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
          const RoutineOptions& options)
{
    const TriangularCall<T> call{crew, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb};
    const InCall in_call(crew);
    call.check(in_call, "trmm", options);
    if (m == 0 || n == 0) return;
    if (multiplies_vectors(crew.kernels(), KernelRoutine::trmm, call.order(), call.others(), options) && call.multiply_vectors())
        return;
    const Flops most = call.multiplies_as_team() ? longest_by_team : call.most_in_slices;
    if (may_be_short(call.flops(), crew.kernels().native(KernelRoutine::trmm), options, most))
        return call.multiply_together(options);
    if (runs_directly(crew, call.flops(), options, crew.workers() == 1 ? Work::product : Work::solve))
        return alone::trmm(crew.kernels(), side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    call.run(forms::trmm(), options);
}

template <Scalar T>
void trsm(Crew& crew, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
          const RoutineOptions& options)
{
    const TriangularCall<T> call{crew, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb};
    const InCall in_call(crew);
    call.check(in_call, "trsm", options);
    if (m == 0 || n == 0) return;
    if (solves_vectors(crew.kernels(), call.others(), options)) {
        if (side == Side::left) return call.solve_vectors();
        if (blas::goes_by_vectors(n, m) && call.solve_rows()) return;
    }
    const Flops most = crew.has_devices()           ? 1.2e8
                       : call.shares_its_triangle() ? longest_by_team
                                                    : 1e9; // of longer ones devices may have a part
    if (may_be_short(call.flops(), crew.kernels().native(KernelRoutine::trsm), options, most))
        return call.solve_together(options);
    if (runs_directly(crew, call.flops(), options, Work::solve))
        return alone::trsm(crew.kernels(), side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    if (call.halves_long_triangles() && options.nb == 0 && options.variant.empty()) return call.solve_in_slices(options);
    if (alpha == T(0)) call.run(plain_form(forms::trsm()), options); // B is set to zero
    else call.run(forms::trsm(), options);
}

template <Scalar T>
void alone::trmm(const KernelProvider& kernels, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A,
                 Index lda, T* B, Index ldb)
{
    if (multiplies_vectors(kernels, KernelRoutine::trmm, side == Side::left ? m : n, side == Side::left ? n : m) &&
        blas::multiply_vectors(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb))
        return;
    if (kernels.native(KernelRoutine::trmm) && blas::goes_by_halves<T>(side, m, n))
        return blas::multiply_by_halves(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    kernels.trmm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
}
template <Scalar T>
void alone::trsm(const KernelProvider& kernels, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A,
                 Index lda, T* B, Index ldb)
{
    if (side == Side::right && solves_vectors(kernels, m) && blas::solve_rows(uplo, op, diag, m, n, alpha, A, lda, B, ldb))
        return;
    if (kernels.native(KernelRoutine::trsm) && blas::goes_by_halves<T>(side, m, n))
        return blas::solve_by_halves(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    kernels.trsm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
}

template <Scalar T>
Index alone::trtrs(const KernelProvider& kernels, Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda, T* B,
                   Index ldb)
{
    if (const Index zero = diag == Diag::non_unit ? zero_on_diagonal(n, A, lda) : 0) return zero;
    if (n > 0 && nrhs > 0) alone::trsm(kernels, Side::left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb);
    return 0;
}

template <Scalar T>
Index trtrs(Crew& crew, Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb,
            const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_trtrs(TRC_CHECK));
    check_options("trtrs", options);
    if (const Index zero = diag == Diag::non_unit ? zero_on_diagonal(n, A, lda) : 0) return zero;
    trsm(crew, Side::left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb, options);
    return 0;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void trmm(Crew&, Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index, const RoutineOptions&);         \
    template void trsm(Crew&, Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index, const RoutineOptions&);         \
    template void alone::trmm(const KernelProvider&, Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);         \
    template void alone::trsm(const KernelProvider&, Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);         \
    template Index alone::trtrs(const KernelProvider&, Uplo, Op, Diag, Index, Index, const T*, Index, T*, Index);                \
    template Index trtrs(Crew&, Uplo, Op, Diag, Index, Index, const T*, Index, T*, Index, const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
