#include "scheduling/options.hpp"

#include "base/error.hpp"
#include "base/registry.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <utility>

namespace trencadis {

namespace {

std::vector<std::string_view> split(std::string_view text, char at)
{
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool is_count(std::string_view value)
{
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc() && end == value.data() + value.size() && number >= 0;
}

void check_value(std::string_view scheduler, const Parameter& parameter, std::string_view value)
{
    const std::string_view values = parameter.values;
    if (values == "text") return;
    const std::string what = "scheduler '" + std::string(scheduler) + "': " + parameter.name + "=" + std::string(value);
    if (values == "count") {
        if (!is_count(value)) throw Error(ErrorCode::bad_argument, what + ", must be a whole number of at least 0");
        return;
    }
    const auto known = split(values, '|');
    if (std::find(known.begin(), known.end(), value) == known.end())
        throw Error(ErrorCode::bad_argument, what + ", must be one of " + std::string(values));
}

} // namespace

void SchedulerOptions::set(std::string_view scheduler, std::string_view key, std::string_view value)
{
    const auto parameter =
        std::find_if(parameters_.begin(), parameters_.end(), [key](const Parameter& p) { return key == p.name; });
    if (parameter == parameters_.end()) {
        std::vector<std::string_view> known;
        for (const Parameter& p : parameters_) known.push_back(p.name);
        known.insert(known.end(), {"throttle", "dependences"});
        throw Error(ErrorCode::bad_argument, unknown_name("option of scheduler '" + std::string(scheduler) + "'", key, known));
    }
    check_value(scheduler, *parameter, value);
    const auto before = std::find_if(given_.begin(), given_.end(), [key](const Given& given) { return given.key == key; });
    if (before != given_.end())
        throw Error(ErrorCode::bad_argument,
                    "scheduler '" + std::string(scheduler) + "': " + std::string(key) + " is given twice");
    given_.push_back({std::string(key), std::string(value)});
}

bool SchedulerOptions::has(std::string_view key) const
{
    return std::any_of(parameters_.begin(), parameters_.end(), [key](const Parameter& p) { return key == p.name; });
}

bool SchedulerOptions::given(std::string_view key) const
{
    return std::any_of(given_.begin(), given_.end(), [key](const Given& given) { return given.key == key; });
}

void SchedulerOptions::assign(std::string_view key, std::string value)
{
    assert(has(key));
    std::erase_if(given_, [key](const Given& given) { return given.key == key; });
    given_.push_back({std::string(key), std::move(value)});
}

std::string_view SchedulerOptions::text(std::string_view key) const
{
    for (const Given& given : given_)
        if (given.key == key) return given.value;
    for (const Parameter& parameter : parameters_)
        if (key == parameter.name) return parameter.standard;
    assert(!"a policy asks for an option it did not declare");
    return "";
}

std::int64_t SchedulerOptions::count(std::string_view key) const
{
    const std::string_view value = text(key);
    std::int64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
}

} // namespace trencadis
