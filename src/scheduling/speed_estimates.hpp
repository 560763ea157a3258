#pragma once
#include "base/types.hpp"
#include "graph/codelet.hpp"
#include "machine/kernel_speeds.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace trencadis {

/// How fast each worker runs each codelet at each size just now: an exponential mean of flops per second, updated after every
/// task, so that a core which a neighbour slows down is seen as slow within a few tasks. What was seen long ago fades: after some
/// tens of milliseconds a worker is expected to be as fast as the fastest of its kind again, so that it is tried, and a neighbour
/// that went away is noticed. Between sizes that were seen the rate is interpolated. What earlier runs have seen counts as seen
/// long ago. Pure: times are given to it.
///
/// A device is the only one of its kind, and has no neighbours: a run of its that takes long may have been the first, for which
/// its driver loads code and finds memory. Such a run counts as one of several, however long ago the last one was; a quick one
/// counts fully. One that was slow for seconds is expected to be what earlier runs have seen again, or nobody would ever see.
///
/// A worker writes its own figures only, any thread reads; relaxed, because each figure stands for itself. Looking a codelet up
/// takes no lock; one that is new takes one, once.
class SpeedEstimates {
public:
    /// `kinds`: the core kind of each worker, `kind_names` their names in `known`. The last `devices` of them are devices.
    SpeedEstimates(std::vector<int> kinds, double nominal_flops_per_second, KernelSpeeds known = {},
                   std::vector<std::string> kind_names = {}, std::size_t devices = 0);
    ~SpeedEstimates();
    /// The worker had `part` (0 to 1) of a task of so many flops.
    void observe(WorkerId worker, const Codelet& codelet, Flops flops, Seconds took, Seconds now, double part = 1);
    /// Expected seconds. Of a worker that has not run the codelet at about this size yet: as the fastest of its kind, then as the
    /// fastest of all, then at the nominal speed.
    Seconds expect(WorkerId worker, const Codelet& codelet, Flops flops, Seconds now) const;
    /// On the fastest worker.
    Seconds expect_best(const Codelet& codelet, Flops flops) const;
    /// What the fastest of each kind was seen to do, now or in earlier runs. Kinds without a name are left out.
    KernelSpeeds seen() const;

private:
    static constexpr double weight = 0.25;
    static constexpr Seconds valid = 0.02,
                             forgotten = 0.1; ///< age up to which an observation counts fully, from which it no longer does
    static constexpr Seconds valid_on_device = 1, forgotten_on_device = 5;
    struct Seen {
        std::atomic<double> rate{0}, size{0}; ///< 0: never
        std::atomic<Seconds> at{0};
    };
    using Sizes = std::array<Seen, KernelSpeeds::buckets>;
    struct alignas(64) Row {
        Sizes seen{};
    };
    struct Kernel {
        const Codelet* codelet;
        std::vector<Row> rows;  ///< by worker
        std::vector<Row> known; ///< of the devices, what earlier runs have seen
    };
    /// Open-addressed by the codelet's address, at most half full; a larger one takes its place.
    struct Table {
        explicit Table(std::size_t size) : slots(size) {}
        std::vector<std::atomic<Kernel*>> slots;
    };
    static constexpr int any_kind = -1;
    static std::size_t place(const Table& table, const Codelet& codelet);
    const Kernel* find(const Codelet& codelet) const;
    Kernel* add(const Codelet& codelet) const noexcept;
    void recall(Kernel& kernel) const;
    bool is_device(std::size_t worker) const { return worker >= cores_; }
    double faded(const Kernel& kernel, std::size_t worker, double size, double rate, Seconds age) const;
    static double rate_at(const Sizes& seen, double size);
    double best_rate(const Kernel& kernel, double size, int kind) const;

    const std::vector<int> kinds_;
    const double nominal_;
    const KernelSpeeds known_;
    const std::vector<std::string> kind_names_;
    const std::size_t cores_; ///< devices come behind them

    mutable std::mutex growing_;
    mutable std::vector<std::unique_ptr<Kernel>> kernels_; ///< under the lock
    mutable std::vector<std::unique_ptr<Table>> tables_;   ///< under the lock; old ones stay, for those who look
    mutable std::atomic<Table*> table_;                    ///< the latest
};

} // namespace trencadis
