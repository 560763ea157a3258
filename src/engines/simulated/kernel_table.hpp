#pragma once
#include "graph/codelet.hpp"
#include "machine/machine.hpp"

#include <span>
#include <string>
#include <vector>

namespace trencadis {

/// The machine's kernel times by codelet and unit type, found once. Types are numbered: core kinds, then each device. A codelet
/// without a flop count takes no time and runs on cores; so does one that only submits tasks, whose time is that of the tasks.
class KernelTable {
public:
    explicit KernelTable(const Machine& machine);

    int type_of_device(int device) const { return kinds_ + device; }
    bool able(const Codelet& codelet, int type) const;
    /// Infinite where not able. `speed`: the unit's, by its clock; what waits for memory takes as long at any.
    Seconds time(const Codelet& codelet, Flops flops, int type, double speed = 1) const;
    /// Of a team of cores of these kinds; 0 where one is no core, and when the machine does not say.
    Seconds team_time(const Codelet& codelet, Flops flops, std::span<const int> kinds, double speed = 1) const;
    /// How much longer a chunk takes when cores of these kinds share an operation, as far as the machine says what a pair of them
    /// reaches together: at least 1.
    double sharing_loss(const Codelet& codelet, Flops flops, std::span<const int> kinds) const;
    /// A guess for what only submits: as much at the best rate of any kernel there.
    Seconds guess(Flops flops, int type) const;

private:
    struct Row {
        const Codelet* codelet;
        std::vector<const KernelTime*> on_type;
        std::vector<const KernelTime*> on_pair; ///< [kind * kinds + kind]
    };
    const Row& row(const Codelet& codelet) const;

    const Machine& machine_;
    const int kinds_;
    std::vector<double> best_rate_; ///< by type
    mutable std::vector<Row> rows_;
    mutable std::size_t last_ = 0;
};

} // namespace trencadis
