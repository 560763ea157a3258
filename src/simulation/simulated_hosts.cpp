#include "simulation/simulated_hosts.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <string>

namespace trencadis {
namespace {

TileOwners squarest(const TileOwners& asked, int hosts)
{
    TileOwners owners = asked;
    if (asked.rule == TileOwners::Rule::symmetric) {
        int r = 2;
        while ((r + 1) * r / 2 <= hosts) ++r;
        owners.grid_rows = owners.grid_cols = static_cast<std::int16_t>(r);
        return owners;
    }
    int rows = 1;
    for (int r = 1; r * r <= hosts; ++r)
        if (hosts % r == 0) rows = r;
    owners.grid_rows = static_cast<std::int16_t>(rows);
    owners.grid_cols = static_cast<std::int16_t>(hosts / rows);
    return owners;
}

} // namespace

TileOwners owners_on(const Machine& machine, const TileOwners& asked)
{
    const auto refuse = [](const std::string& message) { throw Error(ErrorCode::bad_argument, message); };
    const bool asks = asked.grid_rows != 0 || asked.rule != TileOwners::Rule::block_cyclic;
    if (!machine.network) {
        if (asks)
            refuse(
                fmt::format("a grid of hosts was given, and {} is no machine of many hosts, which has [[hosts]] and a [network]",
                            machine.name));
        return {};
    }
    const int hosts = static_cast<int>(machine.nodes.size());
    if (asked.grid_rows == 0) return squarest(asked, hosts);
    const std::string grid = fmt::format("grid {}x{}", asked.grid_rows, asked.grid_cols);
    if (asked.grid_rows < 1 || asked.grid_cols < 1) refuse(grid + " has no hosts; both numbers must be at least 1");
    if (asked.rule == TileOwners::Rule::symmetric && (asked.grid_rows != asked.grid_cols || asked.grid_rows < 2))
        refuse(grid + " is not RxR with R of at least 2, as the symmetric distribution over R (R - 1) / 2 hosts needs it");
    const int needed = asked.rule == TileOwners::Rule::symmetric ? asked.grid_rows * (asked.grid_rows - 1) / 2
                                                                 : asked.grid_rows * asked.grid_cols;
    if (needed > hosts) refuse(fmt::format("{} needs {} hosts, and {} has {}", grid, needed, machine.name, hosts));
    return asked;
}

} // namespace trencadis
