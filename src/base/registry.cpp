#include "base/registry.hpp"

#include <algorithm>
#include <vector>

namespace trencadis {

int edit_distance(std::string_view a, std::string_view b)
{
    std::vector<int> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int substitute = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
        }
    }
    return row[b.size()];
}

std::string unknown_name(std::string_view what, std::string_view given, std::span<const std::string_view> known)
{
    std::string message = "unknown ";
    message.append(what).append(" '").append(given).append("'");
    const auto nearest = std::min_element(known.begin(), known.end(),
                                          [&](auto x, auto y) { return edit_distance(given, x) < edit_distance(given, y); });
    if (nearest != known.end()) message.append("; did you mean '").append(*nearest).append("'?");
    message.append(" (known:");
    for (const auto name : known) message.append(" ").append(name);
    return message.append(")");
}

} // namespace trencadis
