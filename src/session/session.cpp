#include "session/session.hpp"

#include "base/error.hpp"
#include "base/float_modes.hpp"
#include "base/lasting.hpp"
#include "engines/engine.hpp"
#include "graph/executor.hpp"
#include "machine/fma_burst.hpp"
#include "machine/node_memory.hpp"
#include "scheduling/scheduler.hpp"
#include "session/call_memory.hpp"
#include "session/choices.hpp"
#include "session/session_choices.hpp"
#include "session/session_parts.hpp"
#include "threads/threads.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace trencadis {

namespace {

/// `real`: the cores that the workers of a described machine run on in turn.
std::vector<WorkerPlace> make_places(const SessionOptions& options, const Machine& machine, const std::vector<int>& real)
{
    std::vector<WorkerPlace> places;
    for (const int cpu : options.workers) {
        WorkerPlace place;
        place.cpu = cpu;
        if (!real.empty()) place.on_cpu = real[places.size() % real.size()];
        for (const Core& core : machine.cores)
            if (core.cpu == cpu) {
                place.kind = core.kind;
                place.kind_name = machine.kinds[core.kind].name;
                place.node = core.node;
            }
        if (const auto slow = options.slow.find(cpu); slow != options.slow.end()) place.slow = slow->second;
        places.push_back(place);
    }
    return places;
}

void check_slow(const SessionOptions& options, const EngineEntry& engine)
{
    for (const auto& [cpu, fraction] : options.slow) {
        if (!(fraction > 0 && fraction <= 1))
            throw Error(ErrorCode::bad_argument, "core " + std::to_string(cpu) + " slowed to " + std::to_string(fraction) +
                                                     " of its speed; the fraction must be above 0 and at most 1");
        if (std::find(options.workers.begin(), options.workers.end(), cpu) == options.workers.end())
            throw Error(ErrorCode::bad_argument, "core " + std::to_string(cpu) + " is to be slow, but no worker sits on it");
        if (fraction < 1 && !engine.capabilities.emulates_slow)
            throw Error(ErrorCode::bad_argument,
                        std::string("engine '") + engine.name + "' cannot emulate slow cores; use 'native'");
    }
}

std::size_t most_workers(const EngineEntry& engine)
{
    if (!engine.capabilities.parallel) return 1;
    return engine.most_workers ? std::size_t(engine.most_workers()) : std::numeric_limits<std::size_t>::max();
}

/// What was asked for by name and the engine has no use for. The environment's choices are for all sessions, whatever their
/// engine.
void check_wishes(const SessionOptions& asked, const EngineEntry& engine)
{
    const auto refuse = [&](const std::string& what, const std::string& instead) {
        throw Error(ErrorCode::bad_argument, std::string("engine '") + engine.name + "' " + what + "; " + instead);
    };
    const Capabilities& can = engine.capabilities;
    if (can.schedules_itself && !engine.policies && !asked.scheduler.empty())
        refuse("chooses the next task itself, and scheduler '" + asked.scheduler + "' was asked for", "leave the scheduler out");
    const auto wanted = std::max(asked.workers.size(), std::size_t(std::max(asked.worker_count, 0)));
    const std::size_t most = most_workers(engine);
    if (wanted > most)
        refuse((most == 1 ? "has one worker" : "has at most " + std::to_string(most) + " workers") + ", and " +
                   std::to_string(wanted) + " were asked for",
               "ask for " + std::to_string(most) + ", or for another engine");
    if (asked.communicator && !can.owners)
        refuse("works in one process, and a communicator was given", "leave it out, or take engine 'starpu-mpi'");
    if (!can.devices && asks_for_devices(asked))
        refuse("gives no tasks to devices, and devices '" + asked.devices + "' were asked for",
               "leave them out, or take engine 'native'");
    if ((!can.parallel || can.schedules_itself) && !asked.relief.empty() && asked.relief != "never")
        refuse("moves no workers, and relief '" + asked.relief + "' was asked for", "relief must be never");
}

/// The policy of an engine that has its own; empty: one of ours is asked, or none. The environment's is for engines that ask
/// ours.
std::string choose_policy(const std::string& asked, const EngineEntry& engine)
{
    if (!engine.policies) return {};
    const std::vector<std::string> known = engine.policies();
    if (asked.empty()) return known.front();
    const std::vector<std::string_view> names(known.begin(), known.end());
    if (std::ranges::find(known, asked) != known.end()) return asked;
    throw Error(ErrorCode::bad_argument, unknown_name(std::string("scheduler of engine '") + engine.name + "'", asked, names));
}

int first_node_of(const Session& session, const void* data)
{
    const std::vector<int> nodes = session.nodes_of_pages(data, 1);
    return nodes.empty() ? any_node : nodes.front();
}

/// Kernels reach about half of the multiply-add peak.
double nominal_speed(const Machine& machine)
{
    double best = 0;
    for (const CoreKind& kind : machine.kinds) best = std::max(best, 1e9 * kind.peak_gflops);
    return 0.5 * (best > 0 ? best : fma_peak());
}

} // namespace

/// Names into what stands behind them. Makes everything that an engine is made of, but the engine.
const EngineEntry& Session::resolve(EngineParts& make, const SessionOptions& options)
{
    Parts& parts = *parts_;
    SessionOptions& resolved = parts.options;
    resolved.engine = choose_engine(options.engine);
    resolved.kernels = choose_kernels(options.kernels);
    resolved.threads = choose_threads(options.threads);
    resolved.machine = choose(options.machine, "TRENCADIS_MACHINE", "");
    resolved.relief = choose_relief(options.relief, resolved.machine);
    resolved.pages = choose_pages(options.pages, resolved.machine);
    resolved.reproducible = choose_reproducible(options);
    resolved.objective = choices::word_of(choose_objective(options));
    resolved.window = choose_window(options);

    const EngineEntry& engine = find_entry("engine", engine_entries(), resolved.engine);
    if (!engine.capabilities.computes)
        throw Error(ErrorCode::bad_argument,
                    std::string("engine '") + engine.name +
                        "' computes nothing, it takes virtual time on a described machine; use `trencadis simulate`");
    check_wishes(options, engine);
    resolved.devices = choose_devices(options, engine.capabilities.devices && resolved.machine.empty() && !resolved.reproducible);
    const std::string policy = choose_policy(options.scheduler, engine);
    resolved.scheduler = choose(policy.empty() ? options.scheduler : "", "TRENCADIS_SCHEDULER", "mosaic");
    const SchedulerSpec scheduler = parse_scheduler(resolved.scheduler);
    if (engine.capabilities.schedules_itself) resolved.scheduler = policy;
    const ThreadsEntry& threads = find_entry("thread back end", threads_entries(), resolved.threads);
    parts.machine = choose_machine(resolved.machine);
    const Machine real = resolved.machine.empty() ? parts.machine : machine_at_hand();
    resolved.workers = choose_cores(options, parts.machine);
    const SharedCores shared = share_cores(options, engine, parts.machine, resolved.workers);
    if (const std::size_t most = most_workers(engine); resolved.workers.size() > most) resolved.workers.resize(most);
    resolved.worker_count = static_cast<int>(resolved.workers.size());
    check_slow(resolved, engine);

    parts.traits = scheduler.flow;
    parts.kernels = &load_kernels(resolved.kernels);
    parts.threads = threads.make();
    std::vector<int> real_cores;
    for (const Core& core : real.cores)
        if (!resolved.machine.empty()) real_cores.push_back(core.cpu);
    parts.places = make_places(resolved, parts.machine, real_cores);
    if (!shared.bound)
        for (WorkerPlace& place : parts.places) place.on_cpu = -1;
    make = {parts.places, scheduler, parts.threads.get(), nominal_speed(real), parts.kernels};
    make.relieving = relieving_named(resolved.relief), make.policy = policy;
    make.communicator = options.communicator;
    make.callers_anywhere = options.workers.empty();
    make.device_units = parts.devices.open(resolved, parts.places, parts.machine, *parts.kernels);
    make.device_slots = parts.devices.in_flight();
    if (resolved.machine.empty() && resolved.slow.empty() && resolved.devices.empty())
        parts.speeds.emplace(parts.machine.name, parts.kernels->name() + ' ' + parts.kernels->version());
    else parts.speeds.emplace();
    make.speeds = resolved.devices.empty() ? parts.speeds->read() : parts.devices.speeds(parts.places);
    make.models = parts.speeds->folder();
    make.machine = &parts.machine;
    make.node_of = [this](const void* data) { return first_node_of(*this, data); };
    parts.chooser = make_chooser(options, resolved, *parts.kernels);
    parts.last_calls = make_last_calls(resolved, *parts.kernels);
    return engine;
}

/// What it reckons with is no arithmetic of the caller's: in the standard modes, without traps, and what it raises is forgotten.
Session::Session(const SessionOptions& options) : parts_(std::make_unique<Parts>())
{
    const FloatScope own_arithmetic{FloatModes()};
    Parts& parts = *parts_;
    parts.options = options;
    EngineParts make;
    const EngineEntry& engine = *or_refuse(options, [&] { return &resolve(make, options); });
    parts.engine = engine.make(std::move(make));
    reset_statistics();
    crew_ = &parts.crew.emplace(*this, parts.engine->call_sharing(), parts.chooser.get(), parts.last_calls.get());
}

void Session::refuse(const SessionOptions& options, const std::exception& failure)
{
    for (const EngineEntry* engine : engine_entries())
        if (engine->refuse && (options.communicator || options.engine == engine->name)) try {
                engine->refuse(options.communicator, failure);
            } catch (const std::exception&) { // it cannot be had here at all
            }
}

Session::~Session()
{
    if (made_before_fork()) keep_for_good(parts_.release()); // its end would wait for threads that are not in this process
    else parts_->speeds->end(*parts_->engine);
}

struct Session::Running {
    Parts& parts;
    explicit Running(Parts& p) : parts(p) { parts.run_begins(); }
    ~Running() { parts.run_ends(); }
};

Crew::Forecast Session::devices_for(const std::function<void(Flow&)>& submit, Seconds alone) const
{
    const FloatScope own_arithmetic{FloatModes()};
    return parts_->devices.foresee(submit, alone);
}

std::optional<Crew::TakenPlan> Session::plan_of(const Crew::PlanKey& key) const { return parts_->devices.plan_of(key); }
void Session::keep_plan(const Crew::PlanKey& key, const Crew::TakenPlan& plan) const { parts_->devices.keep_plan(key, plan); }

Seconds Session::expected_there(const std::function<void(Flow&)>& submit) const
{
    const FloatScope own_arithmetic{FloatModes()};
    return parts_->devices.expected_there(submit, [this](const void* data) { return device_of(data); });
}

std::unique_ptr<PageHold> Session::lock_pages(std::uint64_t devices, const std::function<void(Flow&)>& submit)
{
    HostPages* const pages = parts_->engine->host_pages();
    if (!pages || made_before_fork()) return nullptr;
    const FloatScope own_arithmetic{FloatModes()};
    CallMemory memory([this](const void* data) { return device_of(data) >= 0; });
    submit(memory);
    return pages->hold(memory.spans(), memory.moved(), devices);
}

namespace {

KeptData& kept_data_of(Engine& engine, const SessionOptions& options)
{
    if (KeptData* const kept = engine.kept_data()) return *kept;
    throw Error(ErrorCode::bad_argument, 1,
                "data are to be kept on devices, and this session of engine '" + options.engine +
                    "' has none; make it with devices, such as devices='cuda:0'");
}

} // namespace

void Session::keep(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld, std::size_t element_bytes)
{
    require_workers();
    KeptData& kept = kept_data_of(*parts_->engine, parts_->options);
    if (!data) throw Error(ErrorCode::bad_argument, 2, "data is null, and is to be kept on devices");
    const auto check = [](int number, const char* name, std::int64_t value, std::int64_t least) {
        if (value < least)
            throw Error(ErrorCode::bad_argument, number,
                        std::string(name) + " is " + std::to_string(value) + ", must be at least " + std::to_string(least));
    };
    check(3, "rows", rows, 1);
    check(4, "cols", cols, 1);
    check(5, "ld", ld, rows);
    check(6, "element_bytes", static_cast<std::int64_t>(element_bytes), 1);
    if (device_of(data) >= 0)
        throw Error(ErrorCode::bad_argument, 2, "data is an array that lies on a device, where it stays as it is");
    kept.keep(data, (double(cols - 1) * double(ld) + double(rows)) * double(element_bytes));
}
void Session::touch(const void* data, Bytes bytes)
{
    if (keeps()) parts_->engine->kept_data()->touch(data, bytes);
}
void Session::touch_kept(const void* data)
{
    require_workers();
    kept_data_of(*parts_->engine, parts_->options).touch_kept(data);
}
void Session::leave(const void* data)
{
    if (made_before_fork()) return; // the copies, and who might hold their lock, are in another process
    kept_data_of(*parts_->engine, parts_->options).leave(data);
}
bool Session::keeps() const
{
    const KeptData* const kept = parts_->engine->kept_data();
    return kept && !made_before_fork() && kept->keeps();
}

Index Session::run(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted)
{
    return run_with(parts_->devices.undecided(), body, interrupted);
}

namespace {

/// Asks a caller whether to stop. An engine is in the middle of something when it asks, so what the caller's function throws is a
/// yes, and is thrown when the run is over. On the calling thread.
template <class Run> Index ask_safely(const std::function<bool()>& interrupted, Run&& run)
{
    if (!interrupted) return run(interrupted);
    std::exception_ptr thrown;
    const std::function<bool()> asked = [&]() noexcept {
        try {
            return interrupted();
        } catch (...) {
            thrown = std::current_exception();
            return true;
        }
    };
    try {
        const Index outcome = run(asked);
        if (!thrown) return outcome;
    } catch (...) {
        if (!thrown) throw;
    }
    std::rethrow_exception(thrown);
}

} // namespace

Index Session::run_with(std::uint64_t devices, const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted)
{
    require_workers();
    const Running running(*parts_);
    const SameSums sums(parts_->options.reproducible);
    FlowOptions options = parts_->flow_options();
    options.devices = devices;
    const Index outcome = ask_safely(interrupted, [&](const std::function<bool()>& asked) {
        return parts_->engine->run({options, &asked}, body);
    });
    parts_->speeds->note_run(*parts_->engine, now_ns());
    return outcome;
}

Index Session::run_shared(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted,
                          const std::function<Datum(const Datum&)>& at_home)
{
    require_workers();
    const Running running(*parts_);
    const SameSums sums(parts_->options.reproducible);
    return ask_safely(interrupted, [&](const std::function<bool()>& asked) {
        return parts_->engine->run_shared({parts_->flow_options(), &asked}, body, at_home);
    });
}
Processes* Session::processes() { return parts_->engine->processes(); }
Sent Session::sent() const { return parts_->engine->sent(); }

bool Session::made_before_fork() const { return forks_so_far() != parts_->made_after; }
void Session::require_workers() const
{
    if (made_before_fork())
        throw Error(ErrorCode::environment,
                    "this session was made before a fork, and its workers are not in this process; make a new session");
}
std::unique_ptr<Flow> Session::open_flow(std::int64_t window)
{
    require_workers();
    const SameSums sums(parts_->options.reproducible); // which its tasks have from the thread that opens it
    FlowOptions options = parts_->flow_options();
    if (window) options.window = window;
    options.refuse_overlaps = true;
    return parts_->engine->open_flow(options);
}

Executor& Session::executor()
{
    require_workers();
    if (Executor* const executor = parts_->engine->executor()) return *executor;
    throw Error(ErrorCode::bad_argument,
                "engine '" + parts_->options.engine + "' finds dependences itself; open a flow of it (Session::open_flow)");
}
const SessionOptions& Session::options() const { return parts_->options; }
std::string Session::runtime() const { return parts_->engine->runtime(); }
int Session::workers() const { return parts_->engine->workers(); }
int Session::devices() const { return parts_->devices.count(); }
const KernelProvider& Session::kernels() const { return *parts_->kernels; }
const choices::Chooser* Session::chooser() const { return parts_->chooser.get(); }
const Machine& Session::machine() const { return parts_->machine; }

bool Session::overlaid() const { return !parts_->options.machine.empty(); }

std::vector<NodeWorkers> Session::nodes() const
{
    std::map<int, NodeWorkers> nodes;
    for (const WorkerPlace& place : parts_->places) {
        NodeWorkers& node = nodes.try_emplace(place.node, NodeWorkers{place.node, 0, 0}).first->second;
        ++node.workers;
        node.speed += place.slow;
    }
    std::vector<NodeWorkers> rows;
    for (const auto& [number, node] : nodes) rows.push_back(node);
    return rows;
}

bool Session::has_equal_workers() const
{
    const WorkerPlace& first = parts_->places.front();
    return std::ranges::all_of(parts_->places,
                               [&](const WorkerPlace& place) { return place.kind == first.kind && place.slow == first.slow; });
}

bool Session::binds_nodes() const { return parts_->engine->binds(parts_->places.front().node); }

std::vector<int> Session::nodes_of_pages(const void* data, std::size_t pages) const
{
    if (!overlaid()) return trencadis::nodes_of_pages(data, pages);
    std::vector<int> nodes(pages, 0);
    if (parts_->options.pages == "interleave") {
        const std::size_t first = reinterpret_cast<std::uintptr_t>(data) / page_bytes, count = parts_->machine.nodes.size();
        for (std::size_t i = 0; i < pages; ++i) nodes[i] = static_cast<int>((first + i) % count);
    }
    return nodes;
}

} // namespace trencadis
