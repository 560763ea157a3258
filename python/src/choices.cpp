#include "choices/calibration.hpp"

#include "base/registry.hpp"
#include "bind.hpp"
#include "call.hpp"
#include "choices/chooser.hpp"
#include "choices/device_choice.hpp"
#include "choices/machine_choice.hpp"
#include "drivers/crew.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/timed_plans.hpp"
#include "kernels/providers/provider.hpp"
#include "session/session_choices.hpp"
#include "simulation/simulation_units.hpp"
#include "text.hpp"

#include <cmath>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <vector>

using namespace nanobind::literals;

namespace trencadis::python {
namespace {

using namespace choices;

/// A call with the table's own name of the routine, which lasts.
Call call_of(const std::string& routine, const std::string& precision, Index m, Index n, Index k)
{
    const std::size_t place = precision.size() == 1 ? precision_letters.find(precision.front()) : std::string_view::npos;
    if (place == std::string_view::npos)
        throw Error(ErrorCode::bad_argument, 2, "precision is '" + precision + "', must be s, d, c or z");
    for (const std::string_view name : chosen_routines())
        if (name == routine) return {name, int(place), m, n, k};
    throw Error(ErrorCode::bad_argument, 1, unknown_name("routine whose calls are chosen", routine, chosen_routines()));
}

Plan plan_of(const Call& call, const std::string& word)
{
    if (const std::optional<Plan> plan = plan_called(call.routine, word)) return *plan;
    throw Error(ErrorCode::bad_argument, 1, "'" + word + "' is no plan of " + std::string(call.routine));
}

/// What the rule would say where a plan leaves it to it.
nb::dict described(int workers, const Call& call, const Plan& plan)
{
    const Tiles tiles = tiles_of(plan, call, workers);
    nb::dict row;
    row["plan"] = word_of(plan);
    row["variant"] = plan.form ? nb::object(nb::str(std::string(plan.form->name).c_str())) : nb::object(nb::none());
    row["nb"] = tiles.nb ? nb::object(nb::int_(tiles.nb)) : nb::object(nb::none());
    row["grain"] = tiles.grain ? nb::object(nb::int_(tiles.grain)) : nb::object(nb::none());
    row["workers"] = plan.by == Plan::By::alone ? 1 : workers;
    return row;
}

nb::list rows_of(const std::vector<Expected>& considered, int workers, const Call& call)
{
    nb::list rows;
    for (const Expected& expected : considered) {
        nb::dict row = described(workers, call, expected.plan);
        row["seconds"] = expected.seconds;
        row["against"] = expected.against;
        row["nearest"] = expected.nearest;
        row["scatter"] = expected.scatter;
        row["enough"] = expected.enough;
        row["chosen"] = expected.chosen;
        rows.append(row);
    }
    return rows;
}

nb::list consider(const Session& session, const std::string& routine, const std::string& precision, Index m, Index n, Index k)
{
    const Crew& crew = session;
    const Call call = call_of(routine, precision, m, n, k);
    return session.chooser() ? rows_of(session.chooser()->consider(call), crew.workers(), call) : nb::list();
}

/// What the fixed rule comes to, as a plan by another word.
nb::dict rule(const Session& session, const std::string& routine, const std::string& precision, Index m, Index n, Index k)
{
    const Crew& crew = session;
    const Call call = call_of(routine, precision, m, n, k);
    return described(crew.workers(), call, plan_of_rule(call, crew.workers(), session.kernels().native()));
}

/// What a call is weighed for in a session with devices.
nb::list foreseen(const Session& session, const std::string& routine, const std::string& precision, Index m, Index n, Index k)
{
    const Call call = call_of(routine, precision, m, n, k);
    nb::list rows;
    for (const LaidOut::Weighed& one : LaidOut::weighed(session, call.routine, {.m = m, .n = n, .k = k}, call.precision)) {
        nb::dict row;
        nb::list devices;
        for (int d = 0; d < most_devices; ++d)
            if (one.expected.devices >> d & 1) devices.append(d);
        row["variant"] = std::string(one.form->name);
        row["nb"] = one.nb ? nb::object(nb::int_(one.nb)) : nb::object(nb::none());
        row["devices"] = devices;
        row["seconds"] = one.expected.with > 0 ? nb::object(nb::float_(one.expected.with)) : nb::object(nb::none());
        row["alone"] = std::isfinite(one.expected.alone) ? nb::object(nb::float_(one.expected.alone)) : nb::object(nb::none());
        row["chosen"] = one.taken;
        rows.append(row);
    }
    return rows;
}

std::vector<std::string> words_of(const std::vector<Plan>& plans)
{
    std::vector<std::string> words;
    for (const Plan& plan : plans) words.push_back(word_of(plan));
    return words;
}

std::vector<std::string> plans(const Session& session, const std::string& routine, const std::string& precision, Index m, Index n,
                               Index k)
{
    const Crew& crew = session;
    return words_of(plans_for(call_of(routine, precision, m, n, k), crew.workers(), session.kernels().native()));
}

std::string path() { return calibration_path().value_or(std::filesystem::path()).string(); }

nb::dict read(const Session& session)
{
    const Calibration calibration =
        path().empty() ? Calibration{} : Calibration::read(path(), calibration_owner(session.kernels()));
    nb::list rows;
    for (const Row& row : calibration.rows) {
        nb::dict d;
        d["routine"] = row.routine;
        d["precision"] = std::string(1, row.precision);
        d["m"] = row.m;
        d["n"] = row.n;
        d["k"] = row.k;
        d["workers"] = row.workers;
        d["plan"] = row.plan;
        d["seconds"] = row.seconds;
        d["busy"] = row.busy;
        d["joules"] = row.joules;
        rows.append(d);
    }
    nb::dict all;
    all["path"] = path_of(path());
    all["trouble"] = text_of(calibration.trouble);
    all["rows"] = rows;
    return all;
}

/// Seconds of the last calls of that size, the oldest first, with their plan and number of workers.
nb::list last_calls(const Session& session, const std::string& routine, const std::string& precision, Index m, Index n, Index k)
{
    const Call call = call_of(routine, precision, m, n, k);
    const auto path = last_calls_path();
    nb::list rows;
    for (const Row& row : path ? LastCalls::read(*path, calibration_owner(session.kernels())) : std::vector<Row>()) {
        if (row.routine != routine || row.precision != precision.front() || row.m != call.m || row.n != call.n || row.k != call.k)
            continue;
        nb::dict d;
        d["plan"] = row.plan;
        d["workers"] = row.workers;
        d["seconds"] = row.seconds;
        rows.append(d);
    }
    return rows;
}

std::vector<Row> rows_of(const nb::list& given)
{
    std::vector<Row> rows;
    for (const nb::handle one : given) {
        const auto field = [&](const char* name) { return one[name]; };
        const Call call = call_of(nb::cast<std::string>(field("routine")), nb::cast<std::string>(field("precision")), 1, 1, 1);
        rows.push_back({std::string(call.routine), precision_letters[std::size_t(call.precision)], nb::cast<Index>(field("m")),
                        nb::cast<Index>(field("n")), nb::cast<Index>(field("k")), nb::cast<int>(field("workers")),
                        word_of(plan_of(call, nb::cast<std::string>(field("plan")))), nb::cast<double>(field("seconds")),
                        nb::cast<double>(field("busy")), nb::cast<double>(field("joules"))});
    }
    return rows;
}

void write(const Session& session, const nb::list& given)
{
    const std::vector<Row> rows = rows_of(given);
    if (path().empty())
        throw Error(ErrorCode::environment, "there is no cache folder to keep a calibration in: set XDG_CACHE_HOME or HOME");
    if (const std::string trouble = write_calibration(path(), calibration_owner(session.kernels()), rows); !trouble.empty())
        throw Error(ErrorCode::environment, trouble);
}

/// Choices of a described machine.
struct Elsewhere {
    Elsewhere(const std::string& name, const std::vector<std::string>& workers, double submit, double take, double spread)
        : machine(load_machine(name))
    {
        if (machine.network) throw Error(ErrorCode::bad_argument, 1, name + " is many hosts, and choices are those of one");
        const ChosenUnits chosen = choose_units(machine, workers);
        if (!chosen.devices.empty())
            throw Error(ErrorCode::bad_argument, 2,
                        "choices of a described machine are of its cores; name them as workers, without devices");
        units = {&machine, chosen.cores, submit, take, spread};
    }
    Elsewhere(const Elsewhere&) = delete;
    Elsewhere& operator=(const Elsewhere&) = delete;

    int workers() const { return int(units.cores.size()); }
    Machine machine;
    DescribedCores units;
};

struct Timed {
    Timed(Session& session, const Call& of) : call(of), plans(session, of) {}
    Call call;
    TimedPlans plans;
};

nb::dict laid_out(const Elsewhere& self, const Call& call, const Plan& plan, int workers)
{
    const Laid laid = laid_elsewhere(plan, call, workers);
    nb::dict row;
    row["variant"] = laid.form ? nb::object(nb::str(std::string(laid.form->name).c_str())) : nb::object(nb::none());
    row["nb"] = laid.nb;
    row["cut_for"] = laid.cut_for;
    row["cores"] = std::vector<int>(self.units.cores.begin(), self.units.cores.begin() + (laid.form ? workers : 1));
    return row;
}

nb::list considered_elsewhere(const Elsewhere& self, const Call& call)
{
    nb::list all;
    for (const ByCores& one : compute([&] { return consider_elsewhere(call, self.units); })) {
        nb::dict row;
        row["workers"] = one.workers;
        row["chosen"] = one.chosen;
        row["considered"] = rows_of(one.considered, one.workers, call);
        all.append(row);
    }
    return all;
}

/// By so many of its cores; 0: all.
int cores_of(const Elsewhere& self, int workers)
{
    if (workers < 0 || workers > self.workers())
        throw Error(ErrorCode::bad_argument, 7,
                    "workers is " + std::to_string(workers) + ", must be at most " + std::to_string(self.workers()) +
                        ", or 0 for all");
    return workers ? workers : self.workers();
}

void bind_elsewhere(nb::module_& m)
{
    using Text = const std::string&;
    nb::class_<Elsewhere>(m, "ChoicesElsewhere", "What would be chosen on a described machine, by its kernel times.")
        .def(nb::init<Text, const std::vector<std::string>&, double, double, double>(), "machine"_a,
             "workers"_a = std::vector<std::string>(), "submit_s"_a = 0.0, "pop_s"_a = 0.0, "jitter"_a = 0.0)
        .def_prop_ro("cores", [](const Elsewhere& self) { return self.units.cores; })
        .def(
            "considered",
            [](const Elsewhere& self, Text routine, Text precision, Index rows, Index cols, Index k) {
                return considered_elsewhere(self, call_of(routine, precision, rows, cols, k));
            },
            "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a)
        .def(
            "plans",
            [](const Elsewhere& self, Text routine, Text precision, Index rows, Index cols, Index k) {
                const Call call = call_of(routine, precision, rows, cols, k);
                return words_of(plans_for(call, self.workers(), is_ours_elsewhere(call), Breadth::all));
            },
            "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a)
        .def(
            "foreseen",
            [](const Elsewhere& self, Text plan, Text routine, Text precision, Index rows, Index cols, Index k) {
                const Call call = call_of(routine, precision, rows, cols, k);
                return compute([&, which = plan_of(call, plan)] { return foreseen_of(which, call, self.units); });
            },
            "plan"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a)
        .def(
            "laid_out",
            [](const Elsewhere& self, Text plan, Text routine, Text precision, Index rows, Index cols, Index k, int workers) {
                const Call call = call_of(routine, precision, rows, cols, k);
                return laid_out(self, call, plan_of(call, plan), cores_of(self, workers));
            },
            "plan"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a, "workers"_a = 0);
}

} // namespace

void bind_choices(nb::module_& m)
{
    m.def("considered", &consider, "session"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a);
    m.def("rule", &rule, "session"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a);
    m.def("foreseen", &foreseen, "session"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a);
    m.def("last_calls", &last_calls, "session"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a);
    m.def("plans", &plans, "session"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a);
    m.def("read_calibration", &read, "session"_a);
    m.def("write_calibration", &write, "session"_a, "rows"_a);
    m.def("chosen_routines", [] {
        std::vector<std::string> names;
        for (const std::string_view name : chosen_routines()) names.emplace_back(name);
        return names;
    });
    bind_elsewhere(m);
    nb::class_<Timed>(m, "TimedPlans", "A call on operands of its own, to be timed in one plan after another.")
        .def(
            "__init__",
            [](Timed* self, Session& session, const std::string& routine, const std::string& precision, Index rows, Index cols,
               Index k) {
                const Call call = call_of(routine, precision, rows, cols, k);
                compute([&] { new (self) Timed(session, call); });
            },
            "session"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a, nb::keep_alive<1, 2>())
        .def(
            "time",
            [](Timed& self, const std::string& word) {
                const Plan plan = plan_of(self.call, word);
                return compute([&] { return self.plans.time(plan, signalled); });
            },
            "plan"_a);
}

} // namespace trencadis::python
