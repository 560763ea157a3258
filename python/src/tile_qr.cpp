#include "drivers/tile_qr.hpp"

#include "array.hpp"
#include "bind.hpp"
#include "routine_arguments.hpp"
#include "truth.hpp"

#include <memory>
#include <nanobind/stl/string.h>
#include <variant>

namespace trencadis::python {
namespace {

/// The factors of a matrix of any scalar, in the place of an array, which is kept.
class TileFactors {
public:
    TileFactors(Session* session, nb::handle a, const std::string& variant, Index tile)
        : a_(Buffer::require(a.ptr(), Access::write, 1, "a"))
    {
        with_scalar(a_.kind(), [&](auto zero) {
            using T = decltype(zero);
            const auto A = a_.column_major<T>(1, "a");
            factors_ = compute([&] {
                return std::make_unique<TileQr<T>>(session_or_standard(session), A.rows, A.cols, A.data, A.ld,
                                                   options(tile, variant));
            });
        });
    }
    void apply(nb::handle c, Truth adjoint) const
    {
        const Op op = adjoint ? Op::conj_trans : Op::none;
        with(c, "c", [&]<Scalar T>(const TileQr<T>& factors, const Buffer::ColumnMajor<T>& C) {
            return factors.apply(op, C.cols, C.data, C.ld, options(0, "")), 0;
        });
    }
    void form(nb::handle q) const
    {
        with(q, "q", [&]<Scalar T>(const TileQr<T>& factors, const Buffer::ColumnMajor<T>& Q) {
            return factors.form(Q.cols, Q.data, Q.ld, options(0, "")), 0;
        });
    }
    Index solve(nb::handle b) const
    {
        return with(b, "b", [&]<Scalar T>(const TileQr<T>& factors, const Buffer::ColumnMajor<T>& B) {
            return factors.solve(B.cols, B.data, B.ld, options(0, ""));
        });
    }

private:
    template <Scalar T> using Factors = std::unique_ptr<TileQr<T>>;

    /// Computes with a matrix of as many rows as a.
    template <class Call> Index with(nb::handle array, const char* name, const Call& call) const
    {
        const Buffer given = Buffer::require(array.ptr(), Access::write, 1, name);
        require_same_kind(a_, "a", given, 1, name);
        require_shape(name, given.matrix().rows, given.matrix().cols, a_.matrix().rows, given.matrix().cols, 1);
        return with_scalar(a_.kind(), [&](auto zero) {
            using T = decltype(zero);
            const auto matrix = given.column_major<T>(1, name);
            const TileQr<T>& factors = *std::get<Factors<T>>(factors_);
            return Index(compute([&] { return call(factors, matrix); }));
        });
    }

    Buffer a_;
    std::variant<Factors<float>, Factors<double>, Factors<std::complex<float>>, Factors<std::complex<double>>> factors_;
};

} // namespace

void bind_tile_qr(nb::module_& m)
{
    using namespace nb::literals;
    nb::class_<TileFactors>(m, "TileFactors")
        .def(nb::init<Session*, nb::handle, const std::string&, Index>(), "session"_a.none(), "a"_a, "variant"_a = "", "nb"_a = 0,
             nb::keep_alive<1, 2>())
        .def("apply", &TileFactors::apply, "c"_any, "adjoint"_any)
        .def("form", &TileFactors::form, "q"_a)
        .def("solve", &TileFactors::solve, "b"_a);
}

} // namespace trencadis::python
