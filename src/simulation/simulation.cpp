#include "simulation/simulation.hpp"

#include "algorithms/graphs.hpp"
#include "algorithms/tile_size.hpp"
#include "base/error.hpp"
#include "engines/engine.hpp"
#include "scheduling/scheduler.hpp"
#include "simulation/graph_survey.hpp"
#include "simulation/simulated_hosts.hpp"
#include "simulation/simulation_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sys/mman.h>
#include <vector>

namespace trencadis {
namespace {

constexpr std::int64_t all_tasks = std::int64_t{1} << 40; ///< a window that nothing reaches

/// Addresses that stand for the matrices and are never touched. The same ones in every process, where they are free: a policy or
/// table that looks at addresses then does the same in every run. Graphs have 2^46 bytes at most; behind them copies have their
/// names (engines/messages/host_books.cpp).
class AddressSpace {
public:
    explicit AddressSpace(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 64))
    {
        void* const wanted = reinterpret_cast<void*>(std::uintptr_t{0x100000000000});
        begin_ = mmap(wanted, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (begin_ == MAP_FAILED)
            throw Error(ErrorCode::environment, fmt::format("no {} bytes of addresses are free in this process", bytes_));
    }
    ~AddressSpace() { munmap(begin_, bytes_); }
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;
    void* begin() const { return begin_; }

private:
    std::size_t bytes_;
    void* begin_;
};

/// The whole graph.
struct Graph {
    std::string routine, variant;
    GraphShape shape;
    void* memory;
};
void submit(Flow& flow, const Graph& graph) { submit_graph(flow, graph.routine, graph.variant, graph.shape, graph.memory); }
void submit_owned(Flow& flow, const Graph& graph, const TileOwners& owners)
{
    submit_graph(flow, graph.routine, graph.variant, graph.shape, graph.memory, owners);
}

struct SurveyArgs {
    const Graph* graph;
    void run(TaskContext& context) { submit(context.flow(), *graph); }
};
constexpr Codelet survey_codelet = [] {
    Codelet codelet = codelet_of<SurveyArgs>("run");
    codelet.counted = false;
    codelet.submits = true;
    return codelet;
}();

/// As an engine runs it: the body of one task.
void survey_graph(GraphSurvey& survey, const Graph& graph)
{
    TaskFlow root(survey, {.priorities = Priorities::given});
    root.submit(survey_codelet, SurveyArgs{&graph}, std::initializer_list<Access>{});
    root.wait();
}

/// How fast it could be at best. Throws where it could not end.
SimulationBounds surveyed_bounds(const Machine& machine, const ChosenUnits& units, const Graph& graph,
                                 const SimulationOptions& options)
{
    GraphSurvey survey(machine, units.cores, units.devices);
    survey_graph(survey, graph);
    survey.check();
    if (options.remap_s > 0) survey.check_moves();
    const double fastest = 1 - options.jitter; // that a kernel may be
    return {fastest * survey.area_bound(), fastest * survey.critical_path()};
}

void check_numbers(const SimulationRequest& request)
{
    const auto refuse = [](const std::string& message) { throw Error(ErrorCode::bad_argument, message); };
    const SimulationOptions& options = request.options;
    if (request.n < 1) refuse(fmt::format("n is {}, must be at least 1", request.n));
    if (request.m < 0) refuse(fmt::format("m is {}, must be at least 1, or 0 to have it chosen", request.m));
    if (request.k < 0) refuse(fmt::format("k is {}, must be at least 1, or 0 for n", request.k));
    if (request.cut_for < 0) refuse(fmt::format("cut_for is {}, must be at least 1, or 0 for square tiles", request.cut_for));
    if (request.nb < 0) refuse(fmt::format("nb is {}, must be at least 1, or 0 to have it chosen", request.nb));
    if (request.window < 0) refuse(fmt::format("window is {}, must be at least 1, or 0 for the usual one", request.window));
    for (const auto& [name, value] : {std::pair("submit", options.submit_s),
                                      {"pop", options.pop_s},
                                      {"remap", options.remap_s},
                                      {"spin", options.spin_s},
                                      {"wake", options.wake_s}})
        if (!(value >= 0 && std::isfinite(value))) refuse(fmt::format("{} is {} s, must be at least 0", name, value));
    if (!(options.jitter >= 0 && options.jitter < 1))
        refuse(fmt::format("jitter is {}, must be at least 0 and below 1", options.jitter));
}

/// Machines give kernel times in double precision, and some in others, too; those of double serve for z.
void check_precision(const Machine& machine, char precision)
{
    if (precision == 'd' || precision == 'z') return;
    const auto given = [&](const KernelTime& time) { return time.precision == precision; };
    if ((precision != 's' && precision != 'c') || std::ranges::none_of(machine.kernels, given))
        throw Error(ErrorCode::bad_argument, fmt::format("precision is '{}', must be d or z: {} gives no kernel times in another",
                                                         precision, machine.name));
}

std::size_t element_bytes(char precision)
{
    const std::size_t real = precision == 's' || precision == 'c' ? sizeof(float) : sizeof(double);
    return precision == 'c' || precision == 'z' ? 2 * real : real;
}

void check_memory(const Machine& machine, Bytes needed)
{
    Bytes there = 0;
    for (const MemoryNode& node : machine.nodes) there += node.bytes;
    if (there > 0 && needed > there)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("the matrices need {:.1f} GB, and the memory of {} is {:.1f} GB; choose a smaller n",
                                needed * 1e-9, machine.name, there * 1e-9));
}

EngineParts parts_of(const SimulationRequest& request, const Machine& machine, const ChosenUnits& units,
                     const SchedulerSpec& scheduler)
{
    EngineParts parts{{}, scheduler, nullptr};
    parts.machine = &machine;
    parts.simulation = request.options;
    parts.devices = units.devices;
    for (const int core : units.cores) {
        const int kind = machine.cores[core].kind;
        parts.workers.push_back({core, kind, machine.kinds[kind].name, 1});
    }
    return parts;
}

[[noreturn]] void refuse_devices(const SimulationResult& result, const Machine& machine)
{
    const Form& other = default_graph_form(result.routine, true);
    const std::string advice = other.packs_images ? "" : fmt::format("use '{}', or ", other.name);
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("variant '{}' works on images that cores make for themselves, and {} takes part with devices; {}--workers "
                    "without devices",
                    result.variant, machine.name, advice));
}

/// A host's tiles are computed on by that host.
void require_workers_everywhere(const Machine& machine, const ChosenUnits& units)
{
    std::vector<bool> has(machine.network ? machine.nodes.size() : 0, false);
    for (const int core : units.cores)
        if (!has.empty()) has[static_cast<std::size_t>(machine.cores[core].node)] = true;
    const auto without = std::ranges::find(has, false);
    if (without != has.end())
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("workers: host {} has none, and it holds tiles; name cores of every host", without - has.begin()));
}

const Form& chosen_form(const SimulationRequest& request, const Machine& machine, bool devices)
{
    if (!request.variant.empty()) return graph_form(request.routine, request.variant);
    if (!machine.network) return default_graph_form(request.routine, devices);
    if (const Form* form = default_form_of_hosts(request.routine)) return *form;
    throw Error(ErrorCode::bad_argument,
                fmt::format("no form of {} goes tile by tile, as hosts need it that send each other tiles", request.routine));
}

/// Copies of others' tiles need room beside a host's own.
void check_hosts(const SimulationResult& result, const Machine& machine)
{
    for (std::size_t host = 0; host < result.hosts.size(); ++host)
        require_room(machine.nodes[host], result.hosts[host].peak_bytes, "its data and copies of others'");
}

double idle_fraction(const SimulationReport& report)
{
    Seconds busy = 0;
    for (const SimulationReport::OfWorker& worker : report.workers) busy += worker.busy_s;
    const Seconds all = report.makespan_s * static_cast<double>(report.workers.size());
    return all > 0 ? std::max(0.0, 1 - busy / all) : 0;
}

Machine described_machine(const SimulationRequest& request)
{
    Machine machine = request.described ? *request.described : load_machine(request.machine);
    return request.options.unadjusted ? without_adjustments(std::move(machine)) : machine;
}

} // namespace

bool chooses_at_random(const std::string& scheduler) { return parse_scheduler(scheduler).seed(1); }

SimulationResult simulate(const SimulationRequest& request)
{
    check_numbers(request);
    SimulationResult result;
    const Machine described = described_machine(request);
    require_known_kernels(described);
    check_precision(described, request.precision);
    const TileOwners owners = owners_on(described, request.owners);
    const Machine machine = awake_part(described.network ? first_hosts(described, owners.processes()) : described, request.model);
    const ChosenUnits units = choose_units(machine, request.workers);
    require_workers_everywhere(machine, units);
    SchedulerSpec scheduler = parse_scheduler(request.scheduler.empty() ? "mosaic" : request.scheduler);
    scheduler.seed(request.options.seed);
    result.machine = machine.name;
    result.model = request.model;
    result.scheduler = scheduler.text;
    result.routine = request.routine;
    const bool devices = !units.devices.empty();
    const Form& form = chosen_form(request, machine, devices);
    result.owners = owners;
    result.variant = form.name;
    if (form.packs_images && devices) refuse_devices(result, machine);
    result.n = request.n, result.k = request.k;
    const int workers = static_cast<int>(units.cores.size() + units.devices.size());
    const std::size_t element = element_bytes(request.precision);
    const int cut_for = form.cuts && request.nb == 0 ? request.cut_for : 0;
    result.nb = request.nb || cut_for ? request.nb : default_graph_tile(form, request.n, element, workers);
    result.inner = request.inner ? request.inner : default_inner(form, result.nb);
    result.precision = request.precision;
    result.m = request.m ? request.m : default_graph_rows(form, result.n);
    const bool as_called = request.as_called && !machine.network; // processes have forms of their own
    const int cutters = cut_for ? cut_for : as_called ? static_cast<int>(units.cores.size()) : 0;
    const GraphShape shape{result.n, result.nb, result.m, result.inner, 1, result.precision, cutters, result.k};
    const std::size_t bytes = graph_bytes(result.routine, result.variant, shape);
    if (!machine.network) check_memory(machine, static_cast<Bytes>(bytes)); // a host must have room for its own
    const AddressSpace memory(bytes);
    const Graph graph{result.routine, result.variant, shape, memory.begin()};
    FlowOptions options{.traits = scheduler.flow};
    if (request.window) options.window = request.window;
    else if (machine.network) options.window = all_tasks;

    result.bounds = surveyed_bounds(machine, units, graph, request.options);

    const std::unique_ptr<Engine> engine =
        find_entry("engine", engine_entries(), "simulated").make(parts_of(request, machine, units, scheduler));
    if (request.trace) engine->recorder().start_at(0);
    engine->run({options}, [&](Flow& flow) { machine.network ? submit_owned(flow, graph, owners) : submit(flow, graph); });
    static_cast<SimulationReport&>(result) = engine->simulation()->simulation_report();
    check_hosts(result, machine);
    result.idle_fraction = idle_fraction(result);
    const Flops flops = routine_flops(result.routine, shape);
    if (result.makespan_s > 0) result.gflops = flops / result.makespan_s * 1e-9;
    if (result.bounds.time_s() > 0) result.capacity_gflops = flops / result.bounds.time_s() * 1e-9;
    if (request.trace)
        result.trace = engine->recorder().stop_at(
            std::llround(result.makespan_s * 1e9),
            fmt::format("{} n={} nb={} {} {}", result.routine, result.n, result.nb, result.machine, result.scheduler),
            Origin::simulated);
    return result;
}

} // namespace trencadis
