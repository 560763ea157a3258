#pragma once
#include "base/types.hpp"
#include "graph/codelet.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace trencadis {

/// How fast each worker runs each codelet just now: an exponential mean of flops per second, updated after every task, so
/// that a core which a neighbour slows down is seen as slow within a few tasks. What was seen long ago fades: after some tens of
/// milliseconds a worker is expected to be as fast as the fastest of its kind again, so that it is tried, and a neighbour that went
/// away is noticed. A worker writes its own row only; any thread reads. Pure: times are given to it.
class SpeedEstimates {
public:
    /// `kinds`: the core kind of each worker.
    SpeedEstimates(std::vector<int> kinds, double nominal_flops_per_second);
    void observe(WorkerId worker, const Codelet& codelet, Flops flops, Seconds took, Seconds now);
    /// Expected seconds. Of a worker that has not run the codelet yet: as the fastest of its kind, then as the fastest of all, then at
    /// the nominal speed.
    Seconds expect(WorkerId worker, const Codelet& codelet, Flops flops, Seconds now) const;
    /// On the fastest worker.
    Seconds expect_best(const Codelet& codelet, Flops flops) const;

private:
    static constexpr int capacity = 64; ///< codelets known at once; further ones are taken at the nominal speed
    static constexpr double weight = 0.25;
    static constexpr Seconds valid = 0.02,
                             forgotten = 0.1; ///< age up to which an observation counts fully, from which it no longer does
    struct Seen {
        std::atomic<double> rate{0};
        std::atomic<Seconds> at{0};
    };
    struct alignas(64) Row {
        std::array<Seen, capacity> seen{};
    };
    static constexpr int any_kind = -1;
    int index(const Codelet& codelet, bool insert) const;
    double best_rate(int place, int kind) const;

    const std::vector<int> kinds_;
    const double nominal_;
    std::vector<Row> rows_;
    mutable std::array<std::atomic<const Codelet*>, capacity> codelets_{};
};

} // namespace trencadis
