#include "blas/level3/packing.hpp"

#include "blas/level3/reciprocal.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

/// Writes one panel at a time: rows [first, first + rows) of A, columns [0, depth) in order. A right operand is packed as its
/// transpose.
template <Scalar T> class PanelWriter {
public:
    PanelWriter(const MicroKernel<T>& kernel, const Operand<T>& A, bool left)
        : A_(A), left_(left), pack_(left ? kernel.pack_left_panel : kernel.pack_right_panel),
          block_(left ? nullptr : kernel.pack_triangle_block)
    {
    }

    /// Can a panel be written some columns at a time, and do they lie in lines far from one another?
    bool reads_columns_apart() const
    {
        constexpr Index far = 512;
        return A_.structure == Structure::general && A_.rs == 1 && A_.cs * Index(sizeof(T)) >= far;
    }
    /// Columns [begin, end) of a panel, if so.
    void write_some(Index first, Index rows, Index width, Index begin, Index end, Real<T>* image) const
    {
        piece(A_, first, rows, width, begin, end, image);
    }
    void write(Index first, Index rows, Index width, Index depth, Real<T>* image) const
    {
        if (A_.structure == Structure::general) return piece(A_, first, rows, width, 0, depth, image);
        // In columns before the diagonal all rows of the panel lie below it, in columns behind it above.
        const Index begin = std::clamp<Index>(A_.below + first, 0, depth);
        const Index end = std::clamp<Index>(A_.below + first + rows, 0, depth);
        triangle(true, first, rows, width, 0, begin, image);
        if (begin < end) diagonal_columns(first, rows, width, begin, end, column(image, width, begin));
        triangle(false, first, rows, width, end, depth, image);
    }

private:
    Real<T>* column(Real<T>* image, Index width, Index p) const { return image + planes<T> * width * p; }

    /// Columns [begin, end) of the panel from a general matrix.
    void piece(const Operand<T>& A, Index first, Index rows, Index width, Index begin, Index end, Real<T>* image) const
    {
        if (begin == end) return;
        pack_(A.data + first * A.rs + begin * A.cs, A.rs, A.cs, A.conjugated, rows, width, end - begin,
              column(image, width, begin));
    }
    bool stored(bool below) const { return below == (A_.uplo == Uplo::lower); }
    /// The operand where a triangle is read from: itself, or for the one that is not stored its mirror. Element (i, j) of a block
    /// has its mirror at (j - below, i + below) of the block.
    Operand<T> source(bool below) const
    {
        if (stored(below)) return A_;
        Operand<T> mirror = A_.transposed();
        mirror.data += A_.below * (A_.cs - A_.rs);
        return A_.structure == Structure::hermitian ? mirror.conjugate() : mirror;
    }
    bool zero(bool below) const { return A_.structure == Structure::triangular && !stored(below); }

    void triangle(bool below, Index first, Index rows, Index width, Index begin, Index end, Real<T>* image) const
    {
        if (zero(below)) std::fill(column(image, width, begin), column(image, width, end), Real<T>(0));
        else piece(source(below), first, rows, width, begin, end, image);
    }
    /// Columns [begin, end), in which the panel crosses the diagonal.
    void diagonal_columns(Index first, Index rows, Index width, Index begin, Index end, Real<T>* to) const
    {
        if constexpr (!is_complex<T>)
            if (A_.structure == Structure::triangular) return triangle_columns(first, rows, width, begin, end, to);
        for (Index p = begin; p < end; ++p, to += planes<T> * width) diagonal_column(first, rows, width, p, to);
    }
    /// The same of a real triangle, with nothing to decide for an element.
    void triangle_columns(Index first, Index rows, Index width, Index begin, Index end, Real<T>* to) const
        requires(!is_complex<T>)
    {
        const bool lower = A_.uplo == Uplo::lower;
        const Index rs = A_.rs;
        if (suits_block(rows, width, end - begin)) {
            block_(A_.data + first * rs + begin * A_.cs, rs, A_.cs, to);
            for (Index p = 0; A_.diag == Diag::unit && p < rows; ++p) to[p * width + p] = 1;
            return;
        }
        for (Index p = begin; p < end; ++p, to += width) {
            const T* const from = A_.data + first * rs + p * A_.cs;
            const Index crossing = p - A_.below - first, stored_from = lower ? crossing + 1 : 0,
                        stored_to = lower ? rows : crossing;
            for (Index i = 0; i < stored_from; ++i) to[i] = 0;
            for (Index i = stored_from; i < stored_to; ++i) to[i] = from[i * rs];
            for (Index i = stored_to; i < width; ++i) to[i] = 0;
            to[crossing] = A_.diag == Diag::unit ? T(1) : from[crossing * rs];
        }
    }
    bool suits_block(Index rows, Index width, Index columns) const
    {
        const auto is_one = [](Index stride) { return stride == 1 || stride == -1; };
        return block_ && A_.uplo == Uplo::lower && rows == width && columns == rows && (is_one(A_.rs) || is_one(A_.cs));
    }
    /// Column p, in which the panel crosses the diagonal.
    void diagonal_column(Index first, Index rows, Index width, Index p, Real<T>* to) const
    {
        const Index crossing = p - A_.below - first;
        part_of_column(false, first, 0, crossing, width, p, to);
        put(to, width, crossing, diagonal(first + crossing, p));
        part_of_column(true, first, crossing + 1, rows, width, p, to);
        for (Index i = rows; i < width; ++i) put(to, width, i, T(0));
    }
    void part_of_column(bool below, Index first, Index begin, Index end, Index width, Index p, Real<T>* to) const
    {
        if (zero(below)) {
            for (Index i = begin; i < end; ++i) put(to, width, i, T(0));
            return;
        }
        const Operand<T> A = source(below);
        for (Index i = begin; i < end; ++i) {
            const T x = A.data[(first + i) * A.rs + p * A.cs];
            put(to, width, i, A.conjugated ? conjugate(x) : x);
        }
    }
    T diagonal(Index i, Index p) const
    {
        if (A_.structure == Structure::triangular && A_.diag == Diag::unit) return T(1);
        const T x = A_.data[i * A_.rs + p * A_.cs];
        if (A_.structure == Structure::hermitian) return T(std::real(x));
        return A_.conjugated ? conjugate(x) : x;
    }
    void put(Real<T>* to, Index width, Index i, T x) const
    {
        if constexpr (is_complex<T>) {
            to[left_ ? i : 2 * i] = x.real();
            to[left_ ? width + i : 2 * i + 1] = x.imag();
        } else to[i] = x;
    }

    const Operand<T> A_;
    const bool left_;
    const typename MicroKernel<T>::PackPanel pack_;
    const decltype(MicroKernel<T>::pack_triangle_block) block_;
};

/// All panels, whose heights `height` says of the rows that are left. Where a panel has one line of each column, and columns lie
/// far apart, a few of them are packed for some panels and so on: lines side by side come together, and from few pages at a time.
template <Scalar T, class Height>
void pack_all(const PanelWriter<T>& writer, Index panel, Index rows, Index k, Real<T>* image, const Height& height)
{
    constexpr Index element = sizeof(T), line = 64 / element, high = 128, near = 128 << 10; // 8 KiB of a matrix at a time
    const bool apart = panel <= line && rows * k * element > near && writer.reads_columns_apart();
    const Index deep = apart ? line : std::max<Index>(k, 1), together = apart ? (high + panel - 1) / panel * panel : panel;
    for (Index first = 0; first < rows; first += together)
        for (Index p = 0; p < k; p += deep)
            for (Index i = first; i < std::min(rows, first + together); i += panel) {
                const Index width = height(rows - i), count = std::min(width, rows - i);
                Real<T>* const panel_image = image + planes<T> * i * k;
                if (apart) writer.write_some(i, count, width, p, std::min(k, p + deep), panel_image);
                else writer.write(i, count, width, k, panel_image);
            }
}

} // namespace

template <Scalar T> void pack_left(const MicroKernel<T>& kernel, const Operand<T>& A, Index rows, Index k, Real<T>* image)
{
    pack_all(PanelWriter<T>(kernel, A, true), kernel.mr, rows, k, image, [&](Index left) { return kernel.height(left); });
}

template <Scalar T> void pack_right(const MicroKernel<T>& kernel, const Operand<T>& B, Index k, Index cols, Real<T>* image)
{
    pack_all(PanelWriter<T>(kernel, B.transposed(), false), kernel.nr, cols, k, image, [&](Index) { return kernel.nr; });
}

template <Scalar T> Index triangle_size(const MicroKernel<T>& kernel, Index n)
{
    return planes<T> * TrianglePanels{n, kernel.nr}.numbers();
}

template <Scalar T> void invert_diagonal(const MicroKernel<T>& kernel, Index first, Index cols, Real<T>* panel)
{
    Real<T>* const powers = panel + planes<T> * (first + cols) * kernel.nr;
    std::fill_n(powers, planes<T> * kernel.nr, Real<T>(1));
    for (Index i = 0; i < cols; ++i) {
        T* const diagonal = reinterpret_cast<T*>(panel + planes<T> * ((first + i) * kernel.nr + i));
        const Reciprocal<T> inverse = reciprocal(*diagonal);
        *diagonal = inverse.value;
        powers[i] = inverse.power;
    }
}

namespace {

/// Calls finish(j, cols, panel) for each panel of the triangle when it is packed.
template <Scalar T, class Finish>
void pack_panels(const MicroKernel<T>& kernel, const Operand<T>& U, Index n, Real<T>* image, const Finish& finish)
{
    Operand<T> transpose = U.transposed();
    transpose.structure = Structure::triangular;
    transpose.uplo = Uplo::lower;
    const PanelWriter<T> writer(kernel, transpose, false);
    const TrianglePanels panels{n, kernel.nr};
    for (Index j = 0; j < panels.count(); ++j) {
        const Index first = panels.first(j), cols = panels.cols(j);
        Real<T>* const panel = image + planes<T> * panels.numbers_before(j);
        writer.write(first, cols, kernel.nr, first + cols, panel);
        finish(first, cols, panel);
    }
}

} // namespace

template <Scalar T> void pack_triangle(const MicroKernel<T>& kernel, const Operand<T>& U, Index n, Real<T>* image)
{
    pack_panels(kernel, U, n, image,
                [&](Index first, Index cols, Real<T>* panel) { invert_diagonal(kernel, first, cols, panel); });
}

template <Scalar T> void pack_factor(const MicroKernel<T>& kernel, const Operand<T>& U, Index n, Real<T>* image)
{
    pack_panels(kernel, U, n, image, [](Index, Index, Real<T>*) {});
}

template <Scalar T>
void unpack_left(const MicroKernel<T>& kernel, const Real<T>* image, Index rows, Index k, T* B, Index rs, Index cs)
{
    for (Index i = 0; i < rows; i += kernel.mr) {
        const Index height = kernel.height(rows - i);
        kernel.unpack_left_panel(image, height, std::min(height, rows - i), k, B + i * rs, rs, cs);
        image += planes<T> * height * k;
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void pack_left(const MicroKernel<T>&, const Operand<T>&, Index, Index, Real<T>*);                                   \
    template void pack_right(const MicroKernel<T>&, const Operand<T>&, Index, Index, Real<T>*);                                  \
    template void pack_triangle(const MicroKernel<T>&, const Operand<T>&, Index, Real<T>*);                                      \
    template void pack_factor(const MicroKernel<T>&, const Operand<T>&, Index, Real<T>*);                                        \
    template Index triangle_size(const MicroKernel<T>&, Index);                                                                  \
    template void invert_diagonal(const MicroKernel<T>&, Index, Index, Real<T>*);                                                \
    template void unpack_left(const MicroKernel<T>&, const Real<T>*, Index, Index, T*, Index, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
