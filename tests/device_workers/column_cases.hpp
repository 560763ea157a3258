#pragma once
#include "base/scalar.hpp"
#include "session/session.hpp"

#include <random>
#include <string>
#include <vector>

/// What the tests of factorizations by block columns have in common.
namespace trencadis::testing {

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

/// Of one core and devices.
inline SessionOptions with(const std::string& devices, const std::string& scheduler = "eager")
{
    SessionOptions options;
    options.scheduler = scheduler;
    options.devices = devices;
    options.worker_count = 1;
    return options;
}

} // namespace trencadis::testing
