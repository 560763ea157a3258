#include "base/error.hpp"
#include "scheduling/parts/ready_queue.hpp"
#include "scheduling/parts/teams.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trencadis {
namespace {

/// The machine as the inner policy sees it: one worker per team, of its leader's kind, which shares nothing.
class TeamView final : public View {
public:
    TeamView(const View& machine, std::vector<TeamMembers> teams) : machine_(machine), teams_(std::move(teams)) {}

    int workers() const override { return static_cast<int>(teams_.size()); }
    int kind(WorkerId team) const override { return machine_.kind(leader(team)); }
    Seconds now() const override { return machine_.now(); }
    bool able(const Task& task, WorkerId team) const override { return machine_.able(task, leader(team)); }
    /// A malleable task is shared in proportion to the members' speeds: 1 / sum over members of 1 / time.
    Seconds run_time(const Task& task, WorkerId team) const override
    {
        if (!task.codelet->chunks) return machine_.run_time(task, leader(team));
        double speed = 0;
        for (const WorkerId member : teams_[team])
            if (const Seconds alone = machine_.run_time(task, member); alone > 0 && std::isfinite(alone)) speed += 1 / alone;
        return speed > 0 ? 1 / speed : machine_.run_time(task, leader(team));
    }
    Seconds free_at(WorkerId team) const override { return machine_.free_at(leader(team)); }
    const TaskFlow* awaited(WorkerId team) const override { return machine_.awaited(leader(team)); }
    Index chunks_of(const Task& task, WorkerId team) const override { return machine_.chunks_of(task, leader(team)); }
    Index chunks_left(WorkerId) const override { return 0; }
    int node(WorkerId team) const override { return machine_.node(leader(team)); }
    int memories() const override { return machine_.memories(); }
    bool knows_transfers() const override { return machine_.knows_transfers(); }
    Seconds transfer_time(const Task& task, WorkerId team) const override { return machine_.transfer_time(task, leader(team)); }
    Bytes valid_bytes(const Task& task, WorkerId team) const override { return machine_.valid_bytes(task, leader(team)); }
    bool holds_written(const Task& task, WorkerId team) const override { return machine_.holds_written(task, leader(team)); }

    const View& machine() const { return machine_; }
    const TeamMembers& members(WorkerId team) const { return teams_[team]; }
    WorkerId leader(WorkerId team) const { return teams_[team].front(); }

private:
    const View& machine_;
    const std::vector<TeamMembers> teams_;
};

/// Teams of unequal cores that look alike. A team's leader runs what the inner policy gives the team; its followers join the
/// leader's running operation and do nothing else, so an operation that is not malleable is the leader's alone. Only a task that
/// no leader can run is run by followers.
class VirtualCores final : public Scheduler {
public:
    VirtualCores(const View& view, std::vector<TeamMembers> teams, const SchedulerSpec& inside)
        : view_(view, std::move(teams)), inner_(inside.make(view_)), abilities_(view), team_of_(view.workers()),
          leads_(view.workers(), false)
    {
        for (WorkerId team = 0; team < view_.workers(); ++team) {
            for (const WorkerId member : view_.members(team)) team_of_[member] = team;
            leads_[view_.leader(team)] = true;
            leaders_ |= abilities_.bit(view_.leader(team));
        }
    }

    void push(Task& task, WorkerId released_by) override
    {
        if (const KindSet able = abilities_.of(task); !(able & leaders_)) return strays_.push(task, able);
        inner_->push(task, released_by == no_worker ? no_worker : team_of_[released_by]);
    }
    Decision pop(WorkerId worker) override
    {
        const WorkerId team = team_of_[worker];
        if (!leads_[worker]) {
            if (Task* task = strays_.pop(abilities_.bit(worker))) return {task};
            const WorkerId leader = view_.leader(team);
            return {nullptr, view_.machine().chunks_left(leader) > 0 ? leader : no_worker};
        }
        Decision decision = inner_->pop(team);
        decision.join = no_worker; // the inner policy sees nobody to join, and its numbers are teams
        decision.offer = decision.run && view_.members(team).size() > 1;
        return decision;
    }
    void finished(const Task& task, WorkerId worker, Seconds took) override { inner_->finished(task, team_of_[worker], took); }
    bool wants_finished() const override { return inner_->wants_finished(); }
    bool asks_for_data() const override { return inner_->asks_for_data(); }
    bool bounded() const override { return inner_->bounded(); }
    bool has_room(WorkerId worker) const override { return worker == no_worker || inner_->has_room(team_of_[worker]); }
    bool wakes_all() const override { return true; }
    std::span<const WorkerId> followers(WorkerId worker) const override
    {
        if (!leads_[worker]) return {};
        return std::span(view_.members(team_of_[worker])).subspan(1);
    }

private:
    const TeamView view_;
    const std::unique_ptr<Scheduler> inner_;
    const Abilities abilities_;
    std::vector<WorkerId> team_of_;
    std::vector<bool> leads_;
    KindSet leaders_ = 0; ///< kinds of the leaders
    ReadyQueue strays_;   ///< what no leader can run
};

bool is_plain(const FlowTraits& flow)
{
    return flow.throttle == 0 && flow.throttle_per_worker == 0 && flow.buckets == 0 && flow.discovery == Discovery::at_submission;
}

SchedulerSpec inner_spec(std::string_view text)
{
    std::string inside(text);
    std::replace(inside.begin(), inside.end(), ';', ',');
    SchedulerSpec spec = parse_scheduler(inside);
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorCode::bad_argument, "scheduler 'virtual-cores': inside=" + std::string(text) + ": " + why);
    };
    if (std::string_view(spec.entry->name) == "virtual-cores") refuse("teams of teams are not a policy; name another one");
    if (!is_plain(spec.flow))
        refuse("throttle and dependences are the flow's, give them to virtual-cores itself, as in virtual-cores:throttle=64x");
    return spec;
}

constexpr std::array parameters{
    Parameter{"inside", "text", "eager",
              "the policy that sees the teams as its workers; its own options after ':', joined by ';'"},
    Parameter{"teams", "text", "even",
              "as 4+0/5+1, the leader first; even: per memory node, the same number of each kind in all, the fastest leading"},
};

} // namespace

extern const SchedulerEntry scheduler_virtual_cores;
const SchedulerEntry scheduler_virtual_cores{
    {"virtual-cores", "symmetric teams of unequal cores that share every malleable operation; any policy inside",
     "Costero, Igual, Olcoz, Quintana-Orti 2015"},
    false,
    [](const View& view, const SchedulerOptions& options) -> std::unique_ptr<Scheduler> {
        const std::string_view teams = options.text("teams");
        return std::make_unique<VirtualCores>(view, teams == "even" ? even_teams(view) : parse_teams(teams, view.workers()),
                                              inner_spec(options.text("inside")));
    },
    parameters,
};

} // namespace trencadis
