#pragma once
#include "base/types.hpp"
#include "graph/codelet.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace trencadis {

/// How fast each worker runs each codelet just now: an exponential mean of flops per second, updated after every task, so
/// that a core which a neighbour slows down is seen as slow within a few tasks. A worker writes its own row only; any
/// thread reads. Pure: times are given to it.
class SpeedEstimates {
public:
    SpeedEstimates(int workers, double nominal_flops_per_second);
    void observe(WorkerId worker, const Codelet& codelet, Flops flops, Seconds seconds);
    /// Expected seconds; from the nominal speed as long as nothing was observed.
    Seconds expect(WorkerId worker, const Codelet& codelet, Flops flops) const;
    /// On the fastest worker.
    Seconds expect_best(const Codelet& codelet, Flops flops) const;

private:
    static constexpr int capacity = 64; ///< codelets known at once; further ones are taken at the nominal speed
    static constexpr double weight = 0.25;
    struct alignas(64) Row {
        std::array<std::atomic<double>, capacity> rate{};
    };
    int index(const Codelet& codelet, bool insert) const;

    const double nominal_;
    std::vector<Row> rows_;
    mutable std::array<std::atomic<const Codelet*>, capacity> codelets_{};
};

} // namespace trencadis
