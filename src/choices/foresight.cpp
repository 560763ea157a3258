#include "choices/foresight.hpp"

#include "choices/described_times.hpp"
#include "choices/link_traffic.hpp"
#include "graph/flow_options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

namespace trencadis::choices {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
constexpr Seconds together = 1e-9; ///< what is no further apart happens at once: sums of the same times differ by their last bits
using Task = CallGraph::Task;

class Foresight {
public:
    /// `draw`: of the spread of times.
    Foresight(const CallGraph& graph, const DescribedCores& units, std::uint64_t draw);
    Seconds run(Seconds most);

private:
    struct Ready {
        Seconds rank; ///< to the end, by way of what waits for it
        Task task;
        Seconds time;
        bool operator<(const Ready& other) const { return rank != other.rank ? rank < other.rank : task > other.task; }
    };
    /// The cores of a memory node.
    struct Place {
        int node;
        std::vector<int> workers = {};
        std::set<Ready> ready = {};
        Seconds waiting = 0;          ///< of those
        std::vector<int> offers = {}; ///< operations that others may join
    };
    struct Member {
        int worker;
        Seconds free; ///< from its chunk, until it takes the next
        Seconds end;  ///< of its part, as it stands
    };
    /// A task that one worker has begun; others may have joined. The first to be done goes before the last.
    struct Operation {
        Task task = -1;
        int place = 0;
        Seconds chunk = 0;
        Index left = 0; ///< chunks that nobody has begun
        int ways = 0;   ///< that its data have to go: there, and back
        bool is_back = false;
        Seconds there = 0; ///< not earlier, by what a core has under way
        bool offered = false;
        int version = 0;
        std::vector<Member> members = {};
    };
    struct Worker {
        int kind, place;
        Seconds free = 0;     ///< when it will have nothing to do, as it stands
        bool fetches = false; ///< data of what it has taken: until then policies see a worker that runs nothing
        bool idle = true;
    };
    struct Event {
        Seconds time;
        std::int64_t number; ///< in the order in which they were foreseen
        enum class What : std::uint8_t { submitted, sent, arrived, opened, done } what;
        int which;                   ///< the task; the operation; of what has arrived the version of the traffic
        int version = 0, worker = 0; ///< of one that is done: the operation's version, and the member that is
        bool operator>(const Event& other) const { return std::tie(time, number) > std::tie(other.time, other.number); }
    };
    using What = Event::What;

    void submit();
    void go_on_submitting();
    void one_less(Task task);
    void push(Task task);
    void take_place(const Event& event);
    bool look_around();
    bool look(int worker);
    void at(Seconds time, What what, int which, int version = 0, int worker = 0)
    {
        events_.push({time, foreseen_++, what, which, version, worker});
    }
    void begin(Place& from, std::set<Ready>::iterator which, int worker);
    void open(int number);
    void fetch(int number);
    void send(int number);
    void receive(int version);
    bool join(int worker, Seconds above);
    void hand_out(Operation& operation) const;
    void foresee(int number);
    int new_operation(Task task, int place);
    void close(int number);
    Seconds end_at(const Place& place, Task task);
    Seconds from_afar(Task task, int node) const;
    bool take_elsewhere(int worker);

    const CallGraph& graph_;
    const DescribedCores& units_;
    const std::uint64_t draw_;
    DescribedTimes times_;
    std::optional<LinkTraffic> links_;
    std::vector<Worker> workers_;
    std::vector<Place> places_;
    std::vector<Operation> operations_;
    std::vector<int> unused_;   ///< of those
    std::vector<int> idle_;     ///< workers, the one that has been so for longest first,
    std::vector<int> enders_;   ///< but for those that have just ended a task
    std::vector<int> begun_;    ///< operations whose worker has not opened them yet
    Task next_ = 0, ended_ = 0; ///< to be submitted, and how many are over
    std::int64_t foreseen_ = 0;
    int traffic_ = 0; ///< how often what is under way has changed
    std::vector<Seconds> ranks_;
    std::vector<std::int32_t> left_; ///< [task], what it waits for
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    Seconds now_ = 0, last_ = 0; ///< and when the last operation was over
    static constexpr std::int64_t window = FlowOptions{}.window;
    static constexpr int home = 0; ///< where a caller's data are that nobody has spread
};

Foresight::Foresight(const CallGraph& graph, const DescribedCores& units, std::uint64_t draw)
    : graph_(graph), units_(units), draw_(draw), times_(*units.machine)
{
    for (const int core : units.cores) {
        const Core& described = units.machine->cores[std::size_t(core)];
        const auto same = [&](const Place& place) { return place.node == described.node; };
        auto place = std::ranges::find_if(places_, same);
        if (place == places_.end()) place = places_.insert(places_.end(), {.node = described.node});
        place->workers.push_back(int(workers_.size()));
        workers_.push_back({described.kind, int(place - places_.begin())});
    }
    const bool others = std::ranges::any_of(places_, [](const Place& place) { return place.node != home; });
    if (others && !units.machine->links.empty()) links_.emplace(*units.machine);
    std::set<int> kinds;
    for (const Worker& worker : workers_) kinds.insert(worker.kind);
    ranks_ = ways_to_the_end(graph, times_, kinds);
}

Seconds Foresight::run(Seconds most)
{
    if (std::ranges::any_of(ranks_, [](Seconds rank) { return !(rank < never); })) return never;
    for (const CallGraph::Weight& task : graph_.tasks()) left_.push_back(task.all + 1);
    for (int worker = 0; worker < int(workers_.size()); ++worker) idle_.push_back(worker);
    submit();
    while (!events_.empty()) {
        now_ = events_.top().time;
        if (last_ > most) return never; // what was foreseen before others joined may lie behind the end
        while (!events_.empty() && events_.top().time <= now_ + together) {
            const Event event = events_.top();
            events_.pop();
            take_place(event);
        }
        while (look_around()) {}
    }
    return last_;
}

/// Who ends a task looks first; who was idle begins first, and those who are idle still help those who begin first. An operation
/// is cut up only where somebody is idle when it begins. Did anybody find anything?
bool Foresight::look_around()
{
    begun_.clear();
    const auto finds = [&](int worker) { return look(worker); };
    std::size_t found = std::erase_if(enders_, finds);
    const std::size_t last = begun_.size();
    idle_.insert(idle_.end(), enders_.begin(), enders_.end());
    enders_.clear();
    found += std::erase_if(idle_, finds);
    std::ranges::rotate(begun_, begun_.begin() + std::ptrdiff_t(last));
    for (const int begun : begun_) fetch(begun);
    return found > 0;
}

/// The caller submits before it takes part, as many tasks as there may be at a time.
void Foresight::submit()
{
    if (next_ == Task(graph_.tasks().size()) || !workers_.front().idle || next_ - ended_ > window - (window + 3) / 4) return;
    workers_.front().idle = false;
    std::erase(idle_, 0);
    std::erase(enders_, 0);
    go_on_submitting();
}

void Foresight::go_on_submitting()
{
    if (next_ < Task(graph_.tasks().size()) && next_ - ended_ < window) {
        const bool counts = graph_.tasks()[std::size_t(next_)].codelet != nullptr;
        return at(now_ + (counts ? units_.submit : 0), What::submitted, next_++);
    }
    workers_.front().idle = true;
    idle_.push_back(0);
}

int Foresight::new_operation(Task task, int place)
{
    if (unused_.empty()) {
        unused_.push_back(int(operations_.size()));
        operations_.emplace_back();
    }
    const int number = unused_.back();
    unused_.pop_back();
    operations_[std::size_t(number)].task = task;
    operations_[std::size_t(number)].place = place;
    return number;
}

void Foresight::close(int number)
{
    Operation& operation = operations_[std::size_t(number)];
    const Task task = operation.task;
    if (operation.offered) std::erase(places_[std::size_t(operation.place)].offers, number);
    operation = {.version = operation.version + 1};
    unused_.push_back(number);
    for (const Task after : graph_.after(task)) one_less(after);
    ++ended_;
}

void Foresight::take_place(const Event& event)
{
    if (event.what == What::submitted) {
        one_less(Task(event.which));
        return go_on_submitting();
    }
    if (event.what == What::sent) return send(event.which);
    if (event.what == What::arrived) return receive(event.which);
    if (event.what == What::opened) return open(event.which);
    Operation& operation = operations_[std::size_t(event.which)];
    if (operation.version != event.version) return; // others have joined since
    last_ = now_;
    workers_[std::size_t(event.worker)].idle = true;
    std::erase_if(operation.members, [&](const Member& member) { return member.worker == event.worker; });
    (operation.members.empty() ? enders_ : idle_).push_back(event.worker);
    if (operation.members.empty()) close(event.which);
    submit();
}

void Foresight::one_less(Task task)
{
    if (--left_[std::size_t(task)] == 0) push(task);
}

void Foresight::push(Task task)
{
    Place* best = &places_.front();
    if (links_) {
        Seconds soonest = never;
        for (Place& place : places_)
            if (const Seconds end = end_at(place, task); end < soonest) soonest = end, best = &place;
    }
    const Seconds time = times_.of(graph_.tasks()[std::size_t(task)], workers_[std::size_t(best->workers.front())].kind);
    best->ready.insert({ranks_[std::size_t(task)], task, time});
    best->waiting += time;
}

// ---- what a worker does that has nothing to do -------------------------------------------------------------------

/// Did it find anything?
bool Foresight::look(int worker)
{
    Place& place = places_[std::size_t(workers_[std::size_t(worker)].place)];
    if (place.ready.empty()) return (places_.size() > 1 && take_elsewhere(worker)) || join(worker, -never);
    if (join(worker, place.ready.rbegin()->rank)) return true;
    begin(place, std::prev(place.ready.end()), worker);
    return true;
}

void Foresight::begin(Place& from, std::set<Ready>::iterator which, int worker)
{
    Worker& by = workers_[std::size_t(worker)];
    const int number = new_operation(which->task, by.place);
    Operation& operation = operations_[std::size_t(number)];
    from.waiting -= which->time;
    from.ready.erase(which);
    by.idle = false;
    operation.offered = from.ready.empty();
    operation.members.push_back({worker, 0, 0});
    begun_.push_back(number);
}

/// What it needs comes first, over the links if it is far away, and then goes back what it writes.
void Foresight::fetch(int number)
{
    Operation& operation = operations_[std::size_t(number)];
    const CallGraph::Weight& task = graph_.tasks()[std::size_t(operation.task)];
    const int node = places_[std::size_t(operation.place)].node;
    const Seconds taken = now_ + (task.codelet && task.codelet->counted ? units_.take : 0);
    operation.ways = !links_ || node == home || task.uses == 0 ? 0 : task.written > 0 ? 2 : 1;
    if (operation.ways == 0) return at(taken, What::opened, number);
    const Seconds latency = links_->route(home, node).latency;
    const Core& core = units_.machine->cores[std::size_t(units_.cores[std::size_t(operation.members.front().worker)])];
    const Bytes under_way = units_.machine->kinds[std::size_t(core.kind)].bytes_under_way;
    operation.there = taken + (under_way > 0 ? task.used / under_way * latency : 0);
    workers_[std::size_t(operation.members.front().worker)].fetches = true;
    at(taken + task.uses * latency, What::sent, number);
}

void Foresight::send(int number)
{
    const Operation& operation = operations_[std::size_t(number)];
    const CallGraph::Weight& task = graph_.tasks()[std::size_t(operation.task)];
    const int node = places_[std::size_t(operation.place)].node;
    const bool back = operation.is_back;
    links_->send(number, back ? node : home, back ? home : node, home, back ? task.written : task.used, now_);
    at(links_->next(), What::arrived, ++traffic_);
}

/// Something has, or will later than was foreseen.
void Foresight::receive(int version)
{
    if (version != traffic_) return;
    for (const int number : links_->arrived(now_)) {
        Operation& operation = operations_[std::size_t(number)];
        const Seconds there = std::max(now_, operation.there);
        if (--operation.ways == 0) {
            at(there, What::opened, number);
            continue;
        }
        operation.is_back = true;
        at(there + links_->route(home, places_[std::size_t(operation.place)].node).latency, What::sent, number);
    }
    if (const Seconds next = links_->next(); next < never) at(next, What::arrived, ++traffic_);
}

/// The worker begins. Those who are idle join at once.
void Foresight::open(int number)
{
    Operation& operation = operations_[std::size_t(number)];
    Member& owner = operation.members.front();
    const Place& place = places_[std::size_t(operation.place)];
    const CallGraph::Weight& task = graph_.tasks()[std::size_t(operation.task)];
    const Seconds work =
        times_.of(task, workers_[std::size_t(owner.worker)].kind) * factor_by_chance(operation.task, draw_, units_.spread);
    operation.offered |= !idle_.empty() || !enders_.empty();
    operation.offered &= work > 0 && task.chunks > 1 && place.workers.size() > 1;
    if (operation.offered) places_[std::size_t(operation.place)].offers.push_back(number);
    const Index chunks = operation.offered ? task.chunks : 1;
    operation.chunk = work / double(chunks);
    operation.left = chunks - 1;
    workers_[std::size_t(owner.worker)].fetches = false;
    owner.free = now_ + operation.chunk;
    foresee(number);
    std::erase_if(idle_, [&](int worker) { return join(worker, -never); });
}

/// The operation with most work left, of those with a longer way to the end than `above`.
bool Foresight::join(int worker, Seconds above)
{
    Place& place = places_[std::size_t(workers_[std::size_t(worker)].place)];
    Seconds most = 0;
    int best = -1;
    for (const int number : place.offers) {
        Operation& operation = operations_[std::size_t(number)];
        if (!(ranks_[std::size_t(operation.task)] > above)) continue;
        hand_out(operation);
        if (const Seconds left = double(operation.left) * operation.chunk; left > most) most = left, best = number;
    }
    if (best < 0) return false;
    Operation& operation = operations_[std::size_t(best)];
    workers_[std::size_t(worker)].idle = false;
    --operation.left;
    operation.members.push_back({worker, now_ + operation.chunk, 0});
    ++operation.version;
    foresee(best);
    return true;
}

/// Who has done a chunk takes the next one.
void Foresight::hand_out(Operation& operation) const
{
    while (operation.left > 0) {
        Member& next = *std::ranges::min_element(operation.members, {}, &Member::free);
        if (next.free > now_) return;
        next.free += operation.chunk;
        --operation.left;
    }
}

/// When each member will have nothing left to do, if nobody else joins.
void Foresight::foresee(int number)
{
    Operation& operation = operations_[std::size_t(number)];
    for (Member& member : operation.members) member.end = member.free;
    for (Index left = operation.left; left > 0; --left)
        std::ranges::min_element(operation.members, {}, &Member::end)->end += operation.chunk;
    for (const Member& member : operation.members) {
        workers_[std::size_t(member.worker)].free = member.end;
        at(member.end, What::done, number, operation.version, member.worker);
    }
}

// ---- several memories --------------------------------------------------------------------------------------------

Seconds Foresight::from_afar(Task task, int node) const
{
    const CallGraph::Weight& its = graph_.tasks()[std::size_t(task)];
    return links_ && node != home ? links_->alone(home, node, its.used, its.uses) : 0;
}

/// When the task would end if it were put there.
Seconds Foresight::end_at(const Place& place, Task task)
{
    Seconds free = never;
    for (const int worker : place.workers) {
        const Worker& one = workers_[std::size_t(worker)];
        free = std::min(free, one.idle || one.fetches ? now_ : std::max(now_, one.free));
    }
    const Seconds time = times_.of(graph_.tasks()[std::size_t(task)], workers_[std::size_t(place.workers.front())].kind);
    return free + place.waiting / double(place.workers.size()) + from_afar(task, place.node) + time;
}

/// The last of the tasks that wait where most do, if it ends sooner here.
bool Foresight::take_elsewhere(int worker)
{
    Place* most = nullptr;
    for (Place& place : places_)
        if (!place.ready.empty() && (!most || place.waiting > most->waiting)) most = &place;
    if (!most) return false;
    const auto low = most->ready.begin();
    const Worker& by = workers_[std::size_t(worker)];
    const Seconds here = now_ + from_afar(low->task, places_[std::size_t(by.place)].node) +
                         times_.of(graph_.tasks()[std::size_t(low->task)], by.kind);
    if (!(here <= end_at(*most, low->task) - low->time) && low->time > 0) return false;
    begin(*most, low, worker);
    return true;
}

} // namespace

Seconds foreseen_time(const CallGraph& graph, const DescribedCores& units, Seconds most)
{
    constexpr std::size_t few = 10'000; // of more tasks the mean of one run is the mean of all
    constexpr int draws = 5;
    const int times = units.spread > 0 && graph.tasks().size() < few ? draws : 1;
    Seconds sum = 0;
    for (int draw = 0; draw < times && sum < never; ++draw) sum += Foresight(graph, units, std::uint64_t(draw)).run(most);
    return sum / times;
}

} // namespace trencadis::choices
