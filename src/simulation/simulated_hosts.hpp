#pragma once
#include "machine/machine.hpp"
#include "matrix/tile_owners.hpp"

namespace trencadis {

/// Who holds which tile on a cluster where `asked` leaves that open: of the block-cyclic rule the grid with least difference
/// between its sides, of the symmetric rule the largest that the hosts suffice for. Throws Error{bad_argument} where the machine
/// has no network, or fewer hosts than `asked` names.
TileOwners owners_on(const Machine& machine, const TileOwners& asked);

} // namespace trencadis
