#include "routines.hpp"

#include "algorithms/graphs.hpp"
#include "algorithms/routines.hpp"
#include "algorithms/signature_names.hpp"
#include "array.hpp"
#include "bind.hpp"
#include "call.hpp"
#include "drivers/linear_algebra.hpp"
#include "routine_arguments.hpp"

#include <algorithm>
#include <nanobind/stl/string.h>
#include <string>

// The factorizations in place on column-major arrays, for benchmarks and for callers who know LAPACK, and the table of routines
// for Python.

namespace trencadis::python {
namespace {

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

template <class Words> nb::list names(const Words& words)
{
    nb::list list;
    for (const std::string_view word : words) list.append(nb::str(word.data(), word.size()));
    return list;
}

/// What programs ask of a form, instead of knowing its name.
nb::dict row_of(const Form& form)
{
    nb::dict row;
    row["name"] = std::string(form.name);
    row["called"] = form.called;
    row["simulated"] = form.has_graph();
    row["packs_images"] = form.packs_images;
    row["own_factors"] = !form.apart.empty();
    row["other_pivots"] = form.other_pivots;
    row["by_nodes"] = form.by_nodes;
    row["tall"] = form.tall_rows != nullptr;
    return row;
}

nb::dict row_of(const RoutineEntry& routine)
{
    const bool real = !called_forms(routine).empty();
    const std::vector<std::string_view> simulated = simulated_forms(routine);
    nb::dict row;
    row["name"] = std::string(routine.name);
    row["available"] = real;
    row["summary"] = std::string(routine.summary);
    row["source"] = std::string(routine.source);
    row["variants"] = names(called_forms(routine));
    row["simulated_variants"] = simulated.empty() ? nb::none() : nb::object(names(simulated));
    nb::list forms;
    for (const Form& form : routine.forms()) forms.append(row_of(form));
    row["forms"] = forms;
    if (!real)
        row["why_not"] = "its kernels are not there; its graph can be simulated: trencadis simulate " + std::string(routine.name);
    return row;
}

const char* letters_of(Precisions precisions)
{
    return precisions == Precisions::real ? "s d" : precisions == Precisions::complex ? "c z" : "s d c z";
}

nb::list bind_signatures()
{
    nb::list rows;
    for (const SignatureNames& signature : signature_names()) {
        nb::dict row;
        row["name"] = std::string(signature.routine);
        row["arguments"] = names(signature.arguments);
        row["precisions"] = letters_of(signature.precisions);
        rows.append(row);
    }
    return rows;
}

/// Of a routine by name; extents that are 0 are n.
Flops bind_routine_flops(const std::string& routine, bool complex, double n, double m, double k, double nrhs)
{
    return compute([&] { return find_routine(routine).operations({n, m, k, nrhs}).flops(complex); });
}

} // namespace

nb::list routine_rows()
{
    nb::list rows;
    for (const RoutineEntry& routine : routine_entries()) rows.append(row_of(routine));
    return rows;
}

void bind_routines(nb::module_& m)
{
    using namespace nb::literals;
    m.def("potrf", &bind_potrf, "session"_a.none(), "uplo"_a, "a"_a, "nb"_a = 0, "variant"_a = "");
    m.def("potrs", &bind_potrs, "session"_a.none(), "uplo"_a, "a"_a, "b"_a, "nb"_a = 0, "variant"_a = "");
    m.def("posv", &bind_posv, "session"_a.none(), "uplo"_a, "a"_a, "b"_a, "nb"_a = 0, "variant"_a = "");
    m.def("tasks", &bind_tasks, "session"_a.none(), "n"_a);
    m.def("signatures", &bind_signatures);
    m.def("routine_flops", &bind_routine_flops, "routine"_a, "complex"_a, "n"_a, "m"_a = 0, "k"_a = 0, "nrhs"_a = 1);
}

} // namespace trencadis::python
