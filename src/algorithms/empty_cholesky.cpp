#include "algorithms/empty_cholesky.hpp"

namespace trencadis {
namespace {

struct EmptyArgs {
    void run(TaskContext&) {}
};

} // namespace

void empty_cholesky(Flow& flow, char* data, Index tiles)
{
    static constexpr Codelet potrf = codelet_of<EmptyArgs>("potrf", "empty"), trsm = codelet_of<EmptyArgs>("trsm", "empty");
    static constexpr Codelet syrk = codelet_of<EmptyArgs>("syrk", "empty"), gemm = codelet_of<EmptyArgs>("gemm", "empty");
    const auto A = [&](Index i, Index j) { return data + i + j * tiles; };
    for (Index k = 0; k < tiles; ++k) {
        flow.submit(potrf, EmptyArgs{}, {readwrite(A(k, k))});
        for (Index i = k + 1; i < tiles; ++i) flow.submit(trsm, EmptyArgs{}, {read(A(k, k)), readwrite(A(i, k))});
        for (Index j = k + 1; j < tiles; ++j) {
            flow.submit(syrk, EmptyArgs{}, {read(A(j, k)), readwrite(A(j, j))});
            for (Index i = j + 1; i < tiles; ++i)
                flow.submit(gemm, EmptyArgs{}, {read(A(i, k)), read(A(j, k)), readwrite(A(i, j))});
        }
    }
}

Index empty_cholesky_tasks(Index tiles) { return tiles + tiles * (tiles - 1) + tiles * (tiles - 1) * (tiles - 2) / 6; }

} // namespace trencadis
