#include "blas/factorizations/block_reflector.hpp"
#include "blas/level3/control_tree.hpp"
#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/scratch.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/reflector_operations.hpp"
#include "kernels/tiles/tile_access.hpp"

#include <algorithm>

namespace trencadis::task {
namespace {

using kernel_flops::weight_of;

template <Scalar T> Datum room_datum(const ReflectorBlock<T>& block)
{
    return Datum(block.room, block.room_bytes > 0 ? block.room_bytes : double(block.order) * double(block.count) * sizeof(T));
}
template <Scalar T> Datum factor_datum(const ReflectorBlock<T>& block)
{
    return Datum(block.factor, double(block.count) * double(block.count) * sizeof(T));
}
template <Scalar T> Datum images_datum(const ReflectorBlock<T>& block)
{
    const Bytes elements = double(2 * block.order + block.count) * double(block.count) * sizeof(T);
    return Datum(block.images, block.images_bytes > 0 ? block.images_bytes : elements);
}
template <Scalar T> Datum tau_datum(const T* tau, Index count) { return Datum(tau, double(count) * sizeof(T)); }

/// Where a tile's element (i, j) of the columns is, of which rows are the conjugate transpose.
template <Scalar T> T* element(Storage storage, Stored<T> A, Index i, Index j)
{
    return storage == Storage::columns ? A.data + i + j * A.ld : A.data + j + i * A.ld;
}

/// The images of a block, one after the other: V by panels of rows, V^H in pieces along them, op(T).
template <Scalar T> struct ImageLayout {
    const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
    Index order, count;

    /// Whole panels, in the order of the depth of one block of a product.
    Index piece() const { return std::max<Index>(1, 240 / kernel.mr) * kernel.mr; }
    Index pieces() const { return (order + piece() - 1) / piece(); }
    Index rows(Index p) const { return std::min(piece(), order - p * piece()); }
    static Index rounded(Index numbers) { return (numbers + 15) / 16 * 16; }
    Index vectors(Index p) const { return blas::planes<T> * p * piece() * count; }
    Index adjoint(Index p) const { return rounded(kernel.left_size(order, count)) + kernel.left_size(count, p * piece()); }
    Index middle() const { return rounded(kernel.left_size(order, count)) + rounded(kernel.left_size(count, order)); }
    Index size() const { return middle() + rounded(kernel.left_size(count, count)); }
};

/// Of m x n: a panel with its factor T.
template <Scalar T> struct PanelArgs {
    Storage storage;
    Index order, count, offset;

    Flops flops() const { return weight_of<T> * kernel_flops::geqrt(order, count, count); }
    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0);
        blas::factor_panel(storage, order, count, element(storage, A, offset, 0), A.ld, data_of<T>(context, 1),
                           data_of<T>(context, 3), count, data_of<T>(context, 2));
    }
};

template <Scalar T> struct WholeArgs {
    Storage storage;
    AfterReading then;
    Index order, count, offset;

    Flops flops() const { return weight_of<T> * double(count) * double(count) * (double(order) - double(count) / 3); }
    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0);
        T *const room = data_of<T>(context, 2), *const factor = data_of<T>(context, 3);
        const T* const first = element(storage, A, offset, 0);
        blas::load_reflectors(storage, order, count, first, A.ld, data_of<const T>(context, 1), factor, count, room);
        if (then == AfterReading::form) blas::set_identity(storage, offset + order, count, offset, A.data, A.ld);
    }
};

/// The diagonal blocks of T are the factors of the reflectors that they belong to.
template <Scalar T> struct KeepArgs {
    Index count, width;
    void run(TaskContext& context)
    {
        const T* const factor = data_of<const T>(context, 0);
        const Stored<T> t = stored<T>(context, 1);
        for (Index j = 0; j < count; ++j) {
            const Index first = j / width * width;
            std::copy_n(factor + first + j * count, j - first + 1, t.data + j * t.ld);
        }
    }
};

template <Scalar T> struct IdentityArgs {
    Storage storage;
    Index length, count, one;
    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0);
        blas::set_identity(storage, length, count, one, A.data, A.ld);
    }
};

template <Scalar T> struct PackArgs {
    Index order, count;
    Application how;

    Index chunks(const Kernels* kernels) const
    {
        constexpr Index at_a_time = 240; // where nothing is computed
        return kernels ? ImageLayout<T>{.order = order, .count = count}.pieces() : (order + at_a_time - 1) / at_a_time;
    }
    void run(TaskContext& context)
    {
        const T *const V = data_of<const T>(context, 0), *const factor = data_of<const T>(context, 1);
        Real<T>* const images = data_of<Real<T>>(context, 2);
        while (const auto c = context.team().next())
            for (Index p = c.begin; p < c.end; ++p) piece(p, V, factor, images);
    }
    /// What is applied from the right is applied to C^T from the left, with conjugate reflectors.
    void piece(Index p, const T* V, const T* factor, Real<T>* images) const
    {
        const ImageLayout<T> at{.order = order, .count = count};
        const bool left = how.side == Side::left, plain = how.op == Op::none;
        const blas::Operand<T> whole = blas::general(V + p * at.piece(), blas::whole_reflectors_ld<T>(order));
        const blas::Operand<T> seen = left ? whole : whole.conjugate();
        pack_left(at.kernel, seen, at.rows(p), count, images + at.vectors(p));
        pack_left(at.kernel, seen.transposed().conjugate(), count, at.rows(p), images + at.adjoint(p));
        if (p > 0) return;
        blas::Operand<T> middle = blas::general(factor, count);
        if (left != plain) middle = middle.transposed();
        if (!plain) middle = middle.conjugate();
        pack_left(at.kernel, middle, count, count, images + at.middle());
    }
};

template <Scalar T> struct ApplyArgs {
    Index order, count, others, offset;
    Application how;

    Flops flops() const { return weight_of<T> * kernel_flops::unmqr(order, others, count, count); }
    Index chunks() const { return chunk_count(others, flops()); }
    void run(TaskContext& context)
    {
        const Real<T>* const images = data_of<const Real<T>>(context, 0);
        const Stored<T> C = stored<T>(context, 1);
        const Index total = chunks();
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, total, others);
            const Index step = fitting_columns(r.size());
            for (Index begin = r.begin; begin < r.end; begin += step) columns(images, C, begin, std::min(step, r.end - begin));
        }
    }
    /// As many as are packed at a time, or there is memory for.
    Index fitting_columns(Index all) const
    {
        const ImageLayout<T> at{.order = order, .count = count};
        const Index wanted = std::min<Index>(256, all);
        return blas::fitting(wanted, std::min<Index>(wanted, 8), [&](Index cols) {
            blas::scratch<Real<T>>(blas::Buffer::right, at.kernel.right_size(at.piece(), cols));
            blas::scratch<T>(blas::Buffer::applied, count * cols);
            blas::scratch<Real<T>>(blas::Buffer::solution, at.kernel.right_size(count, cols));
        });
    }

    /// C <- C - V M V^H C for some columns (on the right: rows, as columns of C^T).
    void columns(const Real<T>* images, Stored<T> C, Index begin, Index cols) const
    {
        const ImageLayout<T> at{.order = order, .count = count};
        const bool left = how.side == Side::left;
        const Index rs = left ? 1 : C.ld, cs = left ? C.ld : 1;
        T* const first = C.data + offset * rs + begin * cs;
        Real<T>* const piece = blas::scratch<Real<T>>(blas::Buffer::right, at.kernel.right_size(at.piece(), cols));
        T* const W = blas::scratch<T>(blas::Buffer::applied, count * cols);
        for (Index p = 0; p < at.pieces(); ++p) {
            pack_right(at.kernel, blas::Operand<T>{first + p * at.piece() * rs, rs, cs}, at.rows(p), cols, piece);
            product(at, {images + at.adjoint(p), count, at.rows(p)}, piece, cols, T(1), p == 0 ? T(0) : T(1), W, 1, count);
        }
        Real<T>* const packed = blas::scratch<Real<T>>(blas::Buffer::solution, at.kernel.right_size(count, cols));
        pack_right(at.kernel, blas::general<T>(W, count), count, cols, packed);
        const blas::Part part = left == (how.op == Op::none) ? blas::Part::upper : blas::Part::lower;
        product(at, {images + at.middle(), count, count, part}, packed, cols, T(1), T(0), W, 1, count);
        pack_right(at.kernel, blas::general<T>(W, count), count, cols, packed);
        for (Index p = 0; p < at.pieces(); ++p)
            product(at, {images + at.vectors(p), at.rows(p), count}, packed, cols, T(-1), T(1), first + p * at.piece() * rs, rs,
                    cs);
    }
    static void product(const ImageLayout<T>& at, const blas::Packed<T>& A, const Real<T>* B, Index cols, T alpha, T beta, T* C,
                        Index rs, Index cs)
    {
        blas::multiply_packed<T>(at.kernel, A.depth, blas::Part::all, 0, alpha, A, 0, A.extent, {B, cols, A.depth}, 0, cols, beta,
                                 C, rs, cs);
    }
};

/// Vectors' length and their number as a tile holds them.
template <Scalar T> Index length(Storage storage, const Tile<T>& A) { return storage == Storage::columns ? A.rows : A.cols; }
template <Scalar T> Index number(Storage storage, const Tile<T>& A) { return storage == Storage::columns ? A.cols : A.rows; }

} // namespace

template <Scalar T> Index ReflectorBlock<T>::images_size(Index order, Index count)
{
    return ImageLayout<T>{.order = order, .count = count}.size();
}

template <Scalar T>
void reflector_panel(Flow& flow, Storage storage, Tile<T> A, T* tau, const ReflectorBlock<T>& block, const TaskOptions& options)
{
    static constexpr Codelet of_columns = codelet_of<PanelArgs<T>>("geqrf_panel"),
                             of_rows = codelet_of<PanelArgs<T>>("gelqf_panel");
    const PanelArgs<T> args{storage, block.order, block.count, length(storage, A) - block.order};
    flow.submit(storage == Storage::columns ? of_columns : of_rows, args,
                {readwrite(A), write(tau_datum(tau, block.count)), write(room_datum(block)), write(factor_datum(block))},
                options);
}

template <Scalar T>
void whole_reflectors(Flow& flow, Storage storage, Tile<T> A, const T* tau, const ReflectorBlock<T>& block, AfterReading then,
                      const TaskOptions& options)
{
    static constexpr Codelet codelet = codelet_of<WholeArgs<T>>("larft");
    const WholeArgs<T> args{storage, then, block.order, block.count, length(storage, A) - block.order};
    flow.submit(codelet, args,
                {then == AfterReading::keep ? read(A) : readwrite(A), read(tau_datum(tau, block.count)), write(room_datum(block)),
                 write(factor_datum(block))},
                options);
}

template <Scalar T> void keep_factors(Flow& flow, const ReflectorBlock<T>& block, Index width, T* t, Index ldt)
{
    static constexpr Codelet codelet = codelet_of<KeepArgs<T>>("keep");
    flow.submit(codelet, KeepArgs<T>{block.count, width},
                {read(factor_datum(block)), write(Tile<T>{t, std::min(width, block.count), block.count, ldt})});
}

template <Scalar T> void set_identity(Flow& flow, Storage storage, Tile<T> A, Index one)
{
    static constexpr Codelet codelet = codelet_of<IdentityArgs<T>>("laset");
    flow.submit(codelet, IdentityArgs<T>{storage, length(storage, A), number(storage, A), one}, {write(A)});
}

template <Scalar T> void pack_reflectors(Flow& flow, const ReflectorBlock<T>& block, Application how, const TaskOptions& options)
{
    static constexpr Codelet codelet = codelet_of<PackArgs<T>>("pack", "reflectors");
    flow.submit(codelet, PackArgs<T>{block.order, block.count, how},
                {read(room_datum(block)), read(factor_datum(block)), write(images_datum(block))}, options);
}

template <Scalar T> void apply_reflectors(Flow& flow, const ReflectorBlock<T>& block, Application how, Tile<T> C)
{
    static constexpr Codelet codelet = codelet_of<ApplyArgs<T>>("larfb");
    const bool left = how.side == Side::left;
    const Index others = left ? C.cols : C.rows, offset = (left ? C.rows : C.cols) - block.order;
    flow.submit(codelet, ApplyArgs<T>{block.order, block.count, others, offset, how}, {read(images_datum(block)), readwrite(C)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template struct ReflectorBlock<T>;                                                                                           \
    template void reflector_panel(Flow&, Storage, Tile<T>, T*, const ReflectorBlock<T>&, const TaskOptions&);                    \
    template void whole_reflectors(Flow&, Storage, Tile<T>, const T*, const ReflectorBlock<T>&, AfterReading,                    \
                                   const TaskOptions&);                                                                          \
    template void keep_factors(Flow&, const ReflectorBlock<T>&, Index, T*, Index);                                               \
    template void set_identity(Flow&, Storage, Tile<T>, Index);                                                                  \
    template void pack_reflectors(Flow&, const ReflectorBlock<T>&, Application, const TaskOptions&);                             \
    template void apply_reflectors(Flow&, const ReflectorBlock<T>&, Application, Tile<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
