#pragma once
#include "engine_fixture.hpp"

#include <atomic>
#include <set>
#include <string>
#include <vector>

namespace trencadis::testing {

/// A task graph as data: what each task accesses and does. Values show the order in which accesses happened: `write` and
/// `readwrite` chain hashes, the unordered modes add numbers, so that every order the model allows gives the same and
/// every other order something else.
struct GraphPlan {
    struct Use {
        int datum;
        AccessMode mode;
    };
    struct Step {
        int id;
        std::vector<Use> uses;      ///< as declared; a datum may be named twice
        std::vector<Use> effective; ///< one per datum, the stronger mode
        std::vector<int> part;      ///< of each effective use: its number among the declared ones
        double priority = 0;
        int delay = 0;  ///< 0 none, 1 yield, above: a spin of about so many hundred ns
        int chunks = 0; ///< above 0: malleable, adds one number per chunk to its last effective use
        bool throws = false;
        bool big = false;           ///< arguments that do not fit into the task
        bool waits = false;         ///< for its children, explicitly, before it goes on
        std::vector<Step> children; ///< their data are the parent's own, see `child_data`
    };
    int data = 0;
    int tasks = 0; ///< with children
    std::vector<Step> steps;

    static constexpr int child_data = 3;
    static GraphPlan random(Random& random, bool failures = false);
};

std::string describe(const GraphPlan::Step& step);

/// One datum: its value and who is inside, by mode.
struct Datum {
    std::uint64_t chain = 0;
    std::int64_t plain_sum = 0;              ///< written by commute, reduce and owners; not atomic on purpose
    std::atomic<std::int64_t> shared_sum{0}; ///< written by concurrent writers and chunks
    std::atomic<int> inside[6] = {};

    std::uint64_t value() const { return mix(chain, std::uint64_t(plain_sum + shared_sum.load(std::memory_order_relaxed))); }
};

/// What became of one execution of a plan.
struct Outcome {
    explicit Outcome(const GraphPlan& plan);
    std::vector<Datum> data;
    std::vector<std::uint64_t> result;        ///< per task id
    std::vector<std::atomic<int>> ran;        ///< per task id: how often
    std::vector<std::atomic<int>> chunks_run; ///< per task id
    std::atomic<int> violations{0};           ///< two were inside one datum that must not be
    std::string exception;                    ///< what wait() threw
};

void run_in_order(const GraphPlan& plan, Outcome& outcome);
void run_in_flow(const GraphPlan& plan, Outcome& outcome, Flow& flow); ///< and waits
void run_in_flow(const GraphPlan& plan, Outcome& outcome, Executor& executor, const FlowOptions& options);
/// The first difference, in words; empty when there is none.
std::string difference(const GraphPlan& plan, const Outcome& expected, const Outcome& seen);

/// What may be said in advance of a graph in which tasks throw. Members of one unordered group do not depend on each other,
/// but one that comes after a failure may be dropped with what follows; so there are tasks that certainly run, tasks that
/// certainly do not, and tasks between.
class FailureModel {
public:
    explicit FailureModel(const GraphPlan& plan);
    /// How an execution differs from it, in words; empty when it does not.
    std::string difference(const GraphPlan& plan, const Outcome& seen) const;

private:
    struct Doom {
        bool certain = false, possible = false;
        void add(Doom other) { certain |= other.certain, possible |= other.possible; }
    };
    struct Group {
        AccessMode mode = AccessMode::write;
        Doom before, within; ///< inherited from earlier groups; caused by members so far
    };
    void add(const GraphPlan::Step& step);
    static Doom enter(Group& group, AccessMode mode);

    int first_thrower_ = -1; ///< nothing before it failed, so it runs and its exception is the one
    std::set<int> certainly_run_, certainly_not_;
    std::vector<Group> groups_;
};

} // namespace trencadis::testing
