// How long a value takes from a task of one process to a task of another one, over the engine `starpu-mpi`, with nothing else to
// do: a chain of copies, each by the other process, less the same chain in one process; for the orders of tiles that are given.
// First, with 0 bytes, what a call costs that has no tasks. Bytes and seconds.
//   mpirun -n 2 clusters_ping 1 256
#include "base/error.hpp"
#include "graph/flow.hpp"
#include "graph/processes.hpp"
#include "kernels/tiles/copy_part.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace trencadis;

/// Seconds of so many copies, of two tiles that lie with these processes.
double copying(Session& session, int copies, Index n, std::int16_t one, std::int16_t other)
{
    char* const names = reinterpret_cast<char*>(std::uintptr_t{1} << 46);
    const auto tile = [&](Index at, std::int16_t owner) {
        return Datum(names + at * n * n * Index(sizeof(double)), n, n, n, sizeof(double)).owned_by(owner).at_home(named_only);
    };
    const Datum tiles[] = {tile(0, one), tile(1, other)};
    const auto begin = std::chrono::steady_clock::now();
    session.run_shared([&](Flow& flow) {
        for (int i = 0; i < copies; ++i) task::copy_part(flow, {tiles[i % 2]}, {tiles[1 - i % 2]}, n, n);
    });
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(Session& session, int copies, Index n, std::int16_t other)
{
    constexpr int times = 9;
    std::vector<double> taken;
    for (int i = 0; i < times; ++i) taken.push_back(copying(session, copies, n, 0, other));
    std::nth_element(taken.begin(), taken.begin() + times / 2, taken.end());
    return taken[times / 2];
}
/// Of one message.
double message(Session& session, Index n)
{
    constexpr int copies = 100;
    return std::max((median(session, copies, n, 1) - median(session, copies, n, 0)) / copies, 1e-7);
}

} // namespace

int main(int argc, char** argv)
try {
    SessionOptions options;
    options.engine = "starpu-mpi";
    Session session(options);
    const Processes& all = *session.processes();
    if (all.size() != 2) {
        if (all.rank() == 0) std::fprintf(stderr, "clusters_ping: %d processes; start it with mpirun -n 2\n", all.size());
        return 2;
    }
    const auto say = [&](Index bytes, double seconds) {
        if (all.rank() == 0) std::printf("%ld %.9f\n", long(bytes), seconds);
    };
    say(0, median(session, 0, 1, 1));
    for (int i = 1; i < argc; ++i) {
        const Index n = std::max(std::atol(argv[i]), 1L);
        say(n * n * Index(sizeof(double)), message(session, n));
    }
    return 0;
} catch (const std::exception& failure) {
    std::fprintf(stderr, "clusters_ping: %s\n", failure.what());
    return 2;
}
