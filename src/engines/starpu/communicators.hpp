#pragma once
#include "base/error.hpp"

#include <mpi.h>

namespace trencadis {

/// Open MPI's communicators are addresses: one that was freed, or is of another MPI, must not be looked into. Those that live are
/// in its table.
inline bool is_communicator(MPI_Comm comm)
{
    constexpr MPI_Fint most = 1 << 16; // Open MPI's contexts have 16 bits
    for (MPI_Fint number = 0; number < most; ++number)
        if (MPI_Comm_f2c(number) == comm) return true;
    return false;
}

/// Throws Error{bad_argument} for one that processes cannot work together by.
inline MPI_Comm checked_communicator(MPI_Comm comm)
{
    const auto refuse = [](const char* what) {
        throw Error(ErrorCode::bad_argument,
                    std::string(what) + "; engine 'starpu-mpi' needs a communicator inside one group, as MPI_COMM_WORLD");
    };
    if (comm == MPI_COMM_NULL) refuse("the communicator is MPI_COMM_NULL");
    if (!is_communicator(comm)) refuse("the communicator is none of this MPI's: it was freed, or is another library's");
    int between = 0;
    MPI_Comm_test_inter(comm, &between);
    if (between) refuse("the communicator is an intercommunicator, between two groups");
    return comm;
}

} // namespace trencadis
