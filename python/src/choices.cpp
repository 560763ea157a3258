#include "choices/calibration.hpp"

#include "base/registry.hpp"
#include "bind.hpp"
#include "call.hpp"
#include "choices/chooser.hpp"
#include "choices/device_choice.hpp"
#include "drivers/crew.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/timed_plans.hpp"
#include "kernels/providers/provider.hpp"
#include "session/session_choices.hpp"

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
    return row;
}

nb::list expected_of(const Chooser& chooser, int workers, const Call& call)
{
    nb::list rows;
    for (const Expected& expected : chooser.consider(call)) {
        nb::dict row = described(workers, call, expected.plan);
        row["seconds"] = expected.seconds;
        row["against"] = expected.against;
        row["nearest"] = expected.nearest;
        row["chosen"] = expected.chosen;
        rows.append(row);
    }
    return rows;
}

nb::list consider(const Session& session, const std::string& routine, const std::string& precision, Index m, Index n, Index k)
{
    const Crew& crew = session;
    const Call call = call_of(routine, precision, m, n, k);
    return session.chooser() ? expected_of(*session.chooser(), crew.workers(), call) : nb::list();
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
    all["path"] = path();
    all["trouble"] = calibration.trouble;
    all["rows"] = rows;
    return all;
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

/// Choices of a machine that is not this one, from what was simulated of it.
struct Elsewhere {
    Elsewhere(const nb::list& rows, int workers_) : workers(workers_), chooser(rows_of(rows), workers_, true, Objective::time) {}
    int workers;
    Chooser chooser;
};

struct Timed {
    Timed(Session& session, const Call& of) : call(of), plans(session, of) {}
    Call call;
    TimedPlans plans;
};

void bind_elsewhere(nb::module_& m)
{
    nb::class_<Elsewhere>(m, "ChoicesElsewhere", "What would be chosen on another machine, by rows as of a calibration.")
        .def(nb::init<const nb::list&, int>(), "rows"_a, "workers"_a)
        .def(
            "considered",
            [](const Elsewhere& self, const std::string& routine, const std::string& precision, Index m, Index n, Index k) {
                return expected_of(self.chooser, self.workers, call_of(routine, precision, m, n, k));
            },
            "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a)
        .def(
            "plans",
            [](const Elsewhere& self, const std::string& routine, const std::string& precision, Index m, Index n, Index k) {
                return words_of(plans_for(call_of(routine, precision, m, n, k), self.workers, true));
            },
            "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a)
        .def(
            "described",
            [](const Elsewhere& self, const std::string& plan, const std::string& routine, const std::string& precision, Index m,
               Index n, Index k) {
                const Call call = call_of(routine, precision, m, n, k);
                return described(self.workers, call, plan_of(call, plan));
            },
            "plan"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a);
}

} // namespace

void bind_choices(nb::module_& m)
{
    m.def("considered", &consider, "session"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a);
    m.def("foreseen", &foreseen, "session"_a, "routine"_a, "precision"_a, "m"_a, "n"_a, "k"_a);
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
