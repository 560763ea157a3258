#include "bind.hpp"
#include "observe/energy/sampler.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

// Meters of energy, and what they read beside a run. Times are those of time.perf_counter, which is CLOCK_MONOTONIC.

namespace nb = nanobind;
using namespace nb::literals;

namespace trencadis::python {
namespace {

const char* name_of(MeterKind kind)
{
    return kind == MeterKind::energy ? "energy" : kind == MeterKind::power ? "power" : "temperature";
}

std::int64_t nanoseconds(double seconds)
{
    if (!std::isfinite(seconds) || std::abs(seconds) > 9e9) throw std::invalid_argument("a time is not a number of seconds");
    return std::int64_t(seconds * 1e9);
}

class EnergyMeters {
public:
    EnergyMeters(const std::string& root, double probe_s)
    {
        nb::gil_scoped_release others_run;
        MeterPlaces places;
        if (!root.empty()) places.root = root;
        found_ = find_meters(places);
        if (probe_s > 0) keep_those_that_move(found_, probe_s);
    }

    nb::list list() const
    {
        nb::list rows;
        for (const auto& meter : found_.meters) {
            nb::dict row;
            row["source"] = meter->source;
            row["domain"] = meter->domain;
            row["name"] = meter->name;
            row["kind"] = name_of(meter->kind);
            row["where"] = meter->where;
            rows.append(row);
        }
        return rows;
    }
    nb::list missing() const
    {
        nb::list rows;
        for (const MissingMeter& one : found_.missing) {
            nb::dict row;
            row["source"] = one.source;
            row["name"] = one.name;
            row["why"] = one.why;
            rows.append(row);
        }
        return rows;
    }
    void start(double period_s)
    {
        if (sampler_) throw std::runtime_error("the meters are being read already");
        nb::gil_scoped_release others_run;
        sampler_ = std::make_unique<MeterSampler>(found_.meters, period_s);
    }
    MeterRecord so_far()
    {
        if (!sampler_) throw std::runtime_error("the meters are not being read");
        nb::gil_scoped_release others_run;
        return sampler_->so_far();
    }
    MeterRecord stop()
    {
        if (!sampler_) throw std::runtime_error("the meters are not being read");
        nb::gil_scoped_release others_run;
        MeterRecord record = sampler_->stop();
        sampler_.reset();
        return record;
    }

private:
    FoundMeters found_;
    std::unique_ptr<MeterSampler> sampler_;
};

nb::list between(const MeterRecord& record, double begin, double end)
{
    nb::list rows;
    for (const DomainEnergy& one : energy_between(record.series, nanoseconds(begin), nanoseconds(end))) {
        nb::dict row;
        row["domain"] = one.domain;
        row["source"] = one.source;
        row["joules"] = one.joules;
        row["why"] = one.why;
        row["inside"] = one.inside;
        rows.append(row);
    }
    return rows;
}

nb::list series_of(const MeterRecord& record)
{
    nb::list rows;
    for (const MeterSeries& one : record.series) {
        std::vector<std::tuple<double, double>> readings;
        for (const Reading& reading : one.readings) readings.emplace_back(double(reading.time_ns) * 1e-9, reading.value);
        nb::dict row;
        row["source"] = one.source;
        row["domain"] = one.domain;
        row["name"] = one.name;
        row["kind"] = name_of(one.kind);
        row["lost"] = one.lost;
        row["readings"] = readings;
        rows.append(row);
    }
    return rows;
}

} // namespace

void bind_energy(nb::module_& m)
{
    nb::class_<MeterRecord>(m, "MeterRecord")
        .def_ro("period_s", &MeterRecord::period_s)
        .def_ro("reading_s", &MeterRecord::reading_s)
        .def_ro("rounds", &MeterRecord::rounds)
        .def("between", &between, "begin"_a, "end"_a)
        .def("series", &series_of);
    nb::class_<EnergyMeters>(m, "EnergyMeters")
        .def(nb::init<const std::string&, double>(), "root"_a = "", "probe_s"_a = 0.3)
        .def("list", &EnergyMeters::list)
        .def("missing", &EnergyMeters::missing)
        .def("start", &EnergyMeters::start, "period_s"_a = 0.01)
        .def("so_far", &EnergyMeters::so_far)
        .def("stop", &EnergyMeters::stop);
}

} // namespace trencadis::python
