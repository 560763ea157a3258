// QR of a small matrix by vectors, reflector by reflector, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/qr_columns.hpp"

namespace trencadis::blas {
namespace {

/// MicroKernel::reflect_all. Each reflector is applied to the columns behind it at once, a group of them at a time, whose sums
/// across vectors are found together: of a matrix in the first cache that takes less time than products with T would. A row that
/// is R's leaves the columns, and zeros take its place, so that every loop begins at a whole vector.
template <Scalar T, int Bytes> struct SmallReflectors {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    using S = Plain<T>;
    static constexpr int lanes = Vec::lanes, parts = planes<T>, group = (Bytes == 64 ? 8 : 4) / parts;

    const QrColumns<T>& x;

    [[gnu::always_inline]] R* column(Index c) const { return reinterpret_cast<R*>(x.V + c * x.ldv); }
    [[gnu::always_inline]] static V turned(V v) ///< i conj(v), of real numbers nothing
    {
        if constexpr (parts == 1) return v;
        else return Vec::negate_odd(Vec::swap_pairs(v));
    }

    /// The squares below row j of column j.
    R squares_below(Index j, Index first, Index end) const
    {
        const R* const a = column(j);
        V v = Vec::load(a + first);
        v = Vec::from((j + 1) * parts - first) ? v : V{};
        V sum = v * v;
        for (Index i = first + lanes; i < end; i += lanes) {
            v = Vec::load(a + i);
            sum += v * v;
        }
        R out[1];
        const V sums[1] = {sum};
        LaneSums<R, Bytes, 1>::find(sums, out);
        return out[0];
    }
    /// Reflector j: its column becomes v. False where the squares are not to be trusted.
    bool choose(Index j, Index first, Index end, S& tau) const
    {
        const R squares = squares_below(j, first, end);
        Reflector<T> reflector;
        if (!reflector.choose(S::of(x.V[j + j * x.ldv]), squares)) return false;
        tau = reflector.tau;
        tau.put(x.tau[j]);
        reflector.beta.put(x.R[j + j * x.ldr]);
        make_vector(j, first, end, reflector.scale);
        return true;
    }
    void make_vector(Index j, Index first, Index end, S scale) const
    {
        R* const a = column(j);
        for (Index i = first; i < end; i += lanes) {
            V v = Vec::load(a + i), scaled = v * scale.re;
            if constexpr (parts == 2) scaled -= turned(v) * scale.im;
            if (i == first) {
                const auto below = Vec::from((j + 1) * parts - first), own = Vec::from(j * parts - first);
                scaled = below ? scaled : own ? one() : V{};
            }
            Vec::save(a + i, scaled);
        }
    }
    [[gnu::always_inline]] static V one()
    {
        if constexpr (parts == 1) return R(1) - V{};
        else return Vec::interleave_low(R(1) - V{}, V{});
    }

    /// H^H to columns [c, c + count).
    template <int count> [[gnu::always_inline]] void apply(Index j, Index c, Index first, Index end, S tau) const
    {
        const R* const y = column(j);
        R* const a = column(c);
        const Index step = x.ldv * parts;
        V sums[count * parts] = {};
        for (Index i = first; i < end; i += lanes) {
            const V v = Vec::load(y + i);
            [[maybe_unused]] const V swapped = parts == 2 ? Vec::swap_pairs(v) : v;
#pragma GCC unroll 8
            for (int k = 0; k < count; ++k) {
                const V b = Vec::load(a + k * step + i);
                sums[k] += v * b;
                if constexpr (parts == 2) sums[count + k] += swapped * b;
            }
        }
        R dots[count * parts];
        if constexpr (parts == 2)
            for (int k = 0; k < count; ++k) sums[count + k] = Vec::negate_odd(sums[count + k]);
        LaneSums<R, Bytes, count * parts>::find(sums, dots);
        S multiple[count];
#pragma GCC unroll 8
        for (int k = 0; k < count; ++k) {
            multiple[k] = tau.conjugate() * S{dots[k], parts == 2 ? -dots[count * (parts - 1) + k] : 0};
            (S::of(x.V[j + (c + k) * x.ldv]) - multiple[k]).put(x.R[j + (c + k) * x.ldr]);
        }
        const auto subtract = [&](Index i, int k, V v) __attribute__((always_inline))
        {
            V b = Vec::load(a + k * step + i) - v * multiple[k].re;
            if constexpr (parts == 2) b += turned(v) * multiple[k].im;
            return b;
        };
        const auto below = Vec::from((j + 1) * parts - first);
        const V top = Vec::load(y + first);
#pragma GCC unroll 8
        for (int k = 0; k < count; ++k) Vec::save(a + k * step + first, below ? subtract(first, k, top) : V{});
        for (Index i = first + lanes; i < end; i += lanes) {
            const V v = Vec::load(y + i);
#pragma GCC unroll 8
            for (int k = 0; k < count; ++k) Vec::save(a + k * step + i, subtract(i, k, v));
        }
    }
    template <int count> [[gnu::always_inline]] void apply_all(Index j, Index c, Index first, Index end, S tau) const
    {
        for (; c + count <= x.n; c += count) apply<count>(j, c, first, end, tau);
        if constexpr (count > 1) apply_all<count / 2>(j, c, first, end, tau);
    }

    static bool run(const QrColumns<T>& columns)
    {
        const SmallReflectors all{columns};
        const Index end = columns.m * parts;
        for (Index j = 0; j < columns.n; ++j) {
            const Index first = j * parts / lanes * lanes;
            S tau;
            if (!all.choose(j, first, end, tau)) return false;
            all.template apply_all<group>(j, j + 1, first, end, tau);
        }
        return true;
    }
};

} // namespace
} // namespace trencadis::blas
