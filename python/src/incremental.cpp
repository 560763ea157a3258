#include "array.hpp"
#include "bind.hpp"
#include "drivers/incremental_lu.hpp"
#include "routine_arguments.hpp"

#include <memory>
#include <variant>

namespace trencadis::python {
namespace {

/// The factors of a matrix of any scalar, in the place of an array, which is kept.
class IncrementalFactors {
public:
    IncrementalFactors(Session* session, nb::handle a, Index tile) : a_(Buffer::require(a.ptr(), Access::write, 1, "a"))
    {
        with_scalar(a_.kind(), [&](auto zero) {
            using T = decltype(zero);
            const auto A = a_.column_major<T>(1, "a");
            require_shape("a", A.rows, A.cols, A.rows, A.rows, 1);
            factors_ = compute([&] {
                return std::make_unique<IncrementalLu<T>>(session_or_standard(session), A.rows, A.data, A.ld, options(tile, ""));
            });
        });
    }
    Index info() const
    {
        return std::visit([](const auto& factors) { return factors->info(); }, factors_);
    }
    void solve(nb::handle b) const
    {
        const Buffer B = Buffer::require(b.ptr(), Access::write, 1, "b");
        require_same_kind(a_, "a", B, 1, "b");
        require_shape("b", B.matrix().rows, B.matrix().cols, a_.matrix().rows, B.matrix().cols, 1);
        with_scalar(a_.kind(), [&](auto zero) {
            using T = decltype(zero);
            const auto X = B.column_major<T>(1, "b");
            const auto& factors = *std::get<Factors<T>>(factors_);
            compute([&] { return factors.solve(X.cols, X.data, X.ld, options(0, "")); });
        });
    }

private:
    template <Scalar T> using Factors = std::unique_ptr<IncrementalLu<T>>;

    Buffer a_;
    std::variant<Factors<float>, Factors<double>, Factors<std::complex<float>>, Factors<std::complex<double>>> factors_;
};

} // namespace

void bind_incremental(nb::module_& m)
{
    using namespace nb::literals;
    nb::class_<IncrementalFactors>(m, "IncrementalFactors")
        .def(nb::init<Session*, nb::handle, Index>(), "session"_a.none(), "a"_a, "nb"_a = 0, nb::keep_alive<1, 2>())
        .def_prop_ro("info", &IncrementalFactors::info)
        .def("solve", &IncrementalFactors::solve, "b"_a);
}

} // namespace trencadis::python
