#include "interfaces/scalapack/sessions.hpp"

#include "engines/engine.hpp"
#include "interfaces/lapack/compute.hpp"
#include "interfaces/scalapack/behind.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mpi.h>
#include <string_view>
#include <vector>

namespace trencadis::scalapack {
namespace {

/// An attribute of the communicator that a grid speaks by: it goes with it, whoever ends the grid.
struct Kept {
    std::unique_ptr<Session> session;
};

std::vector<Kept*>& living()
{
    static auto* const all = new std::vector<Kept*>; // for good: MPI may end when static objects are gone
    return *all;
}

/// MPI's callbacks, which have no other way to say that something went wrong.
int end_one(MPI_Comm, int, void* value, void*) noexcept
{
    auto* const kept = static_cast<Kept*>(value);
    std::erase(living(), kept);
    delete kept;
    return MPI_SUCCESS;
}
/// Of grids that nobody ended. The attributes of MPI_COMM_SELF are the first that MPI_Finalize takes away.
int end_all(MPI_Comm, int, void*, void*) noexcept
{
    for (Kept* const kept : living()) kept->session.reset();
    return MPI_SUCCESS;
}

int new_key(MPI_Comm_delete_attr_function* end)
{
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
    return key;
}

int key_of_grids()
{
    static const int key = [] {
        MPI_Comm_set_attr(MPI_COMM_SELF, new_key(end_all), nullptr);
        return new_key(end_one);
    }();
    return key;
}

/// What the grid's processes speak by, row by row; the BLACS' own, so that nothing is sent over it here.
MPI_Comm communicator_of(const Grid& grid)
{
    constexpr int of_this_context = 10;
    int handle = 0;
    blacs_get_(&grid.context, &of_this_context, &handle);
    return MPI_Comm_f2c(handle);
}

const char* why_no_engine()
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, level = MPI_THREAD_SINGLE;
    MPI_Get_library_version(version, &length);
    if (!std::string_view(version).starts_with("Open MPI")) return "the program's MPI is not Open MPI";
    MPI_Query_thread(&level);
    return level < MPI_THREAD_MULTIPLE ? "MPI was begun without MPI_THREAD_MULTIPLE, before this library was there" : nullptr;
}

/// Once in a process: what is missing for one grid is missing for all.
void say_passed_on(const char* reason)
{
    static bool said = false;
    if (!said) std::fprintf(stderr, "trencadis: ScaLAPACK's calls are passed on: %s\n", reason);
    said = true;
}

bool is_so_for_all(MPI_Comm communicator, bool so)
{
    int all = so;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, communicator);
    return all;
}

/// What one process is without keeps all from a session, for it could not even tell the others that it makes none.
bool can_begin(MPI_Comm communicator)
{
    const char* const reason = why_no_engine();
    if (reason && face::settings().verbose) say_passed_on(reason);
    const std::string missing = find_entry("engine", engine_entries(), "starpu-mpi").why_not();
    if (!missing.empty()) say_passed_on(missing.c_str());
    return is_so_for_all(communicator, !reason && missing.empty());
}

std::unique_ptr<Session> begin(MPI_Comm communicator)
{
    if (!can_begin(communicator)) return nullptr;
    try {
        SessionOptions options;
        options.engine = "starpu-mpi";
        options.communicator = &communicator;
        return std::make_unique<Session>(options);
    } catch (const std::exception& failure) {
        say_passed_on(failure.what());
        return nullptr;
    }
}

} // namespace

Session* session_of(const Grid& grid)
{
    MPI_Comm communicator = communicator_of(grid);
    void* value = nullptr;
    int there = 0;
    MPI_Comm_get_attr(communicator, key_of_grids(), &value, &there);
    if (there) return static_cast<Kept*>(value)->session.get();
    auto* const kept = new Kept{begin(communicator)};
    living().push_back(kept);
    MPI_Comm_set_attr(communicator, key_of_grids(), kept);
    if (!is_so_for_all(communicator, kept->session != nullptr)) kept->session.reset();
    return kept->session.get();
}

// Cholesky of order 1,800, and 2,900 on a copy.
bool wants_engine(Flops flops, bool in_place)
{
    constexpr Flops least = 2e9, least_of_copies = 8e9;
    return face::settings().cuts_everything() || flops >= (in_place ? least : least_of_copies);
}

// Tiles that are smaller are more messages than work, larger ones leave processes idle.
bool suits_engine(int nb)
{
    constexpr int least = 256, most = 512;
    return face::settings().cuts_everything() || (nb >= least && nb <= most);
}

int engine_block(int n)
{
    constexpr int usual = 320, of_few_tiles = 256, few_tiles = 3072;
    if (face::settings().cuts_everything()) return int(face::settings().tile);
    return n < few_tiles ? of_few_tiles : usual;
}

} // namespace trencadis::scalapack
