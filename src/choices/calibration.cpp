#include "choices/calibration.hpp"

#include "base/replaced_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

namespace trencadis::choices {
namespace {

/// Changes with the format and with what the figures mean.
constexpr std::string_view first_words = "trencadis choices, version ", version = "5"; // ratios to another rule
constexpr std::size_t most_bytes = 4 << 20;

/// FNV-1a, 64 bits.
std::uint64_t hash(std::string_view text)
{
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
    return h;
}

std::string text_of(const Owner& owner, const std::vector<Row>& rows)
{
    std::string text = fmt::format("{}{}\nprocessor {}\nkernels {}\nlibrary {}\n", first_words, version, owner.processor,
                                   owner.kernels, owner.library);
    for (const Row& row : rows)
        text += fmt::format("{} {} {} {} {} {} {} {:.6e} {:.6e} {:.6e}\n", row.routine, row.precision, row.m, row.n, row.k,
                            row.workers, row.plan, row.seconds, row.busy, row.joules);
    return text;
}
std::string end_of(std::string_view text, std::size_t rows) { return fmt::format("end {} {:016x}\n", rows, hash(text)); }

/// Seconds or joules of a call.
bool is_amount(double x)
{
    constexpr double most = 1e9;
    return x >= 0 && x <= most;
}
bool is_extent(Index x) { return x >= 0 && x <= std::numeric_limits<std::int32_t>::max(); }

bool read_row(const std::string& line, std::vector<Row>& rows)
{
    std::istringstream words(line);
    Row row;
    std::string more;
    if (!(words >> row.routine >> row.precision >> row.m >> row.n >> row.k >> row.workers >> row.plan >> row.seconds >>
          row.busy >> row.joules) ||
        words >> more)
        return false;
    constexpr Seconds least = 1e-9;
    const bool sound = row.m > 0 && row.n > 0 && is_extent(row.m) && is_extent(row.n) && is_extent(row.k) && row.workers > 0 &&
                       is_amount(row.seconds) && row.seconds >= least && is_amount(row.busy) && is_amount(row.joules) &&
                       std::string_view("sdcz").find(row.precision) != std::string_view::npos;
    if (sound) rows.push_back(row);
    return sound;
}

} // namespace

std::string contents(const std::filesystem::path& file)
{
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error) || std::filesystem::file_size(file, error) > most_bytes || error)
        return {};
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

Calibration Calibration::read(const std::filesystem::path& file, const Owner& owner)
{
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return {};
    const std::string text = contents(file);
    const auto unusable = [](std::string why) { return Calibration{{}, std::move(why)}; };
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || !line.starts_with(first_words)) return unusable("is torn");
    if (line.substr(first_words.size()) != version) return unusable("is of another version of its format");
    const std::size_t last = text.rfind("\nend ");
    if (last == std::string::npos) return unusable("is torn");
    const std::string_view body = std::string_view(text).substr(0, last + 1);
    Owner its;
    for (auto [key, value] : {std::pair("processor ", &its.processor), {"kernels ", &its.kernels}, {"library ", &its.library}}) {
        if (!std::getline(lines, line) || !line.starts_with(key)) return unusable("is torn");
        *value = line.substr(std::strlen(key));
    }
    Calibration made;
    while (std::getline(lines, line) && !line.starts_with("end "))
        if (!read_row(line, made.rows)) return unusable("is torn");
    if (text.substr(last + 1) != end_of(body, made.rows.size())) return unusable("is torn");
    if (its.processor != owner.processor) return unusable("is of another processor");
    if (its != owner) return unusable("is of another version of the library or its kernels");
    return made;
}

std::string write_calibration(const std::filesystem::path& file, const Owner& owner, const std::vector<Row>& rows, bool durably)
{
    const std::string text = text_of(owner, rows);
    const int failure = replace_file(file, text + end_of(text, rows.size()), durably);
    if (!failure) return {};
    return fmt::format("{} cannot be written: {}", file.string(), std::generic_category().message(failure));
}

} // namespace trencadis::choices
