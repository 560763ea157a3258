#pragma once
#include "blas/level3/deep_product.hpp"
#include "drivers/sharing.hpp"

#include <optional>

namespace trencadis {

/// Of a deep product as many pieces as have their places at a time; by the caller alone where nobody comes or no memory is left.
template <Scalar T> void multiply_depths(Crew& crew, const blas::Product<T>& x, Index depth, Flops flops)
{
    std::optional<blas::DeepProduct<T>> deep;
    if (blas::finds_memory([&] { deep.emplace(x, depth); }) && share_out<T>(crew, *deep, flops)) {
        constexpr Bytes little = 64 << 10;
        constexpr Index slices = 8;
        const auto add = [&](Index first, Index count) { deep->add(first, count); };
        constexpr Flops in_a_byte = 4; // computed while one comes from another core's cache and is added
        if (deep->to_add() < little || !share_out<T>(crew, Slices(x.n, pieces(x.n, slices), add), in_a_byte * deep->to_add()))
            add(0, x.n);
        return;
    }
    for (Index p = 0; p < x.k; p += depth) blas::multiply(blas::depth_of(x, p, std::min(depth, x.k - p)));
}

/// A deep product with a small C by those who can be had, each pieces of the depth (blas::DeepProduct). False: it is none, or
/// nobody takes part, as where cores are taken away; nothing was done. `busy`: the part of the cores' time that pieces must fill,
/// which are few.
template <Scalar T> bool share_deep(Crew& crew, blas::Product<T> x, Flops flops, double busy)
{
    constexpr Flops longest = 2e10; // of which a Ctrl-C can wait for the end
    x = blas::normalised(x);
    const blas::Setup<T> with = blas::setup<T>(0);
    if (flops < least_shared || flops > longest || x.rs != 1 || !blas::DeepProduct<T>::suits(x, with)) return false;
    const Index depth = blas::DeepProduct<T>::depth_of_piece(x.k, with), all = pieces(x.k, depth);
    const Index last = round_up(all, Index(crew.workers())); // pieces that they have the time for
    if (double(all) < busy * double(last) || !crew.can_share(in_double<T>(flops))) return false;
    const Index most = depth * blas::DeepProduct<T>::most_pieces(x);
    for (Index p = 0; p < x.k; p += most) {
        const blas::Product<T> some = blas::depth_of(x, p, std::min(most, x.k - p));
        const double left = double(x.k - p) / double(x.k); // for which it may pay to wake somebody
        multiply_depths(crew, some, depth, flops * left);
    }
    return true;
}

} // namespace trencadis
