#pragma once
#include "choices/foreseen_schedule.hpp"
#include "graph/flow.hpp"
#include "graph/unit.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

/// Whether devices take part in a call, and which: from what was measured of cores, devices and links, and from the call's tasks.
/// Pure, as all of choices/.
namespace trencadis::choices {

/// How fast a unit computes products by their size, as measured; straight between the logarithms of the sizes.
class SpeedCurve {
public:
    struct Point {
        Flops flops; ///< of one product
        double rate; ///< flops per second
    };
    SpeedCurve() = default;
    SpeedCurve(std::vector<Point> points); ///< by size
    bool empty() const { return points_.empty(); }
    std::span<const Point> points() const { return points_; }
    double rate(Flops flops) const; ///< beyond what was measured as at the nearest size; 0: nothing was
    Seconds time(Flops flops) const { return flops > 0 ? flops / rate(flops) : 0; }

private:
    std::vector<Point> points_;
};

struct DeviceFigures {
    ComputeUnit unit = {UnitKind::device, 1, nullptr}; ///< what its tasks would compute with
    Bytes bytes = 0;                                   ///< of its memory
    SpeedCurve speed;                                  ///< empty: not known, and so it takes no part
    double bytes_per_second[2] = {0, 0};               ///< to it and from it
    Seconds latency = 0;                               ///< of a small copy
    SpeedCurve factors = {};                           ///< of Cholesky factorizations; empty: as products
    SpeedCurve updates = {}, solves = {};              ///< of rank k, and with triangles; likewise
    SpeedCurve panels = {};                            ///< of LU; empty: as factors
};

/// The units of a session.
struct UnitFigures {
    ComputeUnit core = {};
    double cores = 1; ///< how many of those whose speed is given
    SpeedCurve speed; ///< of one
    std::vector<DeviceFigures> devices;
    SpeedCurve factors = {};              ///< of Cholesky factorizations of tiles; empty: as products
    SpeedCurve updates = {}, solves = {}; ///< likewise
};
/// Those of a unit that hold for a codelet, by its name.
template <class Unit> const SpeedCurve& curve_for(const Unit& unit, std::string_view codelet)
{
    codelet = codelet.substr(0, codelet.find('.')); // of a task on block columns
    if constexpr (std::is_same_v<Unit, DeviceFigures>)
        if (codelet == "getrf_panel" && !unit.panels.empty()) return unit.panels;
    constexpr bool is_device = std::is_same_v<Unit, DeviceFigures>;
    const SpeedCurve& own = codelet == "potrf" || (is_device && codelet == "getrf_panel")  ? unit.factors
                            : codelet == "syrk" || codelet == "herk"                       ? unit.updates
                            : codelet == "trsm" || codelet == "gessm" || codelet == "trmm" ? unit.solves
                                                                                           : unit.speed;
    return own.empty() ? unit.speed : own;
}

/// The tasks of a call, weighed while an algorithm submits them: how long each sort of unit would need, what would have to be
/// moved, how long the longest chain is, and how they would follow one another. Nothing is computed; of a task that submits tasks
/// those are weighed, as the cores'. Figures outlive it.
class CallOutlook final : public Flow {
public:
    explicit CallOutlook(const UnitFigures& figures, Homes homes = {});

    struct Choice {
        DeviceSet devices = 0; ///< none: cores alone
        Seconds alone = 0;     ///< expected of cores alone
        Seconds with = 0;      ///< expected of the best set of devices and cores; 0: no device can have any of it
    };
    /// Devices are taken where that is expected to save three tenths at least: what is expected of the cores is what they reach
    /// in this form, and others may be faster there. `alone`: what cores alone are expected to take with other tiles.
    Choice choose(Seconds alone = std::numeric_limits<Seconds>::infinity()) const;
    /// What it is expected to take with all devices. 0: one of them was not measured, and may do nothing of it or all.
    Seconds with_all() const;

    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override;

    /// When a value is there, were there units without end: by cores alone, and with the leading device.
    struct Value {
        Seconds alone = 0, with = 0;
        bool on_device = false, read = false, written = false;
        bool at_home_there = false; ///< on some device
    };
    /// What a task costs where it is the cores'.
    struct OnCores {
        Seconds work = 0; ///< of one core, or of several together
        Seconds took = 0; ///< from its beginning to its end
    };
    /// What a device could do of the call.
    struct Part {
        Seconds here = 0, on_core = 0; ///< of the tasks that it takes, there and on one core
    };
    struct Operands {
        Bytes all = 0, written = 0;
        bool may_move = true; ///< devices can have copies
    };
    enum class Tasks : std::uint8_t { of_all, of_cores };
    CallOutlook(const UnitFigures& figures, Tasks tasks, Homes homes = {});
    Value& value_of(const void* datum);
    OnCores on_cores(const Codelet& codelet, void* args, Flops flops, std::span<const Access> accesses) const;
    static Operands operands_of(std::span<const Access> accesses);
    void advance(std::span<const Access> accesses, Seconds on_core, Seconds on_device, Bytes bytes);
    Seconds links(const DeviceFigures& device, double share) const;
    Seconds with(DeviceSet set) const;
    Seconds with_at_least(DeviceSet set) const;

    const UnitFigures& figures_;
    const Homes homes_;
    int lead_ = -1; ///< the fastest device
    Seconds total_ = 0, longest_alone_ = 0, longest_with_ = 0;
    std::vector<Part> parts_; ///< by device
    ForeseenSchedule schedule_;
    std::vector<Seconds> on_devices_; ///< of the task that is weighed
    std::unordered_map<const void*, Value> values_;
    Bytes distinct_ = 0, distinct_written_ = 0; ///< operands of tasks that devices take, each once
    Bytes used_ = 0, used_written_ = 0;         ///< each time
    std::int64_t operands_ = 0;
};

} // namespace trencadis::choices
