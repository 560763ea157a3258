#include "observe/energy/files.hpp"
#include "observe/energy/meters.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

// Meters that are files: powercap's zones, sensors of hwmon, batteries.

namespace trencadis::meters {

namespace {

namespace fs = std::filesystem;

/// A file with a number, and what one of it is in joules, watts or degrees.
class FileMeter final : public Meter {
public:
    FileMeter(fs::path path, double unit) : path_(std::move(path)), unit_(unit) { where = path_.string(); }
    std::optional<double> read() override
    {
        const auto number = number_in(path_);
        return number ? std::optional(*number * unit_) : std::nullopt;
    }

private:
    fs::path path_;
    double unit_;
};

/// The file of a battery that discharges, in watts: some drivers write what goes out with a minus.
class DrawnMeter final : public Meter {
public:
    explicit DrawnMeter(fs::path path) : path_(std::move(path)) { where = path_.string(); }
    std::optional<double> read() override
    {
        const auto microwatts = number_in(path_);
        return microwatts ? std::optional(std::abs(*microwatts) * 1e-6) : std::nullopt;
    }

private:
    fs::path path_;
};

/// Two files whose product is watts, as batteries have them, of which the current may have a minus as well.
class ProductMeter final : public Meter {
public:
    ProductMeter(fs::path volts, fs::path amperes) : volts_(std::move(volts)), amperes_(std::move(amperes))
    {
        where = amperes_.string();
    }
    std::optional<double> read() override
    {
        const auto volts = number_in(volts_), amperes = number_in(amperes_);
        return volts && amperes ? std::optional(std::abs(*volts * *amperes) * 1e-12) : std::nullopt;
    }

private:
    fs::path volts_, amperes_;
};

struct Label {
    std::string source, domain, name;
    MeterKind kind = MeterKind::energy;
    std::string device = {};
};

void add_file(FoundMeters& found, const fs::path& path, double unit, Label label, double range = 0)
{
    int error = 0;
    if (!number_in(path, &error)) {
        found.missing.push_back({label.source, label.name, path.string() + ": " + why_unread(error), label.domain});
        return;
    }
    auto meter = std::make_unique<FileMeter>(path, unit);
    meter->device = std::move(label.device);
    meter->source = std::move(label.source);
    meter->domain = std::move(label.domain);
    meter->name = std::move(label.name);
    meter->kind = label.kind;
    meter->range = range;
    found.meters.push_back(std::move(meter));
}

/// "package-1" -> "package", and so is "package-1-die-0".
std::string without_number(const std::string& name)
{
    if (name.rfind("package-", 0) == 0) return "package";
    const auto dash = name.rfind('-');
    const bool numbered =
        dash != std::string::npos && dash + 1 < name.size() &&
        std::all_of(name.begin() + std::ptrdiff_t(dash) + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
    return numbered ? name.substr(0, dash) : name;
}

/// "intel-rapl:0:1" within "package-0", "dram" -> "package-0/dram".
std::string zone_name(const fs::path& zone, const std::string& own)
{
    const std::string file = zone.filename().string();
    const auto last = file.rfind(':');
    if (last == file.find(':')) return own;
    const auto parent = word_in(zone.parent_path() / file.substr(0, last) / "name");
    return (parent ? *parent : file.substr(0, last)) + "/" + own;
}

} // namespace

void find_powercap(const MeterPlaces& places, FoundMeters& found)
{
    std::set<std::string> seen; // "intel-rapl:..." sorts behind "intel-rapl-mmio:...", which shows the same packages
    std::vector<fs::path> zones = entries_of(places.root / "sys/class/powercap");
    std::stable_partition(zones.begin(), zones.end(),
                          [](const fs::path& zone) { return zone.filename().string().find("-mmio") == std::string::npos; });
    for (const fs::path& zone : zones) {
        const auto own = word_in(zone / "name");
        std::error_code none;
        if (!own || !fs::exists(zone / "energy_uj", none)) continue; // a control type, or a zone that only limits
        const std::string name = zone_name(zone, *own);
        if (!seen.insert(name).second) {
            found.missing.push_back({"powercap", zone.filename().string(), "shows " + name + " again"});
            continue;
        }
        const double range = number_in(zone / "max_energy_range_uj").value_or(0);
        add_file(found, zone / "energy_uj", 1e-6, {"powercap", without_number(*own), name}, range > 0 ? (range + 1) * 1e-6 : 0);
    }
}

namespace {

const std::set<std::string> device_drivers{"amdgpu", "i915", "xe", "nouveau"};
const std::set<std::string> core_drivers{"coretemp", "k10temp", "zenpower", "cpu_thermal"};

std::string domain_of_energy(const std::string& driver, const std::string& label)
{
    if (driver == "amd_energy") return label.rfind("Esocket", 0) == 0 ? "package" : "core";
    return device_drivers.contains(driver) ? "device" : "sensor";
}

std::string domain_of_power(const std::string& driver)
{
    if (driver == "power_meter" || driver == "acpi_power_meter") return "machine";
    return device_drivers.contains(driver) ? "device" : "sensor";
}

/// Sensor number and what is behind it: "energy12_input" -> 12, "input".
std::optional<std::string> number_of(const std::string& file, const std::string& kind, const std::string& what)
{
    if (file.rfind(kind, 0) != 0 || !file.ends_with("_" + what)) return {};
    const std::string number = file.substr(kind.size(), file.size() - kind.size() - what.size() - 1);
    const bool digits = !number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits ? std::optional(number) : std::nullopt;
}

/// Where the chip is on its bus: "0000:03:00.0"; empty where it is on none.
std::string address_of(const fs::path& chip)
{
    std::error_code none;
    const fs::path device = fs::read_symlink(chip / "device", none);
    return none ? std::string() : device.filename().string();
}

/// Does the device's driver show a part of the card beside all of it, as xe does? Then the first one counts.
bool is_part_of_card(const fs::path& chip, const std::string& driver, const std::string& kind, const std::string& number)
{
    std::error_code none;
    return device_drivers.contains(driver) && number != "1" && fs::exists(chip / (kind + "1_input"), none);
}

void add_sensor(FoundMeters& found, const fs::path& chip, const std::string& driver, const fs::path& path)
{
    const std::string file = path.filename().string();
    const auto label = [&](const std::string& stem) { return word_in(chip / (stem + "_label")).value_or(stem); };
    if (const auto number = number_of(file, "energy", "input")) {
        const std::string name = label("energy" + *number);
        const std::string source = driver == "amd_energy" ? driver : "hwmon";
        if (is_part_of_card(chip, driver, "energy", *number))
            found.missing.push_back({source, driver + "/" + name, "is a part of what " + driver + "/energy1 counts"});
        else
            add_file(found, path, 1e-6,
                     {source, domain_of_energy(driver, name), driver + "/" + name, MeterKind::energy, address_of(chip)});
    } else if (const auto power = number_of(file, "power", "average"); power || number_of(file, "power", "input")) {
        const std::string stem = "power" + power.value_or(number_of(file, "power", "input").value_or(""));
        std::error_code none;
        if (!power && fs::exists(chip / (stem + "_average"), none)) return; // the same sensor, which this driver averages as well
        add_file(found, path, 1e-6,
                 {"hwmon", domain_of_power(driver), driver + "/" + label(stem), MeterKind::power, address_of(chip)});
    } else if (const auto degrees = number_of(file, "temp", "input"); degrees && core_drivers.contains(driver)) {
        add_file(found, path, 1e-3, {"hwmon", "temperature", driver + "/" + label("temp" + *degrees), MeterKind::temperature});
    }
}

} // namespace

void find_hwmon(const MeterPlaces& places, FoundMeters& found)
{
    for (const fs::path& chip : entries_of(places.root / "sys/class/hwmon")) {
        const auto driver = word_in(chip / "name");
        if (!driver) continue;
        for (const fs::path& path : entries_of(chip)) add_sensor(found, chip, *driver, path);
    }
}

namespace {

/// Watts of a battery that discharges; null: it says nothing of them.
std::unique_ptr<Meter> battery_at(const fs::path& supply)
{
    if (number_in(supply / "power_now")) return std::make_unique<DrawnMeter>(supply / "power_now");
    if (number_in(supply / "voltage_now") && number_in(supply / "current_now"))
        return std::make_unique<ProductMeter>(supply / "voltage_now", supply / "current_now");
    return nullptr;
}

} // namespace

void find_battery(const MeterPlaces& places, FoundMeters& found)
{
    for (const fs::path& supply : entries_of(places.root / "sys/class/power_supply")) {
        if (word_in(supply / "type") != "Battery") continue;
        const std::string name = supply.filename().string();
        if (word_in(supply / "status") != "Discharging") {
            found.missing.push_back({"battery", name, "the machine does not run on it now"});
        } else if (auto meter = battery_at(supply)) {
            meter->source = meter->domain = "battery";
            meter->name = name;
            meter->kind = MeterKind::power;
            found.meters.push_back(std::move(meter));
        } else {
            found.missing.push_back({"battery", name, "says neither its power nor its current"});
        }
    }
}

} // namespace trencadis::meters
