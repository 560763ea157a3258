#include "session/session.hpp"

#include "base/error.hpp"
#include "engines/engine.hpp"
#include "observe/clock.hpp"
#include "scheduling/scheduler.hpp"
#include "session/choices.hpp"
#include "threads/threads.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <unistd.h>

namespace trencadis {

namespace {

std::vector<WorkerPlace> make_places(const SessionOptions& options, const Machine& machine)
{
    std::vector<WorkerPlace> places;
    for (const int cpu : options.workers) {
        WorkerPlace place;
        place.cpu = cpu;
        for (const Core& core : machine.cores)
            if (core.cpu == cpu) {
                place.kind = core.kind;
                place.kind_name = machine.kinds[core.kind].name;
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

double nominal_speed(const Machine& machine)
{
    double best = 0;
    for (const CoreKind& kind : machine.kinds) best = std::max(best, kind.peak_gflops);
    return best > 0 ? 0.5e9 * best : 2e10; // kernels reach about half of the multiply-add peak
}

/// The body of a run, as a task; bookkeeping, so it is neither busy time nor an event.
struct RunArgs {
    const std::function<void(TaskFlow&)>* body;
    void run(TaskContext& context) { (*body)(context.flow()); }
};
constexpr Codelet run_codelet = [] {
    Codelet codelet = codelet_of<RunArgs>("run");
    codelet.counted = false;
    return codelet;
}();

/// Asks `poll` while the calling thread waits.
class PollScope {
public:
    PollScope(Engine& engine, const std::function<bool()>& poll) : engine_(engine)
    {
        if (poll) engine_.poll_while_waiting(&poll);
    }
    ~PollScope() { engine_.poll_while_waiting(nullptr); }

private:
    Engine& engine_;
};

} // namespace

struct Session::Parts {
    SessionOptions options;
    Machine machine;
    const KernelProvider* kernels = nullptr;
    FlowTraits traits; ///< of the scheduler
    std::unique_ptr<Threads> threads;
    std::unique_ptr<Engine> engine;

    const pid_t made_in = getpid();

    std::mutex clock_mutex;
    int running = 0;
    std::int64_t running_since_ns = 0;
    std::int64_t run_ns = 0; ///< with at least one run going on
    std::int64_t run_ns_base = 0;
    std::vector<WorkerTime> base;

    void run_begins()
    {
        std::lock_guard lock(clock_mutex);
        if (running++ == 0) running_since_ns = now_ns();
    }
    void run_ends()
    {
        std::lock_guard lock(clock_mutex);
        if (--running == 0) run_ns += now_ns() - running_since_ns;
    }
    std::int64_t run_time() ///< under the mutex
    {
        return run_ns + (running ? now_ns() - running_since_ns : 0);
    }
};

Session::Session(const SessionOptions& options) : parts_(std::make_unique<Parts>())
{
    Parts& parts = *parts_;
    parts.options = options;
    SessionOptions& resolved = parts.options;
    resolved.engine = choose_engine(options.engine);
    resolved.scheduler = choose(options.scheduler, "TRENCADIS_SCHEDULER", "mosaic");
    resolved.kernels = choose_kernels(options.kernels);
    resolved.threads = choose(options.threads, "TRENCADIS_THREADS_BACKEND", "os");
    if (options.window < 0)
        throw Error(ErrorCode::bad_argument, "window is " + std::to_string(options.window) + ", must be at least 1");
    if (options.window == 0) resolved.window = FlowOptions{}.window;

    const EngineEntry& engine = find_entry("engine", engine_entries(), resolved.engine);
    if (!engine.capabilities.computes)
        throw Error(ErrorCode::bad_argument,
                    std::string("engine '") + engine.name +
                        "' computes nothing, it takes virtual time on a described machine; use `trencadis "
                        "simulate`, or simulate() in session/simulation.hpp");
    const SchedulerSpec scheduler = parse_scheduler(resolved.scheduler);
    const ThreadsEntry& threads = find_entry("thread back end", threads_entries(), resolved.threads);
    parts.machine = discover_machine();
    resolved.workers = choose_cores(options, parts.machine);
    if (!engine.capabilities.parallel) resolved.workers.resize(1);
    resolved.worker_count = static_cast<int>(resolved.workers.size());
    check_slow(resolved, engine);

    parts.traits = scheduler.flow;
    parts.kernels = &load_kernels(resolved.kernels);
    parts.threads = threads.make();
    parts.engine =
        engine.make({make_places(resolved, parts.machine), scheduler, parts.threads.get(), nominal_speed(parts.machine)});
    parts.base.resize(parts.engine->workers());
}

Session::~Session() = default;

void Session::run(const std::function<void(TaskFlow&)>& body, const std::function<bool()>& interrupted)
{
    if (made_before_fork())
        throw Error(ErrorCode::environment,
                    "this session was made before a fork, and its workers are not in this process; make a new session");
    struct Running {
        Parts& parts;
        explicit Running(Parts& p) : parts(p) { parts.run_begins(); }
        ~Running() { parts.run_ends(); }
    } running(*parts_);
    PollScope polling(*parts_->engine, interrupted);
    TaskFlow root(*parts_->engine, {.window = parts_->options.window, .traits = parts_->traits});
    root.submit(run_codelet, RunArgs{&body}, std::initializer_list<Access>{});
    root.wait();
}

bool Session::made_before_fork() const { return getpid() != parts_->made_in; }
Executor& Session::executor() { return *parts_->engine; }
const SessionOptions& Session::options() const { return parts_->options; }
int Session::workers() const { return parts_->engine->workers(); }
const KernelProvider& Session::kernels() const { return *parts_->kernels; }
const Machine& Session::machine() const { return parts_->machine; }

void Session::start_trace() { parts_->engine->recorder().start(); }

Trace Session::stop_trace()
{
    return parts_->engine->recorder().stop({}, parts_->options.slow.empty() ? Origin::measured : Origin::emulated);
}

std::vector<WorkerStatistics> Session::statistics() const
{
    std::lock_guard lock(parts_->clock_mutex);
    const std::vector<WorkerTime> times = parts_->engine->times();
    const double span = (parts_->run_time() - parts_->run_ns_base) * 1e-9;
    const std::vector<WorkerPlace> places = make_places(parts_->options, parts_->machine);
    std::vector<WorkerStatistics> statistics;
    for (std::size_t w = 0; w < times.size(); ++w) {
        const WorkerTime& base = parts_->base[w];
        const double busy = (times[w].busy_ns - base.busy_ns) * 1e-9;
        statistics.push_back({places[w].cpu, places[w].kind_name, busy, std::max(0.0, span - busy), times[w].tasks - base.tasks,
                              times[w].shares - base.shares});
    }
    return statistics;
}

void Session::reset_statistics()
{
    std::lock_guard lock(parts_->clock_mutex);
    parts_->base = parts_->engine->times();
    parts_->run_ns_base = parts_->run_time();
}

} // namespace trencadis
