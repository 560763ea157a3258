#pragma once
#include "algorithms/forms/place.hpp"
#include "algorithms/node_share.hpp"
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "graph/flow.hpp"
#include "kernels/providers/routines.hpp"
#include "matrix/ops.hpp"

#include <complex>
#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <utility>

/// The forms of routines, one object each: all that the rest of the house knows of a way to carry a routine out. Calls,
/// simulations, lists, benchmarks and pages read it. Users name a form by --variant and RoutineOptions::variant.
namespace trencadis {

class DeviceKernels;

/// Rows, columns and depth of the tiles of a product; 0: as its form cuts it.
struct ProductCut {
    Index rows = 0, cols = 0, depth = 0;
};

/// What a form is laid out for. A graph that is the same on any number of workers has 0 of them here.
struct Problem {
    Index m = 0, n = 0;      ///< rows and columns of the matrix, of a product's result
    Index k = 0;             ///< depth of a product, reflectors of a Q
    Index nb = 0, inner = 0; ///< tiles, and blocks or tiles inside them
    Index nrhs = 1;          ///< right sides,
    Index rhs_nb = 0;        ///< in blocks of so many columns; 0: as calls have it by nb
    Side side = Side::left;
    Uplo uplo = Uplo::lower;
    Op op = Op::none, op_b = Op::none; ///< what is taken of the first operand, and of the second
    Diag diag = Diag::non_unit;
    std::complex<double> alpha = 1, beta = 1; ///< has the scalars of all precisions as they are
    ProductCut cut = {};
    int workers = 0;
    Index together = 0; ///< columns that one task may update, of LU by columns; fewer than a tile's: those of one
    std::span<const NodeShare> nodes = {}; ///< of a form that goes by memory nodes
};
/// One of the problem's factors in the precision of a layout.
template <Scalar T> T factor_of(std::complex<double> factor)
{
    if constexpr (is_complex<T>) return T(factor);
    else return T(factor.real());
}

/// A problem laid out: what its tasks work on, and what that needs beside the operands. Outlives the tasks.
class Layout {
public:
    virtual ~Layout() = default;
    /// Submits the tasks; what they find out is the flow's outcome.
    virtual void submit(Flow& flow) = 0;
};

/// Has one layout at a time, without memory from the heap for the object itself.
class LayoutRoom {
public:
    LayoutRoom() = default;
    LayoutRoom(const LayoutRoom&) = delete;
    LayoutRoom& operator=(const LayoutRoom&) = delete;
    ~LayoutRoom() { clear(); }

    template <class Made> void make(Place& place, const Problem& problem)
    {
        static_assert(sizeof(Made) <= sizeof(room_) && alignof(Made) <= alignof(std::max_align_t));
        clear();
        layout_ = new (room_) Made(place, problem);
    }
    Layout* operator->() const { return layout_; }

private:
    void clear()
    {
        if (layout_) std::exchange(layout_, nullptr)->~Layout();
    }

    alignas(std::max_align_t) std::byte room_[1024];
    Layout* layout_ = nullptr;
};

struct Form {
    std::string_view name = {};
    /// Tile size of an m x n problem where the caller asks for none. For a packed product the number of columns of a tile of the
    /// result; those have another number of rows.
    Index (*tile)(Index m, Index n, std::size_t element_bytes, int workers);
    /// Lays a problem out, by precision (s, d, c, z); null: there is no graph of it, and its calls are laid out by their driver.
    void (*lay[4])(LayoutRoom& room, Place& place, const Problem& problem) = {};
    /// Codelets of its tasks, whose times a machine must know.
    std::span<const std::string_view> kernels = {};

    bool called = true;    ///< routines can be called with it; else it is only simulated
    bool simulated = true; ///< its graph is, where it can be laid out
    /// Without a tile size it cuts its problem up itself, by more than m and n: there nb is what a caller asks for, or 0.
    bool cuts = false;
    /// Works on images that cores make for themselves, or by whole blocks in their caches: devices take no part in it.
    bool packs_images = false;
    /// Kernels that must be our own: it stands for them, on images that only they know.
    std::span<const KernelRoutine> own = {};
    /// What its factors are if they are not LAPACK's, as "leaves ...; call ...".
    std::string_view apart = {};
    /// Of simulations, where `tile` depends on the processor at hand or means something else.
    Index (*simulated_tile)(Index m, Index n, std::size_t element_bytes, int workers) = nullptr;
    /// Inner blocks or tiles where none are asked for.
    Index (*inner)(Index nb) = nullptr;
    /// Of a form for tall matrices: the rows from which one of n columns is tall.
    Index (*tall_rows)(Index n) = nullptr;

    /// Of a form that is weighed where devices could take part, beside the first that they can: about such tiles suit them.
    std::span<const Index> device_tiles = {};
    /// Bytes that the largest task of a problem needs on a device, by the size of an element; null: none of its tasks runs there.
    Bytes (*device_bytes)(const Problem& problem, std::size_t element_bytes) = nullptr;
    /// What devices must have for such a form to be weighed, by their kernels and the precision (as `lay`). Null: nothing.
    bool (*asks_of_devices)(const DeviceKernels& kernels, int precision) = nullptr;
    bool for_arrays = false; ///< where they have it, it is the one for arrays that lie on devices

    bool by_columns = false;   ///< tasks name block columns, each of which one memory has as a whole
    bool by_nodes = false;     ///< cuts its problem up for memory nodes
    bool other_pivots = false; ///< of LU: not those of partial pivoting, so that entries may grow more

    bool has_graph() const { return simulated && lay[0]; }
};

/// Form::device_bytes of those whose tasks have three tiles of nb x nb at most, and the operands of `cut` for a product.
constexpr Bytes three_tiles(const Problem& x, std::size_t element_bytes)
{
    const double nb = double(x.nb), rows = double(x.cut.rows), cols = double(x.cut.cols), depth = double(x.cut.depth);
    return double(element_bytes) * (x.cut.rows ? rows * depth + depth * cols + rows * cols : 3 * nb * nb);
}

/// Where Form::lay has the layouts of T.
template <Scalar T> constexpr int layout_of_precision = (is_complex<T> ? 2 : 0) + (sizeof(Real<T>) == sizeof(double) ? 1 : 0);

template <class Made> void make_layout(LayoutRoom& room, Place& place, const Problem& problem)
{
    room.make<Made>(place, problem);
}

/// Form::lay of a layout that is a template over the scalar.
#define TRC_LAY(Made)                                                                                                            \
    {                                                                                                                            \
        make_layout<Made<float>>, make_layout<Made<double>>, make_layout<Made<std::complex<float>>>,                             \
            make_layout<Made<std::complex<double>>>                                                                              \
    }

/// The forms of each routine, the preferred one first. `builder`: of a routine that is one builder
/// (algorithms/tile_routines.hpp).
namespace forms {
using Forms = std::span<const Form>;
Forms gemm();
Forms symm();
Forms hemm();
Forms syrk();
Forms herk();
Forms syr2k();
Forms her2k();
Forms trmm();
Forms trsm();
Forms trtrs();
Forms potrf();
Forms potrs();
Forms posv();
Forms trtri();
Forms lauum();
Forms potri();
Forms getrf();
Forms getrs();
Forms getri();
Forms gesv();
Forms geqrf();
Forms geqp3();
Forms gelqf();
Forms orgqr();
Forms orglq();
Forms ormqr();
Forms ormlq();
Forms geqrt();
Forms gemqrt();
Forms gels();
Forms tasks();
} // namespace forms

} // namespace trencadis
