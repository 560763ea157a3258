#include "blas/level3/few_columns.hpp"

#include "blas/level3/scratch.hpp"

#include <algorithm>

namespace trencadis::blas {

/// Of complex numbers half a panel of columns always: pairs would be turned for little, or packed. Otherwise A comes from farther
/// than the second cache, where it is of real numbers even if two cores have half of it each.
template <Scalar T> bool FewColumns<T>::is_narrow(const Product<T>& x)
{
    const BlockSizes& sizes = block_sizes<T>(0); // the same on every core: a task's chunks are counted on another one
    const Index nr = micro_kernel<T>().nr, size = x.m * x.k, cached = 2 * sizes.kc * sizes.mc, by_rows = nr + nr / 2;
    const bool columns = x.A.rs == 1;
    if (!columns && (x.A.cs != 1 || x.rs != 1)) return false;
    if constexpr (is_complex<T>)
        return x.n <= nr / 2 || (columns ? x.n < 4 * nr && size > cached : x.n <= by_rows && size > 2 * cached);
    const Index in_place = 2 * nr, packed = 3 * nr; // tiles are as fast, or products that pack both operands
    return 2 * size > 3 * cached && x.n <= (!columns ? by_rows : x.rs == 1 && x.B.rs == 1 ? in_place : packed);
}

/// They read a panel of A anew for each panel of columns, and that costs most where its columns share few sets of the first
/// cache, or, of a kernel that does not fetch them ahead, where its vectors cross lines. They take no B by rows, nor a C.
template <Scalar T> bool FewColumns<T>::beats_tiles(const Product<T>& x)
{
    constexpr Index line = 64, page = 1024;
    const MicroKernel<T>& kernel = micro_kernel<T>();
    const Index apart = x.A.cs * Index(sizeof(T));
    const bool crossing = kernel.step * Index(sizeof(T)) >= line && apart % line != 0;
    if (is_complex<T> || x.rs != 1 || x.A.rs != 1 || x.B.rs != 1 || apart % page == 0) return true;
    return !kernel.fetches_columns && (crossing || (x.n > kernel.nr && x.n <= kernel.nr + kernel.nr / 2));
}

/// The sums take that quarter, or what of an A by rows is transposed at a time.
template <Scalar T> FewColumns<T>::FewColumns(const Product<T>& x, const Setup<T>& with) : x_(x), kernel_(with.kernel)
{
    constexpr Index most = 256; // rows: what is fetched for the next columns of A stays too
    const Index unit = 2 * kernel_.step, fitting = quarter(with) / std::max<Index>(x.n, 1) / unit * unit;
    if (x.A.rs == 1) rows_ = balanced_block(x.m, std::clamp(fitting, unit, most), unit);
    else rows_ = 2 * unit, staged_ = std::max(shallowest, quarter(with) / rows_ / shallowest * shallowest);
}

template <Scalar T> Index FewColumns<T>::most_numbers(const Setup<T>& with, Index n)
{
    const Index rows = 4 * with.kernel.step, block = std::max(quarter(with), rows * n),
                sums = planes<T> * block + n * few_columns_step<T>(0) * 2,
                stage = planes<T> * std::max(quarter(with), rows * shallowest);
    return 2 * sums + stage; // as many for a block of C
}

template <Scalar T> typename FewColumns<T>::Room FewColumns<T>::room() const
{
    Real<T>* const at = scratch<Real<T>>(Buffer::left, numbers());
    return {at, reinterpret_cast<T*>(at + sums()), reinterpret_cast<T*>(at + sums() + block())};
}

/// A block of C for a piece of the depth.
template <Scalar T>
void FewColumns<T>::multiply_block(Index i, Index rows, Index p, Index depth, T* C, Index cs, const Room& room) const
{
    ProductInPlace<T> block{.rows = rows,
                            .cols = x_.n,
                            .k = depth,
                            .A = x_.A.data + i * x_.A.rs + p * x_.A.cs,
                            .a_step = x_.A.cs,
                            .B = x_.B.data + p * x_.B.rs,
                            .b_rs = x_.B.rs,
                            .b_cs = x_.B.cs,
                            .alpha = x_.alpha,
                            .beta = p == 0 ? x_.beta : T(1),
                            .C = C,
                            .cs = cs,
                            .conjugate_a = x_.A.conjugated,
                            .conjugate_b = x_.B.conjugated};
    if (x_.A.rs == 1) return kernel_.multiply_few_columns(block, room.sums, true, true);
    const T* A = block.A;
    block.A = room.stage;
    block.a_step = kernel_.step * ((rows + kernel_.step - 1) / kernel_.step);
    for (Index done = 0; done < depth; done += staged_, A += staged_, block.B += staged_ * x_.B.rs) {
        block.k = std::min(staged_, depth - done);
        if constexpr (is_complex<T>) kernel_.transpose_pairs(rows, block.k, A, x_.A.rs, room.stage, block.a_step);
        else kernel_.pack_left_panel(A, x_.A.rs, 1, false, rows, block.a_step, block.k, room.stage);
        kernel_.multiply_few_columns(block, room.sums, done == 0, done + staged_ >= depth);
    }
}

template <Scalar T> void FewColumns<T>::multiply(Index begin, Index end, Index depth) const
{
    const Room room = this->room();
    for (Index i = begin; i < end; i += rows_) {
        const Index rows = std::min(rows_, end - i);
        T* const C = x_.C + i * x_.rs;
        const auto each = [&](const auto& move) {
            for (Index r = 0; r < rows; ++r)
                for (Index j = 0; j < x_.n; ++j) move(C[r * x_.rs + j * x_.cs], room.block[r + j * rows]);
        };
        const bool apart = x_.rs != 1;
        if (apart && x_.beta != T(0)) each([](const T& from, T& to) { to = from; });
        for (Index p = 0; p < x_.k; p += depth)
            multiply_block(i, rows, p, std::min(depth, x_.k - p), apart ? room.block : C, apart ? rows : x_.cs, room);
        if (apart) each([](T& to, const T& from) { to = from; });
    }
}

template class FewColumns<float>;
template class FewColumns<double>;
template class FewColumns<std::complex<float>>;
template class FewColumns<std::complex<double>>;

} // namespace trencadis::blas
