#include "direct.hpp"

#include "bind.hpp"
#include "norms.hpp"
#include "numpy.hpp"
#include "truth.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

// The Python API's way to the routines, for plain arrays: dtype and shape checks, copies and the finite check in one call
// from Python, because at n = 64 the whole solve takes some ten microseconds and every Python statement a tenth of one.
// What a function here does not serve it answers with None, and the caller converts its arguments or complains.

namespace trencadis::python {
namespace {

/// A Hermitian matrix of any strides, seen as column-major as far as possible. Seen the other way round it is its own conjugate
/// with the triangles exchanged, so that no element needs to move.
struct HermitianView {
    Strided matrix;
    Uplo uplo;
    bool conjugated; ///< transposed, which for complex scalars conjugates

    HermitianView(const Strided& given, bool lower) : matrix(given), uplo(lower ? Uplo::lower : Uplo::upper), conjugated(false)
    {
        if (given.column_major() || std::abs(given.row_stride) <= std::abs(given.col_stride)) return;
        matrix = given.transposed();
        uplo = opposite(uplo);
        conjugated = true;
    }
};

/// Of the matrix with that factor; what it costs is spared where the free bound raises no doubt. `a` still holds the matrix.
template <Scalar T> double rcond_of(Session& session, const HermitianView& a, const T* factor, Index ld, double bound)
{
    if (bound > std::sqrt(std::numeric_limits<Real<T>>::epsilon())) return bound;
    Real<T> rcond;
    pocon(session, a.uplo, a.matrix.rows, factor, ld, norm1_of_triangle<T>(a.matrix, a.uplo), &rcond);
    return rcond;
}

struct Result {
    Index info = 0;
    double rcond = 1;
};

struct SolveFlags {
    bool overwrite_a, check_finite;
};

template <Scalar T>
Result solve_positive(Session& session, const HermitianView& a, const Strided& b, Buffer::ColumnMajor<T> x, bool b_in_place,
                      SolveFlags flags)
{
    const Index n = a.matrix.rows;
    const Work<T> work = work_on<T>(session, a.matrix, flags.overwrite_a, flags.check_finite, "the work copy of a");
    prepare_right_side(session, b, x, b_in_place, a.conjugated, flags.check_finite);
    const Index info = posv(session, a.uplo, n, x.cols, work.data, work.ld, x.data, x.ld, polled());
    if (a.conjugated) conjugate(session, x.rows, x.cols, x.data, x.ld);
    if (info) return {.info = info};
    const double bound = rcond_bound(work.data, n, work.ld);
    return {.rcond = work.data == a.matrix.data ? bound : rcond_of(session, a, work.data, work.ld, bound)};
}

nb::object bind_solve_positive(Session* session, nb::handle a_array, nb::handle b_array, Truth lower, Truth overwrite_a,
                               Truth overwrite_b, Truth check_finite)
{
    const auto system = open_system(a_array, b_array, overwrite_a, overwrite_b);
    if (!system) return nb::none();
    const SolveFlags flags{.overwrite_a = system->a_writable, .check_finite = check_finite};
    nb::object x_array = system->solution(b_array);
    const Buffer x = Buffer::require(x_array.ptr(), Buffer::Access::write, 2, "x");
    const HermitianView view(system->A, lower);
    return with_scalar(system->a.kind(), [&](auto zero) -> nb::object {
        using T = decltype(zero);
        const Result result = compute([&] {
            return solve_positive<T>(session_for(session, system_flops<T>(system->A.rows, system->B.cols)), view, system->B,
                                     x.column_major<T>(2, "x"), system->in_place(), flags);
        });
        if (result.info) return nb::int_(result.info);
        if (!(result.rcond >= std::numeric_limits<Real<T>>::epsilon())) return nb::make_tuple(x_array, result.rcond);
        return x_array;
    });
}

template <Scalar T>
Index factor_positive(Session& session, const HermitianView& a, Buffer::ColumnMajor<T> factor, bool in_place, bool clean,
                      bool check)
{
    const Index n = a.matrix.rows;
    const bool good =
        in_place ? !check || all_finite<T>(session, a.matrix) : copy(session, a.matrix, factor.data, factor.ld, check);
    if (!good) not_finite();
    const Index info = potrf(session, a.uplo, n, factor.data, factor.ld, polled());
    if (clean && info == 0) clear_opposite(session, a.uplo, n, factor.data, factor.ld);
    return info;
}

nb::object bind_factor_positive(Session* session, nb::handle a_array, Truth lower, Truth overwrite_a, Truth clean,
                                Truth check_finite)
{
    const bool check = check_finite, cleared = clean;
    if (!is_plain_array(a_array)) return nb::none();
    bool writable;
    const auto a = open(a_array, overwrite_a, writable);
    if (!a || a->dimensions() != 2) return nb::none();
    const Strided A = a->matrix();
    if (A.rows != A.cols || A.rows < 1) return nb::none();

    // A matrix stored by rows is factored as its transpose, whose factor by columns is the wanted one by rows.
    const HermitianView view(A, lower);
    const bool in_place = writable && view.matrix.column_major();
    nb::object result = in_place ? nb::borrow(a_array) : empty(a->kind(), A.rows, A.cols, 2, view.conjugated ? 'C' : 'F');
    const Buffer factor = Buffer::require(result.ptr(), Buffer::Access::write, 1, "a");
    Strided F = factor.matrix();
    if (view.conjugated) F = F.transposed();
    const Index info = with_scalar(a->kind(), [&](auto zero) {
        using T = decltype(zero);
        const Buffer::ColumnMajor<T> target{static_cast<T*>(F.data), F.rows, F.cols, F.leading()};
        return compute([&] {
            return factor_positive<T>(session_for(session, system_flops<T>(A.rows)), view, target, in_place, cleared, check);
        });
    });
    return info ? nb::object(nb::int_(info)) : result;
}

template <Scalar T>
void solve_factored(Session& session, const HermitianView& c, const Strided& b, Buffer::ColumnMajor<T> x, bool in_place,
                    bool check)
{
    if (check && !all_finite<T>(session, c.matrix)) not_finite();
    const Work<T> factor = work_on<T>(session, c.matrix, true, false, "the work copy of c"); // in place: it is only read
    prepare_right_side(session, b, x, in_place, c.conjugated, check);
    potrs(session, c.uplo, c.matrix.rows, x.cols, factor.data, factor.ld, x.data, x.ld, polled());
    if (c.conjugated) conjugate(session, x.rows, x.cols, x.data, x.ld);
}

nb::object bind_solve_factored(Session* session, nb::handle c_array, Truth lower, nb::handle b_array, Truth overwrite_b,
                               Truth check_finite)
{
    const bool check = check_finite;
    if (!is_plain_array(c_array) || !is_plain_array(b_array)) return nb::none();
    bool writable;
    const auto c = Buffer::open(c_array.ptr(), Buffer::Access::read);
    const auto b = open(b_array, overwrite_b, writable);
    if (!c || !b || c->kind() != b->kind() || c->dimensions() != 2) return nb::none();
    const Strided C = c->matrix(), B = b->matrix();
    if (C.rows != C.cols || C.rows < 1 || B.rows != C.rows || B.cols < 1) return nb::none();

    const bool in_place = writable && B.column_major() && !overlap(*c, *b);
    nb::object x_array = in_place ? nb::borrow(b_array) : empty(b->kind(), B.rows, B.cols, b->dimensions(), 'F');
    const Buffer x = Buffer::require(x_array.ptr(), Buffer::Access::write, 3, "x");
    const HermitianView view(C, lower);
    with_scalar(c->kind(), [&](auto zero) {
        using T = decltype(zero);
        compute([&] {
            solve_factored<T>(session_for(session, solve_flops<T>(C.rows, B.cols)), view, B, x.column_major<T>(3, "x"), in_place,
                              check);
        });
    });
    return x_array;
}

Flops elements(const Strided& matrix) { return double(matrix.rows) * double(matrix.cols); }

bool bind_all_finite(Session* session, nb::handle array)
{
    const Buffer buffer = Buffer::require(array.ptr(), Buffer::Access::read, 1, "a");
    return with_scalar(buffer.kind(), [&](auto zero) {
        return compute(
            [&] { return all_finite<decltype(zero)>(session_for(session, elements(buffer.matrix())), buffer.matrix()); });
    });
}

bool bind_is_hermitian(Session* session, nb::handle array)
{
    const Buffer buffer = Buffer::require(array.ptr(), Buffer::Access::read, 1, "a");
    return with_scalar(buffer.kind(), [&](auto zero) {
        return compute(
            [&] { return hermitian<decltype(zero)>(session_for(session, elements(buffer.matrix())), buffer.matrix()); });
    });
}

} // namespace

void not_finite() { throw Error(ErrorCode::bad_argument, 1, "array must not contain infs or NaNs"); }

std::optional<Buffer> open(nb::handle array, bool overwrite, bool& writable)
{
    writable = false;
    if (overwrite)
        if (auto buffer = Buffer::open(array.ptr(), Buffer::Access::write)) {
            writable = true;
            return buffer;
        }
    return Buffer::open(array.ptr(), Buffer::Access::read);
}

namespace {
/// The first and the last element of a matrix in memory.
std::pair<const std::byte*, const std::byte*> ends(const Buffer& buffer)
{
    const Strided m = buffer.matrix();
    Index first = 0, last = 0;
    for (const Index reach : {(m.rows - 1) * m.row_stride, (m.cols - 1) * m.col_stride}) (reach < 0 ? first : last) += reach;
    const auto bytes = with_scalar(buffer.kind(), [](auto zero) { return Index(sizeof(zero)); });
    const auto* const data = static_cast<const std::byte*>(m.data);
    return {data + first * bytes, data + (last + 1) * bytes};
}
} // namespace

bool overlap(const Buffer& a, const Buffer& b)
{
    const auto [a_begin, a_end] = ends(a);
    const auto [b_begin, b_end] = ends(b);
    return std::less<>()(a_begin, b_end) && std::less<>()(b_begin, a_end);
}

std::optional<SquareSystem> open_system(nb::handle a_array, nb::handle b_array, bool overwrite_a, bool overwrite_b)
{
    if (!is_plain_array(a_array) || !is_plain_array(b_array)) return {};
    bool a_writable, b_writable;
    auto a = open(a_array, overwrite_a, a_writable);
    auto b = open(b_array, overwrite_b, b_writable);
    if (!a || !b || a->kind() != b->kind() || a->dimensions() != 2) return {};
    const Strided A = a->matrix(), B = b->matrix();
    if (A.rows != A.cols || A.rows < 2 || B.rows != A.rows || B.cols < 1) return {};
    if ((a_writable || b_writable) && overlap(*a, *b)) a_writable = b_writable = false; // allowed is not demanded
    return SquareSystem{std::move(*a), std::move(*b), A, B, a_writable, b_writable};
}

void bind_direct(nb::module_& m)
{
    using namespace nb::literals;
    m.def("solve_positive", &bind_solve_positive, "session"_a.none(), "a"_any, "b"_any, "lower"_any, "overwrite_a"_any,
          "overwrite_b"_any, "check_finite"_any);
    m.def("factor_positive", &bind_factor_positive, "session"_a.none(), "a"_any, "lower"_any, "overwrite_a"_any, "clean"_any,
          "check_finite"_any);
    m.def("solve_factored", &bind_solve_factored, "session"_a.none(), "c"_any, "lower"_any, "b"_any, "overwrite_b"_any,
          "check_finite"_any);
    m.def("all_finite", &bind_all_finite, "session"_a.none(), "a"_any);
    m.def("is_hermitian", &bind_is_hermitian, "session"_a.none(), "a"_any);
    m.def("available_memory", &available_memory);
}

} // namespace trencadis::python
