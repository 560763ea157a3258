// Sessions of the installed C++ header inside an MPI program, with a communicator of some of its processes; with the words
// `return` and `finalise` a program whose main returns, or finalises MPI, while another thread computes. Exit code 1 where
// something failed.
#include <trencadis/trencadis.hpp>

#include <mpi.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

using trencadis::Index;

namespace {

/// A process's part of a positive definite matrix with a condition near 1.
struct Part {
    Index n, nb, rows, cols;
    trencadis::TileOwners grid;
    int rank;
    std::vector<double> elements;

    Part(Index order, Index block, trencadis::TileOwners over, int its_rank) : n(order), nb(block), grid(over), rank(its_rank)
    {
        rows = trencadis::local_extent(n, nb, rank / grid.grid_cols, 0, grid.grid_rows);
        cols = trencadis::local_extent(n, nb, rank % grid.grid_cols, 0, grid.grid_cols);
        elements.resize(std::size_t(rows * cols));
    }
    void fill()
    {
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i) {
                const double apart = double(place(i, rank / grid.grid_cols, grid.grid_rows)) -
                                     double(place(j, rank % grid.grid_cols, grid.grid_cols));
                elements[std::size_t(i + j * rows)] = apart == 0 ? 8 : 1 / (apart * apart + 1);
            }
    }
    Index place(Index i, int process, int processes) const { return (i / nb * processes + process) * nb + i % nb; }
    trencadis::HeldTiles<double> tiles()
    {
        return trencadis::block_cyclic(n, n, nb, nb, grid, elements.data(), std::max<Index>(rows, 1));
    }
};

int use(trencadis::Session& session, int rank, int size)
{
    const trencadis::TileOwners grid{std::int16_t(size == 4 ? 2 : 1), std::int16_t(size == 4 ? 2 : size)};
    Part A(150, 16, grid, rank), factor(150, 16, grid, rank), product(150, 16, grid, rank);
    A.fill();
    factor.fill();
    if (trencadis::distributed::potrf(session, trencadis::Uplo::lower, factor.tiles()) != 0) return 1;
    for (Index j = 0; j < factor.cols; ++j)
        for (Index i = 0; i < factor.rows; ++i)
            if (factor.place(i, rank / grid.grid_cols, grid.grid_rows) < factor.place(j, rank % grid.grid_cols, grid.grid_cols))
                factor.elements[std::size_t(i + j * factor.rows)] = 0;
    trencadis::distributed::gemm(session, trencadis::Op::none, trencadis::Op::trans, 1.0, factor.tiles(), factor.tiles(), 0.0,
                                 product.tiles());
    for (std::size_t i = 0; i < A.elements.size(); ++i)
        if (std::abs(A.elements[i] - product.elements[i]) > 150 * 8 * 2.3e-16) return 1; // n eps max |a_ij|
    return 0;
}

/// All processes but the last, which has no part in it.
int use_some()
{
    int rank = 0, size = 0, code = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, size > 1 && rank == size - 1 ? MPI_UNDEFINED : 0, rank, &some);
    if (some != MPI_COMM_NULL) {
        MPI_Comm_size(some, &size);
        trencadis::SessionOptions options;
        options.engine = "starpu-mpi";
        options.communicator = &some;
        trencadis::Session session(options);
        MPI_Comm_free(&some);
        code = use(session, rank, size);
    }
    return code;
}

/// Leaves a thread that factors one matrix after the other.
void leave_computing()
{
    trencadis::SessionOptions options;
    options.engine = "starpu-mpi";
    auto* const session = new trencadis::Session(options);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::thread([=] {
        try {
            Part A(1200, 100, {1, std::int16_t(size)}, rank);
            for (;;) {
                A.fill();
                trencadis::distributed::potrf(*session, trencadis::Uplo::lower, A.tiles());
            }
        } catch (const trencadis::Error&) { // nobody is there to hear it
        }
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
}

} // namespace

int main(int count, char** words)
{
    const std::string_view part = count > 1 ? words[1] : "use";
    int level = 0, code = 0;
    if (part != "return") MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level); // else the session does, and ends it
    if (part == "use") code = use_some();
    else leave_computing();
    if (part != "return") MPI_Finalize();
    return code;
}
