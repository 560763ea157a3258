#include "choices/foresight.hpp"

#include "choices/foreseen_policy.hpp"
#include "graph/flow_options.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>

namespace trencadis::choices {
namespace {

using Task = CallGraph::Task;
using Operation = ForeseenOperation;
using Worker = ForeseenWorker;

constexpr int home = 0;   ///< where a caller's data are that nobody has spread
constexpr int caller = 0; ///< the worker
constexpr std::int64_t window = FlowOptions{}.window;
constexpr double pace_weight = 0.25; // as of the engine (engines/simulated/execution.cpp)

/// A number by chance, the same for the same draw.
std::uint64_t by_chance(std::uint64_t place, std::uint64_t draw)
{
    std::uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15u ^ draw * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    return (bits ^ bits >> 27) * 0x94d049bb133111ebu;
}
/// From 1 - spread to 1 + spread.
double factor_by_chance(Task task, std::uint64_t draw, double spread)
{
    return spread > 0 ? 1 + spread * (2 * double(by_chance(std::uint64_t(task), draw) >> 11) * 0x1p-53 - 1) : 1;
}

/// One run, event by event. Who ends a task looks for the next at once; then those are served who have nothing, the one that has
/// been so for longest first. They are served too when a task is submitted that can run, when an operation begins that can be
/// shared, and when the policy has said that it wants to be asked again, and at no other time.
class Foresight {
public:
    /// `draw`: of the spread of times.
    Foresight(const CallGraph& graph, const DescribedCores& units, const TaskTimes& times, std::uint64_t draw);
    Seconds run(Seconds most);

private:
    struct Event {
        Seconds time;
        std::uint64_t turn; ///< of those that happen at once
        enum class What : std::uint8_t { submitted, sent, arrived, opened, done, alarm } what;
        int which;                   ///< the task; the operation; of what has arrived, and of the alarm, which it is
        int version = 0, worker = 0; ///< of one that is done: the operation's version, and the member that is
        bool operator>(const Event& other) const { return std::tie(time, turn) > std::tie(other.time, other.turn); }
    };
    using What = Event::What;

    Worker& worker(int which) { return view_.workers[std::size_t(which)]; }
    Operation& operation(int which) { return view_.operations[std::size_t(which)]; }
    const CallGraph::Weight& weight(Task task) const { return graph_.tasks()[std::size_t(task)]; }
    void at(Seconds time, What what, int which, int version = 0, int by = 0)
    {
        events_.push({time, turn_of(what), what, which, version, by});
    }
    std::uint64_t turn_of(What what);
    void take_place(const Event& event);

    // The caller.
    bool has_room() const { return next_ < Task(graph_.tasks().size()) && next_ - ended_ <= window - (window + 3) / 4; }
    void go_on_submitting();
    void submitted(Task task);
    void find_levels();

    // Who looks for something to do.
    void one_less(Task task);
    void look(int who);
    bool give(int who);
    void serve();
    void ask_again(Seconds in);

    // Operations.
    int new_operation();
    void begin(int who, Task task, bool wanted);
    void move(int number, Seconds from);
    void send(int number);
    void receive(int version);
    void open(int number);
    void join(int who, int number);
    void foresee(int number);
    void leave(int number, int who);
    void close(int number);

    const CallGraph& graph_;
    const DescribedCores& units_;
    const std::uint64_t draw_;
    const TaskTimes& times_;
    std::optional<LinkTraffic> links_;
    std::vector<int> nodes_; ///< of workers
    ForeseenView view_;
    std::optional<ForeseenPolicy> policy_;
    std::vector<int> unused_;          ///< operations
    std::vector<int> idle_;            ///< workers, the one that has been so for longest first
    int offers_ = 0;                   ///< operations that others may join
    Task next_ = 0, ended_ = 0;        ///< to be submitted, and how many are over
    Task oldest_ = 0, levels_at_ = 16; ///< all before it are over; at how many their levels are found anew
    bool submits_ = true;              ///< the caller, just now
    int traffic_ = 0;                  ///< how often what is under way has changed
    int alarms_ = 0, in_vain_ = 0;
    Seconds alarm_at_ = never;
    std::vector<bool> over_;         ///< [task]
    std::vector<std::int32_t> left_; ///< [task], what it waits for
    std::uint64_t foreseen_ = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    Seconds last_ = 0; ///< when the last operation was over
};

Foresight::Foresight(const CallGraph& graph, const DescribedCores& units, const TaskTimes& times, std::uint64_t draw)
    : graph_(graph), units_(units), draw_(draw), times_(times)
{
    std::vector<int> places;
    for (const int core : units.cores) {
        const int node = units.machine->cores[std::size_t(core)].node;
        const auto place = std::ranges::find(places, node);
        view_.workers.push_back({.type = times.type(int(nodes_.size())), .place = int(place - places.begin())});
        if (place == places.end()) places.push_back(node);
        nodes_.push_back(node);
    }
    view_.workers.front().submits = true;
    const bool others = std::ranges::any_of(places, [](int node) { return node != home; });
    if (others && !units.machine->links.empty()) links_.emplace(*units.machine);
    policy_.emplace(graph, times, view_, links_ ? &*links_ : nullptr, home, nodes_);
}

Seconds Foresight::run(Seconds most)
{
    const std::size_t all = graph_.tasks().size();
    for (const CallGraph::Weight& task : graph_.tasks()) left_.push_back(task.all + 1);
    over_.resize(all);
    view_.levels.resize(all);
    for (int who = 1; who < int(nodes_.size()); ++who) idle_.push_back(who);
    go_on_submitting();
    while (!events_.empty()) {
        const Event event = events_.top();
        events_.pop();
        view_.now = event.time;
        if (last_ > most) return never; // what was foreseen before others joined may lie behind the end
        take_place(event);
    }
    return std::size_t(ended_) == all ? last_ : never;
}

/// Of what happens at once that goes first which was foreseen first. Only where to submit a task takes as long as to take it does
/// that happen again and again, and there it is chance.
std::uint64_t Foresight::turn_of(What what)
{
    ++foreseen_;
    if (what != What::submitted || !(units_.spread > 0)) return foreseen_;
    return by_chance(foreseen_, draw_) >> 63 ? std::numeric_limits<std::uint64_t>::max() : 0;
}

void Foresight::take_place(const Event& event)
{
    switch (event.what) {
    case What::submitted: return submitted(Task(event.which));
    case What::sent: return send(event.which);
    case What::arrived: return receive(event.which);
    case What::opened: return open(event.which);
    case What::done:
        if (operation(event.which).version == event.version) leave(event.which, event.worker); // else others have joined since
        return;
    case What::alarm:
        if (event.which != alarms_) return;
        alarm_at_ = never;
        return serve();
    }
}

// ---- the caller ------------------------------------------------------------------------------------------------------------

/// As many tasks as there may be at a time.
void Foresight::go_on_submitting()
{
    submits_ = next_ < Task(graph_.tasks().size()) && next_ - ended_ < window;
    if (!submits_) {
        if (next_ == Task(graph_.tasks().size())) find_levels();
        return look(caller);
    }
    const bool counts = weight(next_).codelet != nullptr;
    at(view_.now + (counts ? units_.submit : 0), What::submitted, next_);
}

void Foresight::submitted(Task task)
{
    view_.levels[std::size_t(task)] = times_.best(task);
    if (++next_ >= levels_at_) find_levels();
    one_less(task);
    if (left_[std::size_t(task)] == 0) serve();
    go_on_submitting();
}

/// Anew, now and then, as the flow does it (graph/priority): what a policy knows of the way to the end is older than the graph.
void Foresight::find_levels()
{
    while (oldest_ < next_ && over_[std::size_t(oldest_)]) ++oldest_;
    for (Task task = next_; task-- > oldest_;) {
        if (over_[std::size_t(task)]) continue;
        Seconds behind = 0;
        for (const Task after : graph_.after(task)) behind = std::max(behind, view_.levels[std::size_t(after)]);
        view_.levels[std::size_t(task)] = times_.best(task) + behind;
    }
    levels_at_ = next_ + std::clamp((next_ - oldest_) / 4, 16, 256);
}

// ---- who looks for something to do -----------------------------------------------------------------------------------------

void Foresight::one_less(Task task)
{
    if (--left_[std::size_t(task)] == 0) policy_->push(task);
}

void Foresight::look(int who)
{
    const bool found = give(who);
    serve();
    if (!found) idle_.push_back(who);
}

bool Foresight::give(int who)
{
    if (policy_->waiting() == 0 && offers_ == 0) return false;
    const ForeseenPolicy::Decision decision = policy_->pop(who);
    if (decision.run >= 0) begin(who, decision.run, decision.offer);
    else if (decision.join >= 0) join(who, decision.join);
    else if (decision.again_in > 0) ask_again(decision.again_in);
    return !decision.is_nothing();
}

void Foresight::serve()
{
    const auto gets = [&](int who) { return give(who); };
    while (std::erase_if(idle_, gets) > 0) {}
}

void Foresight::ask_again(Seconds in)
{
    constexpr int enough = 1000; // nobody does anything, and asking did not help
    if (view_.now + in >= alarm_at_) return;
    in_vain_ = idle_.size() == view_.workers.size() ? in_vain_ + 1 : 0;
    if (in_vain_ > enough) return;
    alarm_at_ = view_.now + in;
    at(alarm_at_, What::alarm, ++alarms_);
}

// ---- operations ------------------------------------------------------------------------------------------------------------

int Foresight::new_operation()
{
    if (unused_.empty()) {
        unused_.push_back(int(view_.operations.size()));
        view_.operations.emplace_back();
    }
    const int number = unused_.back();
    unused_.pop_back();
    return number;
}

void Foresight::begin(int who, Task task, bool wanted)
{
    const int number = new_operation();
    Operation& its = operation(number);
    its.task = task;
    its.owner = who;
    its.wanted = wanted;
    its.since = view_.now + (weight(task).codelet && weight(task).codelet->counted ? units_.take : 0);
    move(number, its.since);
}

/// What it needs comes first, one after the other, over the links if it is far away, and then goes back what it writes.
void Foresight::move(int number, Seconds from)
{
    Operation& its = operation(number);
    const CallGraph::Weight& task = weight(its.task);
    const int node = nodes_[std::size_t(its.owner)];
    if (!links_ || node == home || its.use == task.uses) return at(from, What::opened, number);
    const Seconds latency = links_->route(home, node).latency;
    const Core& core = units_.machine->cores[std::size_t(units_.cores[std::size_t(its.owner)])];
    const Bytes under_way = units_.machine->kinds[std::size_t(core.kind)].bytes_under_way;
    const bool waits = !its.is_back && under_way > 0;
    its.there = from + (waits ? graph_.uses(task)[std::size_t(its.use)].bytes / under_way * latency : 0);
    at(from + latency, What::sent, number);
}

void Foresight::send(int number)
{
    const Operation& its = operation(number);
    const int node = nodes_[std::size_t(its.owner)];
    const Bytes bytes = graph_.uses(weight(its.task))[std::size_t(its.use)].bytes;
    links_->send(number, its.is_back ? node : home, its.is_back ? home : node, home, bytes, view_.now);
    at(links_->next(), What::arrived, ++traffic_);
}

/// Something has, or will later than was foreseen.
void Foresight::receive(int version)
{
    if (version != traffic_) return;
    for (const int number : links_->arrived(view_.now)) {
        Operation& its = operation(number);
        its.is_back = !its.is_back && graph_.uses(weight(its.task))[std::size_t(its.use)].writes;
        its.use += !its.is_back;
        move(number, std::max(view_.now, its.there));
    }
    if (const Seconds next = links_->next(); next < never) at(next, What::arrived, ++traffic_);
}

/// The worker begins. It is cut up where somebody is idle now, or was about to be when it was taken.
void Foresight::open(int number)
{
    Operation& its = operation(number);
    const CallGraph::Weight& task = weight(its.task);
    Worker& owner = worker(its.owner);
    const Seconds work = times_.on(its.task, owner.type) * factor_by_chance(its.task, draw_, units_.spread);
    const bool offered = work > 0 && task.chunks > 1 && (its.wanted || !idle_.empty());
    its.chunks = offered ? task.chunks : 1;
    its.chunk = work / double(its.chunks);
    its.left = its.chunks - 1;
    its.members.push_back({its.owner, view_.now + its.chunk, 0});
    owner.runs = work > 0;
    foresee(number);
    if (!offered) return;
    owner.offer = number;
    ++offers_;
    serve();
}

void Foresight::join(int who, int number)
{
    Operation& its = operation(number);
    worker(who).runs = its.shared = true;
    --its.left;
    its.members.push_back({who, view_.now + its.chunk, 0});
    ++its.version;
    foresee(number);
}

/// When each member will have nothing left to do, if nobody else joins.
void Foresight::foresee(int number)
{
    Operation& its = operation(number);
    its.foresee();
    for (const Operation::Member& member : its.members) {
        worker(member.worker).free = member.end;
        at(member.end, What::done, number, its.version, member.worker);
    }
}

/// The last one out ends the task.
void Foresight::leave(int number, int who)
{
    Operation& its = operation(number);
    last_ = view_.now;
    worker(who).runs = false;
    std::erase_if(its.members, [&](const Operation::Member& member) { return member.worker == who; });
    if (worker(who).offer == number) {
        worker(who).offer = -1;
        --offers_;
    }
    if (its.members.empty()) close(number);
    if (who != caller || !has_room()) return look(who);
    serve();
    go_on_submitting();
}

void Foresight::close(int number)
{
    Operation& its = operation(number);
    const Task task = its.task;
    const Seconds expected = times_.on(task, worker(its.owner).type);
    double& pace = worker(its.owner).pace;
    if (units_.spread > 0 && !its.shared && expected > 0) pace += pace_weight * ((view_.now - its.since) / expected - pace);
    its = {.version = its.version + 1};
    unused_.push_back(number);
    over_[std::size_t(task)] = true;
    ++ended_;
    for (const Task after : graph_.after(task)) one_less(after);
    if (!submits_ && has_room() && std::erase(idle_, caller) > 0) go_on_submitting();
}

/// Of few tasks the times differ from run to run, by a twentieth where they are about a hundred; of many the mean of one is the
/// mean of all.
int runs_of(std::size_t tasks)
{
    constexpr std::size_t many = 10'000, most = 20, fewest = 5;
    return tasks < many ? int(std::clamp(many / std::max<std::size_t>(tasks, 1), fewest, most)) : 1;
}

} // namespace

Seconds foreseen_time(const CallGraph& graph, const DescribedCores& units, Seconds most)
{
    const TaskTimes task_times(graph, *units.machine, units.cores);
    for (Task task = 0; task < Task(graph.tasks().size()); ++task)
        if (!(task_times.best(task) < never)) return never;
    const int times = units.spread > 0 ? runs_of(graph.tasks().size()) : 1;
    Seconds sum = 0;
    for (int draw = 0; draw < times && sum < never; ++draw)
        sum += Foresight(graph, units, task_times, std::uint64_t(draw)).run(most);
    return sum / times;
}

} // namespace trencadis::choices
