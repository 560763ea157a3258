#include "routines.hpp"

#include "algorithms/graphs.hpp"
#include "array.hpp"
#include "bind.hpp"
#include "call.hpp"
#include "session/linear_algebra.hpp"

#include <algorithm>
#include <complex>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <string>

// The routines in place on column-major arrays, for benchmarks and for callers who know BLAS. Arguments in, errors out.

namespace trencadis::python {
namespace {

using Complex = std::complex<double>;

RoutineOptions options(Index nb, std::string variant)
{
    return {.nb = nb, .interrupted = signalled, .variant = std::move(variant)};
}

/// The flag a letter stands for, either case; throws Error{bad_argument}.
template <class Flag> Flag flag(const std::string& letter, const char* allowed, int argument, const char* name)
{
    const char upper = letter.size() == 1 ? static_cast<char>(letter[0] & ~0x20) : '\0';
    if (upper)
        for (const char* known = allowed; *known; ++known)
            if (upper == *known) return static_cast<Flag>(upper);
    std::string known;
    for (const char* c = allowed; *c; ++c) known += (known.empty() ? "'" : ", '") + std::string(1, *c) + "'";
    throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is '" + letter + "'; give one of " + known);
}
Op op(const std::string& letter, int argument, const char* name) { return flag<Op>(letter, "NTC", argument, name); }
Uplo uplo(const std::string& letter) { return flag<Uplo>(letter, "LU", 1, "uplo"); }

template <Scalar T> T scalar(Complex value, int argument, const char* name)
{
    if constexpr (is_complex<T>) return static_cast<T>(value);
    else {
        if (value.imag() != 0)
            throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is complex but the arrays are real");
        return static_cast<T>(value.real());
    }
}

void require_shape(const char* what, Index rows, Index cols, Index wanted_rows, Index wanted_cols, int argument)
{
    if (rows == wanted_rows && cols == wanted_cols) return;
    const auto text = [](Index r, Index c) { return std::to_string(r) + " x " + std::to_string(c); };
    throw Error(ErrorCode::bad_argument, argument,
                std::string(what) + " is " + text(rows, cols) + "; the other arguments need " + text(wanted_rows, wanted_cols));
}

template <class M> Index op_rows(Op op, const M& m) { return op == Op::none ? m.rows : m.cols; }
template <class M> Index op_cols(Op op, const M& m) { return op == Op::none ? m.cols : m.rows; }

using Access = Buffer::Access;

void bind_gemm(Session* session, const std::string& transa, const std::string& transb, Complex alpha, nb::handle a, nb::handle b,
               Complex beta, nb::handle c, Index nb, const std::string& variant)
{
    const Buffer A = Buffer::require(a.ptr(), Access::read, 4, "a"), B = Buffer::require(b.ptr(), Access::read, 5, "b");
    const Buffer C = Buffer::require(c.ptr(), Access::write, 7, "c");
    require_same_kind(A, "a", B, 5, "b");
    require_same_kind(A, "a", C, 7, "c");
    const Op op_a = op(transa, 1, "transa"), op_b = op(transb, 2, "transb");
    with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(4, "a"), y = B.column_major<T>(5, "b"), z = C.column_major<T>(7, "c");
        const Index k = op_cols(op_a, x);
        require_shape("op(b)", op_rows(op_b, y), op_cols(op_b, y), k, op_cols(op_b, y), 5);
        require_shape("c", z.rows, z.cols, op_rows(op_a, x), op_cols(op_b, y), 7);
        const T one = scalar<T>(alpha, 3, "alpha"), other = scalar<T>(beta, 6, "beta");
        compute([&] {
            gemm(session_or_standard(session), op_a, op_b, z.rows, z.cols, k, one, x.data, x.ld, y.data, y.ld, other, z.data,
                 z.ld, options(nb, variant));
        });
    });
}

/// syrk and herk: `run` makes the call with the operands.
template <class Run> void rank_k(const std::string& trans, nb::handle a, nb::handle c, const Run& run)
{
    const Buffer A = Buffer::require(a.ptr(), Access::read, 4, "a"), C = Buffer::require(c.ptr(), Access::write, 6, "c");
    require_same_kind(A, "a", C, 6, "c");
    const Op form = op(trans, 2, "trans");
    with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(4, "a"), z = C.column_major<T>(6, "c");
        require_shape("c", z.rows, z.cols, op_rows(form, x), op_rows(form, x), 6);
        run(form, op_cols(form, x), x, z);
    });
}

void bind_syrk(Session* session, const std::string& uplo_letter, const std::string& trans, Complex alpha, nb::handle a,
               Complex beta, nb::handle c, Index nb, const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter);
    rank_k(trans, a, c, [&]<Scalar T>(Op form, Index k, const Buffer::ColumnMajor<T>& x, const Buffer::ColumnMajor<T>& z) {
        const T one = scalar<T>(alpha, 3, "alpha"), other = scalar<T>(beta, 5, "beta");
        compute([&] {
            syrk(session_or_standard(session), triangle, form, z.rows, k, one, x.data, x.ld, other, z.data, z.ld,
                 options(nb, variant));
        });
    });
}

void bind_herk(Session* session, const std::string& uplo_letter, const std::string& trans, double alpha, nb::handle a,
               double beta, nb::handle c, Index nb, const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter);
    rank_k(trans, a, c, [&]<Scalar T>(Op form, Index k, const Buffer::ColumnMajor<T>& x, const Buffer::ColumnMajor<T>& z) {
        compute([&] {
            herk<T>(session_or_standard(session), triangle, form, z.rows, k, static_cast<Real<T>>(alpha), x.data, x.ld,
                    static_cast<Real<T>>(beta), z.data, z.ld, options(nb, variant));
        });
    });
}

void bind_trsm(Session* session, const std::string& side_letter, const std::string& uplo_letter, const std::string& transa,
               const std::string& diag_letter, Complex alpha, nb::handle a, nb::handle b, Index nb, const std::string& variant)
{
    const Buffer A = Buffer::require(a.ptr(), Access::read, 6, "a"), B = Buffer::require(b.ptr(), Access::write, 7, "b");
    require_same_kind(A, "a", B, 7, "b");
    const Side side = flag<Side>(side_letter, "LR", 1, "side");
    const Uplo triangle = flag<Uplo>(uplo_letter, "LU", 2, "uplo");
    const Op form = op(transa, 3, "transa");
    const Diag diag = flag<Diag>(diag_letter, "NU", 4, "diag");
    with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(6, "a"), y = B.column_major<T>(7, "b");
        const Index n = side == Side::left ? y.rows : y.cols;
        require_shape("a", x.rows, x.cols, n, n, 6);
        const T one = scalar<T>(alpha, 5, "alpha");
        compute([&] {
            trsm(session_or_standard(session), side, triangle, form, diag, y.rows, y.cols, one, x.data, x.ld, y.data, y.ld,
                 options(nb, variant));
        });
    });
}

Index bind_potrf(Session* session, const std::string& uplo_letter, nb::handle a, Index nb, const std::string& variant)
{
    const Buffer A = Buffer::require(a.ptr(), Access::write, 2, "a");
    const Uplo triangle = uplo(uplo_letter);
    return with_scalar(A.kind(), [&](auto zero) {
        const auto x = A.column_major<decltype(zero)>(2, "a");
        require_shape("a", x.rows, x.cols, x.rows, x.rows, 2);
        return compute([&] { return potrf(session_or_standard(session), triangle, x.rows, x.data, x.ld, options(nb, variant)); });
    });
}

/// potrs and posv: both arrays as column-major matrices of fitting shapes, given to `run`.
template <class Run> auto system_of(nb::handle a, Access access, nb::handle b, const Run& run)
{
    const Buffer A = Buffer::require(a.ptr(), access, 2, "a"), B = Buffer::require(b.ptr(), Access::write, 3, "b");
    require_same_kind(A, "a", B, 3, "b");
    return with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(2, "a"), y = B.column_major<T>(3, "b");
        require_shape("a", x.rows, x.cols, x.rows, x.rows, 2);
        require_shape("b", y.rows, y.cols, x.rows, y.cols, 3);
        return compute([&] { return run(x, y); });
    });
}

void bind_potrs(Session* session, const std::string& uplo_letter, nb::handle a, nb::handle b, Index nb,
                const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter);
    system_of(a, Access::read, b, [&]<Scalar T>(const Buffer::ColumnMajor<T>& x, const Buffer::ColumnMajor<T>& y) {
        potrs<T>(session_or_standard(session), triangle, x.rows, y.cols, x.data, x.ld, y.data, y.ld, options(nb, variant));
    });
}

Index bind_posv(Session* session, const std::string& uplo_letter, nb::handle a, nb::handle b, Index nb,
                const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter);
    return system_of(a, Access::write, b, [&]<Scalar T>(const Buffer::ColumnMajor<T>& x, const Buffer::ColumnMajor<T>& y) {
        return posv(session_or_standard(session), triangle, x.rows, y.cols, x.data, x.ld, y.data, y.ld, options(nb, variant));
    });
}

Index bind_tasks(Session* session, Index n)
{
    return compute([&] { return tasks(session_or_standard(session), n, options(0, {})); });
}

constexpr Entry bound[] = {
    {"gemm", "C <- alpha op(A) op(B) + beta C", "BLAS"},
    {"syrk", "C <- alpha op(A) op(A)^T + beta C, one triangle", "BLAS"},
    {"herk", "C <- alpha op(A) op(A)^H + beta C, one triangle", "BLAS"},
    {"trsm", "B <- alpha op(A)^-1 B or alpha B op(A)^-1, A triangular", "BLAS"},
    {"potrf", "Cholesky factorisation, A = L L^H or U^H U", "LAPACK; tile algorithm of Buttari, Langou, Kurzak, Dongarra 2009"},
    {"potrs", "A X = B with the factor of potrf", "LAPACK"},
    {"posv", "A X = B, A positive definite: potrf, then potrs", "LAPACK"},
    {"tasks", "empty kernels on the Cholesky graph: what the runtime costs", "trencadis"},
};

/// Routines whose task graphs there are without their kernels.
constexpr Entry simulated_only[] = {
    {"getrf", "LU factorisation, P A = L U", "LAPACK; tile algorithms of PLASMA and KASTORS"},
    {"geqrf", "QR factorisation, A = Q R", "LAPACK; tile algorithm of Buttari, Langou, Kurzak, Dongarra 2009"},
};

nb::list names(const std::vector<std::string_view>& words)
{
    nb::list list;
    for (const std::string_view word : words) list.append(nb::str(word.data(), word.size()));
    return list;
}

bool has_graph(std::string_view routine)
{
    const std::vector<std::string_view> known = graph_routines();
    return std::find(known.begin(), known.end(), routine) != known.end();
}

nb::dict row_of(const Entry& routine, bool real)
{
    nb::dict row;
    row["name"] = routine.name;
    row["available"] = real;
    row["summary"] = routine.summary;
    row["source"] = routine.source;
    row["variants"] = real ? names(variants_of(routine.name)) : nb::list();
    row["simulated_variants"] = has_graph(routine.name) ? nb::object(names(graph_variants(routine.name))) : nb::none();
    if (!real)
        row["why_not"] = std::string("its kernels are not there; its graph can be simulated: trencadis simulate ") + routine.name;
    return row;
}

} // namespace

nb::list routine_rows()
{
    nb::list rows;
    for (const Entry& routine : bound) rows.append(row_of(routine, true));
    for (const Entry& routine : simulated_only) rows.append(row_of(routine, false));
    return rows;
}

void bind_routines(nb::module_& m)
{
    using namespace nb::literals;
    m.def("gemm", &bind_gemm, "session"_a.none(), "transa"_a, "transb"_a, "alpha"_a, "a"_a, "b"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("syrk", &bind_syrk, "session"_a.none(), "uplo"_a, "trans"_a, "alpha"_a, "a"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("herk", &bind_herk, "session"_a.none(), "uplo"_a, "trans"_a, "alpha"_a, "a"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("trsm", &bind_trsm, "session"_a.none(), "side"_a, "uplo"_a, "transa"_a, "diag"_a, "alpha"_a, "a"_a, "b"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("potrf", &bind_potrf, "session"_a.none(), "uplo"_a, "a"_a, "nb"_a = 0, "variant"_a = "");
    m.def("potrs", &bind_potrs, "session"_a.none(), "uplo"_a, "a"_a, "b"_a, "nb"_a = 0, "variant"_a = "");
    m.def("posv", &bind_posv, "session"_a.none(), "uplo"_a, "a"_a, "b"_a, "nb"_a = 0, "variant"_a = "");
    m.def("tasks", &bind_tasks, "session"_a.none(), "n"_a);
}

} // namespace trencadis::python
