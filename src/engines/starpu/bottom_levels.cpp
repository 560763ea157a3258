#include "engines/starpu/bottom_levels.hpp"

#include <algorithm>
#include <unordered_map>

namespace trencadis {

std::vector<double> bottom_levels(std::span<const std::unique_ptr<OwnTask>> tasks, double flops_per_second)
{
    struct Ahead {
        double writer = 0, readers = 0; ///< the levels of the next writer, and of those that read before it
    };
    std::unordered_map<const void*, Ahead> data;
    std::vector<double> levels(tasks.size());
    for (std::size_t t = tasks.size(); t-- > 0;) {
        double longest = 0;
        tasks[t]->for_each_datum([&](const Datum& datum, AccessMode mode) {
            const Ahead& ahead = data[datum.address];
            longest = std::max(longest, is_writing(mode) ? std::max(ahead.writer, ahead.readers) : ahead.writer);
        });
        levels[t] = longest + tasks[t]->flops() / flops_per_second;
        tasks[t]->for_each_datum([&](const Datum& datum, AccessMode mode) {
            Ahead& ahead = data[datum.address];
            if (is_writing(mode)) ahead = {levels[t], 0};
            else ahead.readers = std::max(ahead.readers, levels[t]);
        });
    }
    return levels;
}

} // namespace trencadis
