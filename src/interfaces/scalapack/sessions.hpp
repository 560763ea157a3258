#pragma once
#include "base/types.hpp"
#include "interfaces/scalapack/descriptor.hpp"
#include "session/session.hpp"

namespace trencadis::scalapack {

/// The session of the processes of a grid, on the engine 'starpu-mpi'; null where there can be none. Called by all of them. It
/// lasts as long as the grid, or MPI.
Session* session_of(const Grid& grid);

/// Is a call of so many flops worth the engine, on matrices where they are or on copies? The same answer on all processes. With
/// TRENCADIS_TILE everything is.
bool wants_engine(Flops flops, bool in_place);

/// Does the engine compute on blocks of that size where they are? And the size of those of copies of matrices of order n.
bool suits_engine(int nb);
int engine_block(int n);

} // namespace trencadis::scalapack
