#include "array.hpp"
#include "bind.hpp"
#include "factors.hpp"
#include "truth.hpp"

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

constexpr Flops flops_per_task = 1e6; // some hundred microseconds: small matrices run far below the speed of large ones

/// The systems of a stack one after the other, with one work space.
template <Scalar T> class SmallSystems {
public:
    enum class Outcome : char { solved, singular, left };

    SmallSystems(Session& session, Index n, Index nrhs)
        : means_{session}, n_(n), nrhs_(nrhs), factors_(size(n, n)), x_(size(n, nrhs))
    {
    }

    /// `left`: by its structure, or a doubtful condition, it is the caller's. `rcond` is set where it is solved.
    Outcome solve(const Strided& a, const Strided& b, const Strided& x, Op op, bool detect, double& rcond)
    {
        const Word structure = detect ? structure_of<T>(means_.session, a) : "general";
        if (structure != "general" && structure != "positive definite") return Outcome::left;
        if (structure == "positive definite" && solve_positive(a, b)) {
            rcond = 1;
        } else {
            copy(means_.session, a, factors_.data(), n_, false);
            const Factors<T, OnThisThread> factors(means_, n_, factors_.data(), n_);
            if (factors.info()) return Outcome::singular;
            copy(means_.session, b, x_.data(), n_, false);
            factors.solve(op, nrhs_, x_.data(), n_);
            rcond = factors.estimated_rcond();
        }
        write(x);
        return Outcome::solved;
    }

private:
    static std::size_t size(Index rows, Index cols) { return static_cast<std::size_t>(rows * cols); }

    /// False where a is not positive definite, or where the factor's diagonal raises doubt: LU will tell.
    bool solve_positive(const Strided& a, const Strided& b)
    {
        copy(means_.session, a, factors_.data(), n_, false);
        copy(means_.session, b, x_.data(), n_, false);
        const Index info = alone::posv(means_.session.kernels(), Uplo::lower, n_, nrhs_, factors_.data(), n_, x_.data(), n_);
        return info == 0 && rcond_bound(factors_.data(), n_, n_) > std::sqrt(std::numeric_limits<Real<T>>::epsilon());
    }
    void write(const Strided& x) const
    {
        T* const to = static_cast<T*>(x.data);
        for (Index i = 0; i < n_; ++i)
            for (Index j = 0; j < nrhs_; ++j)
                to[i * x.row_stride + j * x.col_stride] = x_[size(j, n_) + static_cast<std::size_t>(i)];
    }

    OnThisThread means_;
    Index n_, nrhs_;
    std::vector<T> factors_, x_;
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

template <Scalar T> Told solve_stack(Session& session, const Buffer& a, const Buffer& b, const Buffer& x, Op op, bool detect)
{
    using Outcome = typename SmallSystems<T>::Outcome;
    const Index count = x.stack(), n = x.matrix().rows, nrhs = x.matrix().cols;
    std::vector<Outcome> outcomes(static_cast<std::size_t>(count));
    std::vector<double> rconds(static_cast<std::size_t>(count), 1);
    const auto order = static_cast<double>(n);
    const Flops each =
        flops_per_fma<T> * order * order * (order / 3 + static_cast<double>(nrhs) + 10); // and about ten for the condition
    over_stack(session, "solve stack", count, each, [&](Index first, Index last) {
        SmallSystems<T> systems(session, n, nrhs);
        for (Index i = first; i < last; ++i) {
            const auto place = static_cast<std::size_t>(i);
            outcomes[place] = systems.solve(a.matrix(i), b.matrix(i), x.matrix(i), op, detect, rconds[place]);
        }
    });
    Told told{-1, {}, {}};
    auto& [singular, doubtful, left] = told;
    for (Index i = 0; i < count; ++i) {
        const auto place = static_cast<std::size_t>(i);
        if (outcomes[place] == Outcome::singular && singular < 0) singular = i;
        if (outcomes[place] == Outcome::left) left.push_back(i);
        if (!(rconds[place] >= std::numeric_limits<Real<T>>::epsilon())) doubtful.emplace_back(i, rconds[place]);
    }
    return told;
}

Buffer require_stack(nb::handle array, Buffer::Access access, int argument, const char* name)
{
    if (auto buffer = Buffer::open(array.ptr(), access, 3); buffer && buffer->dimensions() == 3) return std::move(*buffer);
    throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is no stack of matrices of a supported dtype");
}

std::optional<Told> bind_solve_stack(Session* session, nb::handle a_array, nb::handle b_array, nb::handle x_array,
                                     Truth transposed, Truth detect)
{
    const bool find = detect;
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
    if (A.rows > OnThisThread::most || A.rows < 2 || X.empty() || X.rows * X.cols >= shared_pass_from) return std::nullopt;
    return with_scalar(a.kind(), [&](auto zero) {
        return compute([&] { return solve_stack<decltype(zero)>(session_or_standard(session), a, b, x, op, find); });
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
            getrf_batch(session_or_standard(session), A.rows, A.cols, static_cast<T*>(A.data), A.rows, A.rows * A.cols,
                        pivots.data(), count, infos.data(), polled());
        });
    });
    return infos;
}

} // namespace

void bind_stacks(nb::module_& m)
{
    using namespace nb::literals;
    m.def("solve_stack", &bind_solve_stack, "session"_a.none(), "a"_a, "b"_a, "x"_a, "transposed"_a, "detect"_a);
    m.def("factor_stack", &bind_factor_stack, "session"_a.none(), "a"_a, "pivots"_a);
}

} // namespace trencadis::python
