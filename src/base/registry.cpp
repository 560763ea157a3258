#include "base/registry.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace trencadis {

namespace {

std::string lower_case(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

} // namespace

int edit_distance(std::string_view a, std::string_view b)
{
    std::vector<int> before, row(b.size() + 1), next(b.size() + 1); // rows i - 2, i - 1 and i of the table
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        next[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) next[j] = std::min(next[j], before[j - 2] + 1);
        }
        before = std::exchange(row, next);
    }
    return row[b.size()];
}

std::string_view meant_name(std::string_view given, std::span<const std::string_view> known)
{
    const std::string word = lower_case(given);
    const std::size_t most = std::max<std::size_t>(word.size(), 3) / 3;
    std::string_view meant;
    std::size_t least = most + 1;
    for (const std::string_view name : known)
        if (const auto edits = static_cast<std::size_t>(edit_distance(word, lower_case(name))); edits < least) {
            least = edits;
            meant = name;
        }
    if (!meant.empty() || word.size() < 3) return meant;
    for (const std::string_view name : known)
        if (lower_case(name).find(word) != std::string::npos) return name;
    return {};
}

std::string unknown_name(std::string_view what, std::string_view given, std::span<const std::string_view> known)
{
    std::string message = "unknown ";
    message.append(what).append(" '").append(given).append("'");
    if (const std::string_view meant = meant_name(given, known); !meant.empty())
        message.append("; did you mean '").append(meant).append("'?");
    message.append(" (known:");
    for (const auto name : known) message.append(" ").append(name);
    return message.append(")");
}

} // namespace trencadis
