#include "drivers/device_room.hpp"

#include "algorithms/tile_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace trencadis {
namespace {

std::string size_text(Bytes bytes) { return fmt::format("{:.0f}KiB", std::ceil(bytes / 1024)); }

/// Of the largest task that devices take, with the tiles that the problem has or would be cut into.
Bytes task_bytes(const Cutters& by, const Form& form, Problem problem, std::size_t element_bytes)
{
    if (form.cuts && problem.nb == 0 && problem.cut.rows == 0) {
        const Index nb = form.tile(problem.m, problem.n, element_bytes, by.workers);
        problem.cut = {nb, nb, problem.k ? depth_tile(problem.k, element_bytes) : nb};
    }
    return form.device_bytes(problem, element_bytes);
}

/// The largest tiles with which a device has room for one task, of which three tiles are the least; a multiple of 8, or 0.
Index largest_tile(const Form& form, Problem problem, Bytes room, std::size_t element_bytes)
{
    problem.cut = {};
    problem.nb = static_cast<Index>(std::sqrt(room / (3 * double(element_bytes)))) / 8 * 8;
    while (problem.nb > 0 && form.device_bytes(problem, element_bytes) > room) problem.nb -= 8;
    return problem.nb;
}

} // namespace

void fit_devices(Problem& problem, const Form& form, const Cutters& by, bool asked, std::size_t element_bytes)
{
    constexpr Index least = 64;
    const Bytes room = by.device_bytes;
    if (room == 0 || !form.device_bytes || task_bytes(by, form, problem, element_bytes) <= room) return;
    if (problem.nb > 0 && std::max(problem.m, problem.n) <= problem.nb) return;
    const Index most = largest_tile(form, problem, room, element_bytes);
    if (!asked) {
        problem.nb = std::max(most, least);
        problem.cut = {};
        if (most >= least) return;
    }
    const Bytes needed = form.device_bytes(problem, element_bytes);
    throw NoRoomThere(ErrorCode::bad_argument,
                      fmt::format("a device's memory of {} is less than the operands of one task with tiles of {}, which are {}: "
                                  "give memory={} or more{}{}",
                                  size_text(room), problem.nb, size_text(needed), size_text(needed),
                                  by.arrays ? " beside what arrays have taken there" : "",
                                  most >= 1 && asked ? fmt::format(", or tiles of {}", most) : ""));
}

Index tile_of(const Form& form, Index n, std::size_t element_bytes, const Cutters& by)
{
    const Index nb = std::clamp<Index>(form.tile(n, n, element_bytes, by.sharing()), 1, std::max<Index>(n, 1));
    Problem problem{.m = n, .n = n, .k = form.cuts ? n : 0, .nb = form.cuts ? 0 : nb};
    fit_devices(problem, form, by, false, element_bytes);
    return problem.nb > 0 ? problem.nb : nb;
}

} // namespace trencadis
