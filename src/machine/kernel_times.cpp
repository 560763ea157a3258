#include "machine/kernel_times.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace trencadis {

namespace {

std::vector<std::string_view> members(std::string_view unit)
{
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= unit.size();) {
        const std::size_t end = std::min(unit.find('+', begin), unit.size());
        parts.push_back(unit.substr(begin, end - begin));
        begin = end + 1;
    }
    std::sort(parts.begin(), parts.end());
    return parts;
}

bool same_unit(std::string_view a, std::string_view b)
{
    return a == b || (a.size() == b.size() && a.find('+') != std::string_view::npos && members(a) == members(b));
}

/// That of the precision, else that of double.
const KernelTime* entry(const Machine& machine, std::string_view kernel, std::string_view unit, char precision)
{
    const KernelTime* of_double = nullptr;
    for (const KernelTime& time : machine.kernels)
        if (time.kernel == kernel && same_unit(time.on, unit)) {
            if (time.precision == precision) return &time;
            if (time.precision == 0) of_double = &time;
        }
    return of_double;
}

/// Names by which find_kernel finds what the chosen cores and devices can do, each once.
std::vector<std::string> units_of(const Machine& machine, std::span<const int> cores, std::span<const int> devices)
{
    std::vector<std::string> units;
    std::set<int> kinds;
    for (const int core : cores) kinds.insert(machine.cores[core].kind);
    for (const int kind : kinds) units.push_back(machine.kinds[kind].name);
    for (const int device : devices) units.push_back(machine.devices[device].name);
    return units;
}

/// "file:line" behind which a kernel's entry belongs.
std::string place_to_add(const Machine& machine)
{
    int line = 0;
    for (const KernelTime& time : machine.kernels) line = std::max(line, time.line);
    return fmt::format("{}:{}", machine.origin.empty() ? machine.name : machine.origin, std::max(line, 1));
}

bool can(const Machine& machine, std::string_view kernel, std::span<const std::string> units)
{
    return std::any_of(units.begin(), units.end(), [&](const std::string& unit) { return find_kernel(machine, kernel, unit); });
}

/// Kernels that are as fast as another one, which serves where a machine does not tell their own time: small operations on a
/// diagonal tile, copies and interchanges of rows, the two products with a triangle, those with a symmetric matrix, updates of
/// rank 2k, updates of whole columns, QR of two triangles, panels of QR and of LU, which are bound by memory alike, reflectors
/// applied by blocks, and what a tall QR is made of.
constexpr std::pair<std::string_view, std::string_view> resembling[] = {{"trtri", "potrf"},
                                                                        {"lauum", "potrf"},
                                                                        {"copy", "laswp"},
                                                                        {"trmm", "trsm"},
                                                                        {"symm", "gemm"},
                                                                        {"hemm", "gemm"},
                                                                        {"syr2k", "syrk"},
                                                                        {"her2k", "herk"},
                                                                        {"lu_update", "gemm"},
                                                                        {"getrf_nopiv", "getrf"},
                                                                        {"tournament", "getrf_panel"},
                                                                        {"ttqrt", "tsqrt"},
                                                                        {"ttmqr", "tsmqr"},
                                                                        {"geqrf_panel", "getrf_panel"},
                                                                        {"gelqf_panel", "geqrf_panel"},
                                                                        {"larft", "geqrf_panel"},
                                                                        {"keep", "geqrf_panel"},
                                                                        {"larfb", "unmqr"},
                                                                        {"gram_qr", "syrk"},
                                                                        {"reflect_block", "syrk"},
                                                                        {"begin_q", "gemm"},
                                                                        {"reconstruct_head", "getrf_nopiv"},
                                                                        {"reconstruct_block", "gemm"}};

} // namespace

const KernelTime* find_kernel(const Machine& machine, std::string_view kernel, std::string_view unit, char precision)
{
    if (const KernelTime* own = entry(machine, kernel, unit, precision)) return own;
    for (const Device& device : machine.devices)
        if (device.name == unit)
            if (const KernelTime* of_kind = entry(machine, kernel, device.kind, precision)) return of_kind;
    for (const auto& [name, like] : resembling)
        if (name == kernel) return find_kernel(machine, like, unit, precision);
    return nullptr;
}

const KernelTime* find_kernel(const Machine& machine, const KernelKey& key)
{
    const char precision = key.precision == 'd' ? 0 : key.precision;
    if (const KernelTime* own = entry(machine, key.codelet, key.unit, precision)) return own;
    return find_kernel(machine, std::string_view(key.codelet).substr(0, key.codelet.find('.')), key.unit, precision);
}

std::vector<std::string> missing_kernels(const Machine& machine, std::span<const std::string_view> names,
                                         std::span<const int> cores, std::span<const int> devices)
{
    const auto units = units_of(machine, cores, devices);
    std::vector<std::string> missing;
    for (const std::string_view name : names)
        if (!can(machine, name, units)) missing.emplace_back(name);
    return missing;
}

std::vector<std::string> missing_kernels(const Machine& machine, std::span<const std::string_view> names)
{
    std::vector<int> cores, devices;
    for (int c = 0; c < static_cast<int>(machine.cores.size()); ++c)
        if (std::none_of(machine.devices.begin(), machine.devices.end(), [&](const Device& d) { return d.host_core == c; }))
            cores.push_back(c);
    for (int d = 0; d < static_cast<int>(machine.devices.size()); ++d) devices.push_back(d);
    return missing_kernels(machine, names, cores, devices);
}

void require_kernels(const Machine& machine, std::span<const std::string_view> names, std::span<const int> cores,
                     std::span<const int> devices)
{
    const auto units = units_of(machine, cores, devices);
    if (const auto missing = missing_kernels(machine, names, cores, devices); !missing.empty())
        throw Error(ErrorCode::bad_argument,
                    fmt::format("{}: no time for the kernel{} '{}' on any of the units in use ({}); add [[kernels]] with "
                                "kernel = \"{}\", on = \"{}\" and gflops, or ms and flops",
                                place_to_add(machine), missing.size() == 1 ? "" : "s", fmt::join(missing, "', '"),
                                fmt::join(units, ", "), missing.front(), units.empty() ? "" : units.front()));
    for (const std::string& unit : units) {
        if (std::any_of(names.begin(), names.end(), [&](std::string_view name) { return find_kernel(machine, name, unit); }))
            continue;
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("{}: '{}' would be a worker that no task of this graph has a time for (its kernels: {}); add [[kernels]] "
                        "with on = \"{}\", or leave it out of the workers",
                        place_to_add(machine), unit, fmt::join(names, ", "), unit));
    }
}

} // namespace trencadis
