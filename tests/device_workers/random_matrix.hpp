#pragma once
#include "base/scalar.hpp"

#include <random>
#include <vector>

namespace trencadis::testing {

/// Entries between -1 and 1, as both parts of complex ones.
template <Scalar T> std::vector<T> random_matrix(Index ld, Index cols, unsigned seed)
{
    std::minstd_rand random(seed);
    std::uniform_real_distribution<double> spread(-1, 1);
    std::vector<T> A(std::size_t(ld * cols));
    for (T& x : A) {
        if constexpr (is_complex<T>) x = T(Real<T>(spread(random)), Real<T>(spread(random)));
        else x = T(spread(random));
    }
    return A;
}

} // namespace trencadis::testing
