#include "machine/toml_table.hpp"

#include "base/error.hpp"
#include "base/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace trencadis {

namespace {

constexpr int largest_integer = 1'000'000;

std::string shown(const toml::node& node)
{
    std::ostringstream stream;
    node.visit([&](const auto& value) { stream << toml::default_formatter(value, toml::format_flags::quote_dates_and_times); });
    std::string text = stream.str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

/// Empty where none is near.
std::string_view meant(std::string_view given, const std::vector<std::string>& names)
{
    const std::vector<std::string_view> known(names.begin(), names.end());
    return meant_name(given, known);
}

void add_figures(const toml::table& table, const std::string& before, std::vector<std::string>& found)
{
    for (const auto& [key, value] : table) {
        const std::string within = fmt::format("{}.", key.str());
        if (const toml::table* one = value.as_table()) add_figures(*one, within, found);
        else if (value.is_array_of_tables())
            for (const toml::node& each : *value.as_array()) add_figures(*each.as_table(), within, found);
        else found.push_back(fmt::format("{}{}", before, key.str()));
    }
}

} // namespace

TomlTable::TomlTable(const toml::table& table, std::string_view file, std::string what)
    : table_(&table), file_(file), what_(std::move(what))
{
}

void TomlTable::complain(std::string_view key, const std::string& message) const
{
    const toml::node* node = table_->get(key);
    const auto line = (node ? node->source() : table_->source()).begin.line;
    std::string text = fmt::format("{}:{}: {}", file_, std::max(line, toml::source_index{1}), message);
    // A name in the file may hold line ends and the like, written as escapes; a message is one line.
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    throw Error(ErrorCode::bad_argument, text);
}

void TomlTable::wrong_type(std::string_view key, const toml::node& node, std::string_view wanted) const
{
    complain(key, fmt::format("{} of {} is {}; it must be {}", key, what_, shown(node), wanted));
}

const toml::node* TomlTable::find(std::string_view key)
{
    known_.emplace_back(key);
    return table_->get(key);
}

const toml::node& TomlTable::require(std::string_view key, std::string_view wanted)
{
    const toml::node* node = find(key);
    if (!node) complain(key, fmt::format("{} has no {}; it must have one, {}", what_, key, wanted));
    return *node;
}

bool TomlTable::has(std::string_view key) { return find(key) != nullptr; }

std::string TomlTable::text(std::string_view key)
{
    const toml::node& node = require(key, "a text in quotes");
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) wrong_type(key, node, "a text in quotes, not empty");
    return *value;
}

std::string TomlTable::text_or(std::string_view key, std::string_view absent)
{
    const toml::node* node = find(key);
    if (!node) return std::string(absent);
    const auto value = node->value_exact<std::string>();
    if (!value) wrong_type(key, *node, "a text in quotes");
    return *value;
}

double TomlTable::number_from(std::string_view key, std::string_view least, bool zero)
{
    const toml::node& node = require(key, fmt::format("a number, {}", least));
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value) || *value < 0 || (*value == 0 && !zero))
        wrong_type(key, node, fmt::format("a finite number, {}", least));
    return *value;
}

double TomlTable::number(std::string_view key) { return number_from(key, "0 or more", true); }

double TomlTable::positive(std::string_view key) { return number_from(key, "above 0", false); }

double TomlTable::number_or(std::string_view key, double absent) { return has(key) ? number(key) : absent; }

Index TomlTable::integer(std::string_view key, Index least)
{
    const std::string wanted = fmt::format("a whole number, {} or more", least);
    const toml::node& node = require(key, wanted);
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < least || *value > largest_integer) wrong_type(key, node, wanted + " (at most 1000000)");
    return *value;
}

Index TomlTable::integer_or(std::string_view key, Index absent, Index least) { return has(key) ? integer(key, least) : absent; }

double TomlTable::positive_or(std::string_view key, double absent) { return has(key) ? positive(key) : absent; }

int TomlTable::line() const { return static_cast<int>(std::max(table_->source().begin.line, toml::source_index{1})); }

namespace {

/// "0-3,7" as numbers; none when it is not written so.
std::optional<std::vector<int>> parse_ranges(std::string_view text)
{
    std::vector<int> values;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        int first = 0, last = 0;
        auto read = std::from_chars(at, end, first);
        if (read.ec != std::errc{} || first < 0 || first > largest_integer) return std::nullopt;
        last = first;
        if (read.ptr != end && *read.ptr == '-') {
            read = std::from_chars(read.ptr + 1, end, last);
            if (read.ec != std::errc{} || last < first || last > largest_integer) return std::nullopt;
        }
        for (int value = first; value <= last; ++value) values.push_back(value);
        if (values.size() > largest_integer) return std::nullopt;
        if (read.ptr == end) return values;
        if (*read.ptr != ',') return std::nullopt;
        at = read.ptr + 1;
    }
}

} // namespace

std::vector<int> TomlTable::integers(std::string_view key, const toml::node& node, const std::string& wanted) const
{
    if (const auto text = node.value_exact<std::string>()) {
        const auto values = parse_ranges(*text);
        if (!values) wrong_type(key, node, wanted);
        return *values;
    }
    const toml::array* array = node.as_array();
    if (!array || array->empty()) wrong_type(key, node, wanted);
    std::vector<int> values;
    for (const toml::node& element : *array) {
        const auto value = element.value_exact<std::int64_t>();
        if (!value || *value < 0 || *value > largest_integer) wrong_type(key, element, wanted);
        values.push_back(static_cast<int>(*value));
    }
    return values;
}

std::vector<int> TomlTable::indices(std::string_view key, int count)
{
    const std::string wanted = fmt::format("different numbers from 0 to {}, as a list or as \"0-3,7\"", count - 1);
    const toml::node& node = require(key, wanted);
    const std::vector<int> values = integers(key, node, wanted);
    std::vector<bool> seen(count, false);
    for (const int value : values) {
        if (value >= count || seen[value]) wrong_type(key, node, wanted);
        seen[value] = true;
    }
    return values;
}

std::vector<int> TomlTable::counts(std::string_view key)
{
    const std::string wanted = "a list of whole numbers, each 1 or more, such as [16, 4]";
    const toml::node& node = require(key, wanted);
    if (!node.as_array()) wrong_type(key, node, wanted);
    const std::vector<int> values = integers(key, node, wanted);
    for (const int value : values)
        if (value < 1) wrong_type(key, node, wanted);
    return values;
}

std::optional<TomlTable> TomlTable::table(std::string_view key)
{
    const toml::node* node = find(key);
    if (!node) return {};
    if (!node->is_table()) wrong_type(key, *node, fmt::format("a table, written [{}]", key));
    return TomlTable(*node->as_table(), file_, fmt::format("[{}]", key));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key)
{
    const toml::node* node = find(key);
    if (!node) return {};
    const toml::array* array = node->as_array();
    if (!array) wrong_type(key, *node, fmt::format("a list of tables, written [[{}]]", key));
    std::vector<TomlTable> tables;
    for (const toml::node& element : *array) {
        if (!element.is_table()) wrong_type(key, element, fmt::format("a list of tables, written [[{}]]", key));
        tables.emplace_back(*element.as_table(), file_, fmt::format("[[{}]] number {}", key, tables.size() + 1));
    }
    return tables;
}

int TomlTable::number_of(std::string_view name, std::string_view key, const std::vector<std::string>& names,
                         std::string_view kind_of_thing) const
{
    const auto place = std::find(names.begin(), names.end(), name);
    if (place != names.end()) return static_cast<int>(place - names.begin());
    const std::string_view near = meant(name, names);
    complain(key, fmt::format("{} of {} is '{}', but no {} has that name; {}", key, what_, name, kind_of_thing,
                              near.empty() ? fmt::format("the names are {}", fmt::join(names, ", "))
                                           : fmt::format("the nearest is '{}'", near)));
}

int TomlTable::one_of(std::string_view key, const std::vector<std::string>& names, std::string_view kind_of_thing)
{
    return number_of(text(key), key, names, kind_of_thing);
}

void TomlTable::listed(std::string_view key, const std::vector<std::string>& names, std::string_view kind_of_thing)
{
    const std::string given = text(key);
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
        end = given.find(',', begin);
        std::string_view name = std::string_view(given).substr(begin, end - begin);
        name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
        number_of(name.substr(0, name.find_last_not_of(' ') + 1), key, names, kind_of_thing);
    }
}

std::vector<std::string> TomlTable::figures() const
{
    std::vector<std::string> found;
    add_figures(*table_, "", found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void TomlTable::finish() const
{
    for (const auto& [key, value] : *table_) {
        const std::string_view name = key.str();
        if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
        std::string keys;
        for (const std::string& known : known_)
            if (keys.find(known) == std::string::npos) keys += " " + known;
        const std::string_view near = meant(name, known_);
        complain(name, fmt::format("{} has no key '{}'{} (known:{})", what_, name,
                                   near.empty() ? "" : fmt::format("; did you mean '{}'?", near), keys));
    }
}

} // namespace trencadis
