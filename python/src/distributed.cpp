#include "drivers/distributed_matrix.hpp"

#include "bind.hpp"
#include "call.hpp"
#include "drivers/local_blocks.hpp"
#include "graph/processes.hpp"

#include <memory>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <variant>

using namespace nanobind::literals;

namespace trencadis::python {
namespace {

using Complex = std::complex<double>;

/// A matrix whose tiles processes hold, of any precision.
class Shared {
public:
    template <Scalar T> using Of = std::unique_ptr<DistributedMatrix<T>>;

    Shared(Session& session, char precision, Index rows, Index cols, Index mb, Index tile_cols, const TileOwners& owners,
           bool idle_too)
    {
        const auto make = [&]<Scalar T>(T) {
            matrix_ = std::make_unique<DistributedMatrix<T>>(session, rows, cols, mb, tile_cols, owners, idle_too);
        };
        if (precision == 's') make(float());
        else if (precision == 'd') make(double());
        else if (precision == 'c') make(std::complex<float>());
        else make(Complex());
    }
    /// On memory that somebody else keeps.
    template <Scalar T>
    Shared(Session& session, const HeldTiles<T>& tiles) : matrix_(std::make_unique<DistributedMatrix<T>>(session, tiles))
    {
    }
    template <class Call> auto with(const Call& call) const
    {
        return std::visit([&](const auto& matrix) { return call(*matrix); }, matrix_);
    }
    /// Throws where it is of another precision than the first matrix of a call.
    template <Scalar T> const DistributedMatrix<T>& as() const
    {
        if (const auto* const matrix = std::get_if<Of<T>>(&matrix_)) return **matrix;
        throw Error(ErrorCode::bad_argument, "the matrices of a call must have one precision");
    }

private:
    std::variant<Of<float>, Of<double>, Of<std::complex<float>>, Of<Complex>> matrix_;
};
template <class Matrix> struct ScalarOf;
template <Scalar T> struct ScalarOf<DistributedMatrix<T>> {
    using type = T;
};

RoutineOptions options(const std::string& variant)
{
    RoutineOptions options;
    options.variant = variant;
    options.interrupted = signalled;
    return options;
}
/// Calls with the matrix's scalar, without the interpreter lock.
template <class Call> auto call_with(const Shared& A, const Call& call)
{
    return compute([&] {
        return A.with([&](const auto& matrix) {
            using T = typename ScalarOf<std::remove_cvref_t<decltype(matrix)>>::type;
            return call.template operator()<T>(matrix.tiles());
        });
    });
}

Uplo uplo_of(const std::string& letter) { return letter == "U" ? Uplo::upper : Uplo::lower; }
Op op_of(const std::string& letter) { return letter == "N" ? Op::none : letter == "T" ? Op::trans : Op::conj_trans; }
template <Scalar T> T scalar(Complex value)
{
    if constexpr (is_complex<T>) return T(value);
    else return T(value.real());
}

nb::object view(Shared& shared, Index i, Index j)
{
    return shared.with([&](const auto& matrix) {
        using T = typename ScalarOf<std::remove_cvref_t<decltype(matrix)>>::type;
        const std::size_t shape[] = {std::size_t(matrix.row_count(i)), std::size_t(matrix.col_count(j))};
        const LocalTile<T> tile = matrix.tile(i, j);
        const std::int64_t strides[] = {1, tile.ld};
        return nb::cast(nb::ndarray<nb::numpy, T>(tile.data, 2, shape, nb::find(shared), strides));
    });
}

using Extents = std::pair<Index, Index>;
using Local = nb::ndarray<nb::ndim<2>, nb::device::cpu>;

/// The blocks in an array of this process's, by columns.
Shared* on_array(Session& session, const Local& local, Extents shape, Extents blocks, std::pair<int, int> grid,
                 std::pair<int, int> first)
{
    const Index ld = std::max<Index>(local.shape(1) > 1 ? local.stride(1) : Index(local.shape(0)), 1);
    const LocalBlocks A{shape.first,  shape.second, blocks.first, blocks.second,        grid.first, grid.second, first.first,
                        first.second, local.data(), ld,           int(local.itemsize())};
    require_local(session, A, 0);
    const auto is = [&]<Scalar T>(T) { return local.dtype() == nb::dtype<T>(); };
    if (is(float())) return new Shared(session, A.held<float>());
    if (is(double())) return new Shared(session, A.held<double>());
    if (is(std::complex<float>())) return new Shared(session, A.held<std::complex<float>>());
    if (is(Complex())) return new Shared(session, A.held<Complex>());
    throw Error(ErrorCode::bad_argument, "the array must hold float32, float64, complex64 or complex128");
}

using Pivots = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void bind_matrix(nb::module_& m)
{
    nb::class_<Shared>(m, "DistributedMatrix", "A matrix whose tiles processes hold, as one of them sees it.")
        .def(
            "__init__",
            [](Shared* self, Session& session, const std::string& precision, Index rows, Index cols, Index mb, Index tile_cols,
               std::pair<int, int> grid, bool symmetric, bool idle_too) {
                TileOwners owners{std::int16_t(grid.first), std::int16_t(grid.second)};
                if (symmetric) owners.rule = TileOwners::Rule::symmetric;
                compute([&] { new (self) Shared(session, precision.at(0), rows, cols, mb, tile_cols, owners, idle_too); });
            },
            "session"_a, "precision"_a, "rows"_a, "cols"_a, "mb"_a, "nb"_a, "grid"_a, "symmetric"_a = false, "idle_too"_a = false,
            nb::keep_alive<1, 2>())
        .def_static("on", &on_array, "session"_a, nb::arg("local").noconvert(), "shape"_a, "blocks"_a, "grid"_a, "first"_a,
                    nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::rv_policy::take_ownership)
        .def("fill_random", [](Shared& A, std::uint64_t seed) { A.with([&](auto& M) { M.fill_random(seed); }); })
        .def("fill_definite", [](Shared& A, std::uint64_t seed) { A.with([&](auto& M) { M.fill_definite(seed); }); })
        .def("keep_triangle",
             [](Shared& A, const std::string& uplo) { A.with([&](auto& M) { M.keep_triangle(uplo_of(uplo)); }); })
        .def("copy_tiles",
             [](Shared& A, const Shared& B) {
                 A.with([&](auto& M) { M.copy_tiles(B.as<typename ScalarOf<std::remove_cvref_t<decltype(M)>>::type>()); });
             })
        .def("norm",
             [](const Shared& A, Session& session) {
                 return compute([&] { return A.with([&](auto& M) { return M.norm(*session.processes()); }); });
             })
        .def("is_here", [](const Shared& A, Index i, Index j) { return A.with([&](auto& M) { return M.is_here(i, j); }); })
        .def("tile", &view, "The tile (i, j), which this process holds, as an array on its memory.")
        .def_prop_ro("bytes", [](const Shared& A) { return A.with([](auto& M) { return M.bytes(); }); });
}

void bind_processes(nb::module_& m)
{
    m.def("process", [](Session& session) {
        return std::pair(distributed::processes(session).rank(), distributed::processes(session).size());
    });
    m.def(
        "sent",
        [](Session& session) {
            double numbers[] = {double(session.sent().messages), session.sent().bytes};
            compute([&] { distributed::processes(session).sum(numbers); });
            return std::pair(std::int64_t(numbers[0]), numbers[1]);
        },
        "Messages and bytes of all processes in the last call on distributed matrices.");
    m.def("largest", [](Session& session, double number) {
        compute([&] { distributed::processes(session).largest({&number, 1}); });
        return number;
    });
    m.def("local_extent", &local_extent, "n"_a, "nb"_a, "place"_a, "first"_a, "places"_a);
    m.def("agree",
          [](Session& session, const std::string& what) { compute([&] { distributed::processes(session).agree(what); }); });
    m.def(
        "throw_together",
        [](Session& session, const std::string& failure) {
            const Error error(ErrorCode::bad_argument, failure);
            compute([&] { distributed::processes(session).throw_together(failure.empty() ? nullptr : &error); });
        },
        "Called by all; raises for all where one says something.");
    m.def("broadcast", [](Session& session, nb::bytes data, std::size_t bytes, int root) {
        std::string buffer(data.c_str(), data.size());
        buffer.resize(bytes);
        compute([&] { distributed::processes(session).broadcast(buffer.data(), bytes, root); });
        return nb::bytes(buffer.data(), buffer.size());
    });
}

void bind_shared_solvers(nb::module_& m)
{
    m.def("shared_potrf", [](Session& s, const std::string& uplo, const Shared& A, const std::string& variant) {
        return call_with(
            A, [&]<Scalar T>(const HeldTiles<T>& a) { return distributed::potrf(s, uplo_of(uplo), a, options(variant)); });
    });
    m.def("shared_potrs", [](Session& s, const std::string& uplo, const Shared& A, const Shared& B) {
        call_with(
            A, [&]<Scalar T>(const HeldTiles<T>& a) { distributed::potrs(s, uplo_of(uplo), a, B.as<T>().tiles(), options("")); });
    });
    m.def("shared_posv", [](Session& s, const std::string& uplo, const Shared& A, const Shared& B, const std::string& variant) {
        return call_with(A, [&]<Scalar T>(const HeldTiles<T>& a) {
            return distributed::posv(s, uplo_of(uplo), a, B.as<T>().tiles(), options(variant));
        });
    });
    m.def("shared_getrf", [](Session& s, const Shared& A, const Pivots& pivots, const std::string& variant) {
        return call_with(
            A, [&]<Scalar T>(const HeldTiles<T>& a) { return distributed::getrf(s, a, pivots.data(), options(variant)); });
    });
    m.def("shared_getrs", [](Session& s, const std::string& op, const Shared& A, const Pivots& pivots, const Shared& B) {
        call_with(A, [&]<Scalar T>(const HeldTiles<T>& a) {
            distributed::getrs(s, op_of(op), a, pivots.data(), B.as<T>().tiles(), options(""));
        });
    });
    m.def("shared_gesv", [](Session& s, const Shared& A, const Pivots& pivots, const Shared& B, const std::string& variant) {
        return call_with(A, [&]<Scalar T>(const HeldTiles<T>& a) {
            return distributed::gesv(s, a, pivots.data(), B.as<T>().tiles(), options(variant));
        });
    });
}

void bind_shared_products(nb::module_& m)
{
    m.def("shared_geqrf", [](Session& s, const Shared& A, const std::string& variant) {
        call_with(A, [&]<Scalar T>(const HeldTiles<T>& a) { distributed::geqrf(s, a, options(variant)); });
    });
    m.def("shared_trsm", [](Session& s, const std::string& side, const std::string& uplo, const std::string& op,
                            const std::string& diag, Complex alpha, const Shared& A, const Shared& B) {
        call_with(A, [&]<Scalar T>(const HeldTiles<T>& a) {
            distributed::trsm(s, side == "L" ? Side::left : Side::right, uplo_of(uplo), op_of(op),
                              diag == "U" ? Diag::unit : Diag::non_unit, scalar<T>(alpha), a, B.as<T>().tiles(), options(""));
        });
    });
    m.def("shared_copy", [](Session& s, const Shared& A, Extents from, const Shared& B, Extents to, Extents shape) {
        call_with(A, [&]<Scalar T>(const HeldTiles<T>& a) {
            distributed::copy(s, a, from.first, from.second, B.as<T>().tiles(), to.first, to.second, shape.first, shape.second,
                              options(""));
        });
    });
    m.def("shared_gemm", [](Session& s, const std::string& op_a, const std::string& op_b, Complex alpha, const Shared& A,
                            const Shared& B, Complex beta, const Shared& C) {
        call_with(A, [&]<Scalar T>(const HeldTiles<T>& a) {
            distributed::gemm(s, op_of(op_a), op_of(op_b), scalar<T>(alpha), a, B.as<T>().tiles(), scalar<T>(beta),
                              C.as<T>().tiles(), options(""));
        });
    });
}

} // namespace

void bind_distributed(nb::module_& m)
{
    bind_matrix(m);
    bind_processes(m);
    bind_shared_solvers(m);
    bind_shared_products(m);
}

} // namespace trencadis::python
