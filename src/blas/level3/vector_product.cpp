#include "blas/level3/vector_product.hpp"

#include "blas/level3/control_tree.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/level3/vector_solve.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <cmath>

namespace trencadis::blas {
namespace {

constexpr Index block = 32;     ///< columns that go past rows together
constexpr Index sub_block = 8;  ///< of its triangle, which is multiplied element by element
constexpr Index in_cache = 128; ///< rows of a block that are read twice from the first cache
constexpr Index most_parts = 16;

/// Parts of the columns, whole blocks, with as many elements of the triangle in each: by its size alone.
template <Scalar T> struct Parts {
    Index n;
    bool lower;

    Index count() const
    {
        constexpr Bytes each = 1e6; // what takes a core longer to read than to begin; an even number, for two of them
        const auto pairs = Index(Bytes(n) * Bytes(n) * sizeof(T) / 2 / (2 * each) + 0.5);
        return pairs < 1 ? 1 : std::min(2 * pairs, most_parts);
    }
    Index begin(Index part) const
    {
        if (part == count()) return n;
        const double share = double(part) / double(count());
        const double columns = lower ? 1 - std::sqrt(1 - share) : std::sqrt(share);
        return Index(columns * double(n) / block) * block;
    }
};

/// What of y <- op(A) x or y <- A x the stored elements are for: those of the triangle, of its transpose, or of both.
enum class Serve { triangle, transpose, both };

/// y <- y + A x over columns of the triangle of A in memory.
template <Scalar T> struct VectorProduct {
    const ColumnKernel<T>& kernel;
    Serve serve;
    bool lower, conjugated; ///< the transpose is
    enum class Diagonal { stored, unit, real } diagonal;
    Index n;
    const T* A;
    Index lda;
    Index vectors = 1;
    const T *x = nullptr, *minus_x = nullptr; ///< one after the other

    const T* at(Index i, Index j) const { return A + i + j * lda; }
    /// a b without std::complex's search for infinities.
    static T product(T a, T b)
    {
        if constexpr (is_complex<T>)
            return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
        else return a * b;
    }
    /// Rows [row, end) beside the columns [first, last).
    void beside(Index row, Index end, Index first, Index last, T* y) const
    {
        if (row >= end) return;
        for (Index at_x = 0; at_x < vectors * n; at_x += n, y += n) {
            if (serve != Serve::triangle) {
                T sums[block];
                kernel.dots(end - row, last - first, at(row, first), lda, x + at_x + row, conjugated, sums);
                for (Index j = first; j < last; ++j) y[j] += sums[j - first];
            }
            if (serve != Serve::transpose)
                kernel.subtract(end - row, last - first, at(row, first), lda, minus_x + at_x + first, y + row);
        }
    }
    T on_diagonal(Index j) const
    {
        if (diagonal == Diagonal::unit) return T(1);
        if (diagonal == Diagonal::real) return T(std::real(*at(j, j)));
        return serve == Serve::transpose && conjugated ? conjugate(*at(j, j)) : *at(j, j);
    }
    /// The triangle of the columns [first, last), element by element.
    void triangle(Index first, Index last, const T* x, T* y) const
    {
        for (Index j = first; j < last; ++j) {
            y[j] += product(on_diagonal(j), x[j]);
            const Index begin = lower ? j + 1 : first, end = lower ? last : j;
            for (Index i = begin; i < end; ++i) {
                const T a = *at(i, j);
                if (serve != Serve::transpose) y[i] += product(a, x[j]);
                if (serve != Serve::triangle) y[j] += product(conjugated ? conjugate(a) : a, x[i]);
            }
        }
    }
    void columns(Index begin, Index end, T* y) const
    {
        const Index step = serve == Serve::both || vectors > 1 ? in_cache : n;
        for (Index first = begin, last; first < end; first = last) {
            last = std::min(end, first + block);
            for (Index row = lower ? last : 0, stop = lower ? n : first; row < stop; row += step)
                beside(row, std::min(stop, row + step), first, last, y);
            for (Index j = first, next; j < last; j = next) {
                next = std::min(last, j + sub_block);
                for (Index v = 0; v < vectors; ++v) triangle(j, next, x + v * n, y + v * n);
                if (lower) beside(next, last, j, next, y);
                else beside(first, j, j, next, y);
            }
        }
    }
    /// y <- A x. `of_parts` has as many numbers as y for each part but the first.
    void run(T* y, T* of_parts, const Helpers& helpers) const
    {
        const Parts<T> parts{n, lower};
        const Index count = parts.count();
        const bool apart = serve != Serve::transpose; // else each part has elements of y of its own
        const auto begin_of = [&](Index part) { return apart && !lower ? 0 : parts.begin(part); };
        const auto end_of = [&](Index part) { return apart && lower ? n : parts.begin(part + 1); };
        const auto sums_of = [&](Index part) { return apart && part > 0 ? of_parts + (part - 1) * vectors * n : y; };
        share(count, helpers, [&](Index part) {
            T* const sums = sums_of(part);
            for (Index v = 0; v < vectors; ++v) std::fill(sums + v * n + begin_of(part), sums + v * n + end_of(part), T(0));
            columns(parts.begin(part), parts.begin(part + 1), sums);
        });
        if (!apart) return;
        for (Index v = 0; v < vectors; ++v) {
            std::fill(y + v * n + end_of(0), y + (v + 1) * n, T(0));
            for (Index part = 1; part < count; ++part)
                for (Index i = v * n + begin_of(part); i < v * n + end_of(part); ++i) y[i] += sums_of(part)[i];
        }
    }
    template <class Compute> void share(Index count, const Helpers& helpers, const Compute& compute) const
    {
        const Update all{count, flops_for_a_read<T> * Flops(n) * Flops(n) / 2, Bytes(n) * sizeof(T), Bytes(n) * sizeof(T)};
        const auto work = [&](Team& team) {
            while (const Chunks some = team.next_of_two_ends(1))
                for (Index part = some.begin; part < some.end; ++part) compute(part);
        };
        if (count > 1 && is_worth_sharing(helpers, all) && helpers.share(count, all.flops, std::cref(work))) return;
        for (Index part = 0; part < count; ++part) compute(part);
    }
};

/// Vectors in memory, `conjugated` on the way to contiguous ones and back.
template <class T> struct Strided {
    T* data;
    Index step, next; ///< from element to element, and from vector to vector
    bool conjugated;

    T& operator()(Index i, Index vector) const { return data[i * step + vector * next]; }
    auto seen(std::remove_const_t<T> x) const { return conjugated ? conjugate(x) : x; }
};

/// What the vectors of one call have in common.
template <Scalar T> class Vectors {
public:
    Vectors(VectorProduct<T> product, T alpha, const Helpers& helpers) : product_(product), alpha_(alpha), helpers_(helpers) {}

    bool can_run()
    {
        if (alpha_ == T(0)) return false;
        const Index n = product_.n, parts = Parts<T>{n, product_.lower}.count();
        return finds_memory([&] { x_ = scratch<T>(Buffer::products, (2 + parts) * product_.vectors * n); });
    }
    /// y <- alpha A x + beta y; y may be x.
    void multiply(const Strided<const T>& x, T beta, const Strided<T>& y)
    {
        const Index n = product_.n, all = product_.vectors * n;
        T *const minus_x = x_ + all, *const sums = minus_x + all;
        for (Index v = 0, at = 0; v < product_.vectors; ++v)
            for (Index i = 0; i < n; ++i, ++at) {
                x_[at] = x.seen(VectorProduct<T>::product(alpha_, x(i, v)));
                minus_x[at] = -x_[at];
            }
        product_.x = x_;
        product_.minus_x = minus_x;
        product_.run(sums, sums + all, helpers_);
        for (Index v = 0, at = 0; v < product_.vectors; ++v)
            for (Index i = 0; i < n; ++i, ++at) {
                const T sum = y.seen(sums[at]);
                y(i, v) = beta == T(0) ? sum : VectorProduct<T>::product(beta, y(i, v)) + sum;
            }
    }

private:
    VectorProduct<T> product_;
    const T alpha_;
    const Helpers& helpers_;
    T* x_ = nullptr;
};

} // namespace

template <Scalar T>
bool multiply_vectors(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                      const Helpers& helpers)
{
    const bool left = side == Side::left;
    const Index order = left ? m : n, count = left ? n : m;
    // From the right y^T = op(A)^T x^T: for A^H the conjugates, by A.
    const bool turned = left == (op != Op::none), conjugated = op == Op::conj_trans;
    using Product = VectorProduct<T>;
    Vectors<T> vectors({setup<T>().kernel.columns, turned ? Serve::transpose : Serve::triangle, uplo == Uplo::lower,
                        left && conjugated, diag == Diag::unit ? Product::Diagonal::unit : Product::Diagonal::stored, order, A,
                        lda, count},
                       alpha, helpers);
    if (!vectors.can_run()) return false;
    const Strided<T> x{B, left ? 1 : ldb, left ? ldb : 1, !left && conjugated};
    vectors.multiply({x.data, x.step, x.next, x.conjugated}, T(0), x);
    return true;
}

template <Scalar T>
bool multiply_vectors(Side side, Uplo uplo, bool hermitian, Index m, Index n, T alpha, const T* A, Index lda, const T* B,
                      Index ldb, T beta, T* C, Index ldc, const Helpers& helpers)
{
    const bool left = side == Side::left;
    const Index order = left ? m : n, count = left ? n : m;
    using Product = VectorProduct<T>;
    Vectors<T> vectors({setup<T>().kernel.columns, Serve::both, uplo == Uplo::lower, hermitian,
                        hermitian ? Product::Diagonal::real : Product::Diagonal::stored, order, A, lda, count},
                       alpha, helpers);
    if (!vectors.can_run()) return false;
    const bool conjugated = !left && hermitian; // y^T = A^T x^T, and A^T is A's conjugate
    vectors.multiply({B, left ? 1 : ldb, left ? ldb : 1, conjugated}, beta, {C, left ? 1 : ldc, left ? ldc : 1, conjugated});
    return true;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template bool multiply_vectors(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index, const Helpers&);           \
    template bool multiply_vectors(Side, Uplo, bool, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index,            \
                                   const Helpers&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
