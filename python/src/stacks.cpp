#include "array.hpp"
#include "bind.hpp"
#include "estimates/inverse_norm.hpp"
#include "estimates/room.hpp"
#include "factors.hpp"
#include "matrix/conjugate.hpp"
#include "truth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

// Stacks of small matrices: each is one worker's, several at a time. Larger ones go one by one through general.cpp.

namespace trencadis::python {
namespace {

constexpr Index largest_order = 256;  ///< beyond it a matrix is worth all workers
constexpr Index together_up_to = 64;  ///< matrices of this order and below are factored several at a time
constexpr Flops flops_per_task = 1e6; // some hundred microseconds: small matrices run far below the speed of large ones

/// One right side by substitution, without what the routines for many take for packing: an estimate of a condition solves some
/// five of them.
template <Scalar T> class Substitution {
public:
    Substitution(Index n, const T* factors, const Index* pivots) : n_(n), factors_(factors), pivots_(pivots) {}

    /// x <- A^-1 x, or A^-H x.
    void solve(T* x, bool adjoint) const
    {
        if (adjoint) return solve_adjoint(x);
        for (Index j = 0; j < n_; ++j) std::swap(x[j], x[pivots_[j] - 1]);
        for (Index j = 0; j < n_; ++j) subtract(j + 1, n_, j, x);
        for (Index j = n_ - 1; j >= 0; --j) {
            x[j] /= at(j, j);
            subtract(0, j, j, x);
        }
    }

private:
    const T& at(Index i, Index j) const { return factors_[i + j * n_]; }
    static T times(T a, T b) // std::complex's own product looks for infinities
    {
        if constexpr (is_complex<T>)
            return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
        else return a * b;
    }
    /// Rows [begin, end) of column j, times x_j.
    void subtract(Index begin, Index end, Index j, T* x) const
    {
        const T* const column = factors_ + j * n_;
        const T factor = x[j];
        for (Index i = begin; i < end; ++i) x[i] -= times(column[i], factor);
    }
    /// Rows [begin, end) of column j, conjugated, times those of x; in four sums, which do not wait for each other.
    T product(Index begin, Index end, Index j, const T* x) const
    {
        const T* const column = factors_ + j * n_;
        T sums[4] = {};
        Index i = begin;
        for (; i + 4 <= end; i += 4)
            for (Index k = 0; k < 4; ++k) sums[k] += times(trencadis::conjugate(column[i + k]), x[i + k]);
        for (; i < end; ++i) sums[0] += times(trencadis::conjugate(column[i]), x[i]);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    void solve_adjoint(T* x) const
    {
        for (Index j = 0; j < n_; ++j) x[j] = (x[j] - product(0, j, j, x)) / trencadis::conjugate(at(j, j));
        for (Index j = n_ - 1; j >= 0; --j) x[j] -= product(j + 1, n_, j, x);
        for (Index j = n_ - 1; j >= 0; --j) std::swap(x[j], x[pivots_[j] - 1]);
    }

    Index n_;
    const T* factors_;
    const Index* pivots_;
};

/// What became of a system. `left`: by its structure, or a doubtful condition, it is the caller's.
enum class Outcome : char { solved, singular, left };

/// What the matrices are taken for: by their structure, each for itself, or all as the caller says.
enum class Take { as_they_are, general, positive };

/// Stacks of systems, and what is told of each.
template <Scalar T> struct Systems {
    Session& session;
    const Buffer &a, &b, &x;
    Op op;
    Take take;
    Uplo uplo; ///< of matrices that are taken as positive definite
    std::vector<Outcome> outcomes;
    std::vector<double> rconds; ///< reciprocal conditions, of those that are solved

    Systems(Session& session, const Buffer& a, const Buffer& b, const Buffer& x, Op op, Take take, Uplo uplo)
        : session(session), a(a), b(b), x(x), op(op), take(take), uplo(uplo),
          outcomes(static_cast<std::size_t>(x.stack()), Outcome::left), rconds(outcomes.size(), 1)
    {
    }
    Index order() const { return x.matrix().rows; }
    Index right_sides() const { return x.matrix().cols; }
    void solved(Index i, double rcond)
    {
        outcomes[static_cast<std::size_t>(i)] = Outcome::solved;
        rconds[static_cast<std::size_t>(i)] = rcond;
    }
    void singular(Index i) { outcomes[static_cast<std::size_t>(i)] = Outcome::singular; }
};

/// Solves systems of a stack on the calling thread, as many at a time as there are slots of work space.
template <Scalar T> class SmallSystems {
public:
    explicit SmallSystems(Systems<T>& systems)
        : systems_(systems), kernels_(systems.session.kernels()), n_(systems.order()), nrhs_(systems.right_sides()),
          slots_(n_ <= together_up_to ? 16 : 1), factors_(size(n_ * n_)), x_(size(n_ * nrhs_)), pivots_(size(n_)),
          infos_(size(1)), norms_(size(1)), sums_(static_cast<std::size_t>(n_)),
          search_(static_cast<std::size_t>(estimates::work_of<T>(n_)))
    {
    }
    void solve(Index first, Index last)
    {
        for (; first < last; first += slots_) {
            positive_.clear(), general_.clear();
            for (Index i = first; i < std::min(last, first + slots_); ++i) sort(i);
            if (!positive_.empty()) solve_positive();
            if (!general_.empty()) solve_general();
        }
    }

private:
    std::size_t size(Index each) const { return static_cast<std::size_t>(slots_ * each); }
    T* factors(Index slot) { return factors_.data() + slot * n_ * n_; }
    T* right(Index slot) { return x_.data() + slot * n_ * nrhs_; }
    Index* pivots(Index slot) { return pivots_.data() + slot * n_; }
    Index& info(Index slot) { return infos_[static_cast<std::size_t>(slot)]; }

    void sort(Index i)
    {
        if (systems_.take == Take::general) return general_.push_back(i);
        if (systems_.take == Take::positive) return positive_.push_back(i);
        const Word structure = structure_of<T>(systems_.session, systems_.a.matrix(i));
        if (structure == "general") general_.push_back(i);
        if (structure == "positive definite") positive_.push_back(i);
    }
    /// Calls visit(slot, i) for those systems.
    template <class Visit> static void each(const std::vector<Index>& systems, const Visit& visit)
    {
        Index slot = 0;
        for (const Index i : systems) visit(slot++, i);
    }
    void read(Index slot, Index i)
    {
        copy(systems_.session, systems_.a.matrix(i), factors(slot), n_, false);
        copy(systems_.session, systems_.b.matrix(i), right(slot), n_, false);
    }
    void write(Index slot, Index i)
    {
        const Strided to = systems_.x.matrix(i);
        const T* const from = right(slot);
        for (Index r = 0; r < n_; ++r)
            for (Index c = 0; c < nrhs_; ++c) static_cast<T*>(to.data)[r * to.row_stride + c * to.col_stride] = from[r + c * n_];
    }

    /// Those that are not positive definite, or whose factor's diagonal raises doubt, become general ones, LU will tell, or the
    /// caller's if they were said to be so.
    void solve_positive()
    {
        each(positive_, [&](Index slot, Index i) { read(slot, i); });
        alone::posv_batch(kernels_, systems_.uplo, n_, nrhs_, factors_.data(), n_, n_ * n_, x_.data(), n_, n_ * nrhs_,
                          static_cast<Index>(positive_.size()), infos_.data());
        each(positive_, [&](Index slot, Index i) {
            const auto enough = std::sqrt(std::numeric_limits<Real<T>>::epsilon());
            if (info(slot) == 0 && rcond_bound(factors(slot), n_, n_) > enough) {
                write(slot, i);
                systems_.solved(i, 1);
            } else if (systems_.take == Take::as_they_are) general_.push_back(i);
        });
    }
    void solve_general()
    {
        each(general_, [&](Index slot, Index i) {
            read(slot, i);
            norms_[static_cast<std::size_t>(slot)] = norm1<T>(systems_.session, seen(factors(slot), n_, n_, n_));
        });
        const bool plain = systems_.op == Op::none;
        alone::gesv_batch(kernels_, n_, plain ? nrhs_ : 0, factors_.data(), n_, n_ * n_, pivots_.data(), x_.data(), n_,
                          n_ * nrhs_, static_cast<Index>(general_.size()), infos_.data());
        each(general_, [&](Index slot, Index i) {
            if (info(slot)) return systems_.singular(i);
            if (!plain) alone::getrs(kernels_, systems_.op, n_, nrhs_, factors(slot), n_, pivots(slot), right(slot), n_);
            write(slot, i);
            systems_.solved(i, surely_well_conditioned(slot) ? 1 : rcond(slot));
        });
    }
    /// Is |A^-1|_1 so small that no estimate could raise doubt? It is at most the largest element of e^T M(U)^-1 M(L)^-1, where M
    /// has -|.| beside the diagonal (Higham, section 8.3): two substitutions without cancellation, where an estimate takes eight
    /// or more.
    bool surely_well_conditioned(Index slot)
    {
        using R = Real<T>;
        const T* const lu = factors(slot);
        R most = 0;
        for (Index j = 0; j < n_; ++j) {
            R sum = 1;
            for (Index i = 0; i < j; ++i) sum += at_most(lu[i + j * n_]) * sums_[std::size_t(i)];
            sums_[std::size_t(j)] = sum / at_least(lu[j + j * n_]);
        }
        for (Index j = n_; j-- > 0;) {
            for (Index i = j + 1; i < n_; ++i) sums_[std::size_t(j)] += at_most(lu[i + j * n_]) * sums_[std::size_t(i)];
            most = std::max(most, sums_[std::size_t(j)]);
        }
        const R condition = most * norms_[static_cast<std::size_t>(slot)], margin = 4;
        return condition * margin * std::numeric_limits<R>::epsilon() <= 1; // not where it is no number
    }
    static Real<T> at_most(T value) { return std::abs(std::real(value)) + std::abs(std::imag(value)); }
    static Real<T> at_least(T value) { return std::max(std::abs(std::real(value)), std::abs(std::imag(value))); }
    double rcond(Index slot)
    {
        const Substitution<T> substitution(n_, factors(slot), pivots(slot));
        const auto product = [&](T* x, bool adjoint) {
            substitution.solve(x, adjoint);
            return std::all_of(x, x + n_,
                               [](T value) { return std::isfinite(std::real(value)) && std::isfinite(std::imag(value)); });
        };
        const Real<T> inverse = estimates::norm1_by_products<T>(n_, product, search_.data());
        return reciprocal_condition(norms_[static_cast<std::size_t>(slot)], inverse);
    }

    Systems<T>& systems_;
    const KernelProvider& kernels_;
    const Index n_, nrhs_, slots_;
    std::vector<T> factors_, x_;
    std::vector<Index> pivots_, infos_;
    std::vector<Real<T>> norms_, sums_;
    std::vector<T> search_;
    std::vector<Index> positive_, general_; ///< systems
};

/// Calls part(first, last) for ranges that cover [0, count), side by side where there is enough to do.
template <class Part> void over_stack(Session& session, const char* name, Index count, Flops each, const Part& part)
{
    const Index together = std::clamp<Index>(static_cast<Index>(flops_per_task / each), 1, std::max<Index>(count, 1));
    if (together * 2 > count) return part(Index{0}, count);
    session.run(
        [&](Flow& flow) {
            for (Index first = 0; first < count; first += together)
                flow.submit(
                    name, [&part, first, last = std::min(count, first + together)] { part(first, last); },
                    std::span<const Access>{});
        },
        signalled);
}

using Doubtful = std::vector<std::pair<Index, double>>;
/// The first singular matrix, or -1; the ill-conditioned ones; those that are left to the caller.
using Told = std::tuple<Index, Doubtful, std::vector<Index>>;

template <Scalar T>
Told solve_stack(Session& session, const Buffer& a, const Buffer& b, const Buffer& x, Op op, Take take, Uplo uplo)
{
    Systems<T> systems(session, a, b, x, op, take, uplo);
    const Index count = x.stack();
    const auto n = static_cast<double>(systems.order()), nrhs = static_cast<double>(systems.right_sides());
    const Flops each = flops_per_fma<T> * n * n * (n / 3 + nrhs + 10); // and about ten for the condition
    over_stack(session, "solve stack", count, each,
               [&](Index first, Index last) { SmallSystems<T>(systems).solve(first, last); });
    Told told{-1, {}, {}};
    auto& [singular, doubtful, left] = told;
    for (Index i = 0; i < count; ++i) {
        const auto place = static_cast<std::size_t>(i);
        const double rcond = systems.rconds[place];
        if (systems.outcomes[place] == Outcome::singular && singular < 0) singular = i;
        if (systems.outcomes[place] == Outcome::left) left.push_back(i);
        if (!(rcond >= std::numeric_limits<Real<T>>::epsilon())) doubtful.emplace_back(i, rcond);
    }
    return told;
}

Buffer require_stack(nb::handle array, Buffer::Access access, int argument, const char* name)
{
    if (auto buffer = Buffer::open(array.ptr(), access, 3); buffer && buffer->dimensions() == 3) return std::move(*buffer);
    throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is no stack of matrices of a supported dtype");
}

std::optional<Told> bind_solve_stack(Session* session, nb::handle a_array, nb::handle b_array, nb::handle x_array,
                                     Truth transposed, const std::string& structure, Truth lower)
{
    const Take take = structure == "general" ? Take::general : structure.empty() ? Take::as_they_are : Take::positive;
    const Uplo uplo = lower ? Uplo::lower : Uplo::upper;
    const Op op = transposed ? Op::trans : Op::none;
    const Buffer a = require_stack(a_array, Buffer::Access::read, 1, "a"),
                 b = require_stack(b_array, Buffer::Access::read, 2, "b");
    const Buffer x = require_stack(x_array, Buffer::Access::write, 3, "x");
    require_same_kind(a, "a", b, 2, "b");
    require_same_kind(a, "a", x, 3, "x");
    const Strided A = a.matrix(), B = b.matrix(), X = x.matrix();
    if (a.stack() != x.stack() || b.stack() != x.stack() || A.rows != A.cols || B.rows != A.rows || X.rows != B.rows ||
        X.cols != B.cols)
        throw Error(ErrorCode::bad_argument, "the shapes of a, b and x do not fit");
    if (A.rows > largest_order || A.rows < 2 || X.empty() || X.rows * X.cols >= shared_pass_from) return std::nullopt;
    return with_scalar(a.kind(), [&](auto zero) {
        using T = decltype(zero);
        const Flops flops = double(x.stack()) * system_flops<T>(A.rows, X.cols);
        return compute([&] { return solve_stack<T>(session_for(session, flops), a, b, x, op, take, uplo); });
    });
}

using Integers = nb::ndarray<std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// LU of each matrix of a C-ordered stack as LAPACK sees it: by columns, so of its transpose. The infos.
std::vector<Index> bind_factor_stack(Session* session, nb::handle a_array, const Integers& pivots)
{
    const Buffer a = require_stack(a_array, Buffer::Access::write, 1, "a");
    const Strided A = a.matrix().transposed();
    const Index count = a.stack(), steps = std::min(A.rows, A.cols);
    if (!A.column_major() || A.leading() != std::max<Index>(A.rows, 1) || A.empty())
        throw Error(ErrorCode::bad_argument, 1, "a is no stack of matrices in C order");
    if (Index(pivots.shape(0)) != count || Index(pivots.shape(1)) != steps)
        throw Error(ErrorCode::bad_argument, 2, "there must be as many pivots as rows or columns in each matrix");
    std::vector<Index> infos(static_cast<std::size_t>(count));
    with_scalar(a.kind(), [&](auto zero) {
        using T = decltype(zero);
        compute([&] {
            getrf_batch(session_for(session, double(count * A.rows) * double(A.cols * steps)), A.rows, A.cols,
                        static_cast<T*>(A.data), A.rows, A.rows * A.cols, pivots.data(), count, infos.data(), polled());
        });
    });
    return infos;
}

/// Cholesky factors of a C-ordered stack where it is, as LAPACK sees its matrices: by columns, so their transposes, the other
/// triangle. The infos.
std::vector<Index> bind_factor_positive_stack(Session* session, nb::handle a_array, Truth lower, Truth clean)
{
    const Uplo uplo = lower ? Uplo::upper : Uplo::lower;
    const bool clear = clean;
    const Buffer a = require_stack(a_array, Buffer::Access::write, 1, "a");
    const Strided A = a.matrix().transposed();
    const Index count = a.stack(), n = A.rows;
    if (!A.column_major() || A.leading() != n || A.empty() || A.cols != n)
        throw Error(ErrorCode::bad_argument, 1, "a is no stack of square matrices in C order");
    std::vector<Index> infos(static_cast<std::size_t>(count));
    with_scalar(a.kind(), [&](auto zero) {
        using T = decltype(zero);
        compute([&] {
            Session& on = session_for(session, double(count) * system_flops<T>(n));
            const auto order = static_cast<double>(n);
            over_stack(on, "cholesky stack", count, flops_per_fma<T> * order * order * (order / 6 + 1),
                       [&](Index first, Index last) {
                           T* const data = static_cast<T*>(A.data) + first * n * n;
                           alone::posv_batch(on.kernels(), uplo, n, Index{0}, data, n, n * n, static_cast<T*>(nullptr), n,
                                             Index{0}, last - first, infos.data() + first);
                           for (Index j = 0; clear && j < (last - first) * n; ++j) { // the columns of all
                               const Index diagonal = j % n;
                               if (uplo == Uplo::upper) std::fill(data + j * n + diagonal + 1, data + (j + 1) * n, T(0));
                               else std::fill_n(data + j * n, diagonal, T(0));
                           }
                       });
        });
    });
    return infos;
}

} // namespace

void bind_stacks(nb::module_& m)
{
    using namespace nb::literals;
    m.def("solve_stack", &bind_solve_stack, "session"_a.none(), "a"_a, "b"_a, "x"_a, "transposed"_a, "structure"_a, "lower"_a);
    m.def("factor_positive_stack", &bind_factor_positive_stack, "session"_a.none(), "a"_a, "lower"_a, "clean"_a);
    m.def("factor_stack", &bind_factor_stack, "session"_a.none(), "a"_a, "pivots"_a);
}

} // namespace trencadis::python
