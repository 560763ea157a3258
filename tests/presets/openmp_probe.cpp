// When does an OpenMP runtime begin to execute tasks inside their creation? openmp_probe PATTERN N CLOSED_FROM THREADS prints the
// number of the first such task, -1 for none.
#include "gate.hpp"
#include "pattern.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <omp.h>

int main(int argc, char** argv)
{
    if (argc != 5) {
        std::fprintf(stderr, "usage: openmp_probe independent|cholesky N CLOSED_FROM THREADS\n");
        return 2;
    }
    const std::vector<pattern::TileTask> tasks = pattern::named(argv[1], std::atoi(argv[2]));
    const int n = std::atoi(argv[2]), threads = std::atoi(argv[4]);
    std::vector<char> tiles(std::size_t(n) * std::size_t(n) + 1);
    // Compilers do not count the depend clause as a use.
    [[maybe_unused]] char* const A = tiles.data() + 1; // A[-1]: never written
    pattern::Gate gate(std::atoi(argv[3]));
    int given = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        given = omp_get_num_threads();
        for (int number = 0; number < int(tasks.size()); ++number) {
            [[maybe_unused]] const pattern::TileTask& task = tasks[std::size_t(number)];
            gate.before_creation(number);
#pragma omp task firstprivate(number) depend(in : A[task.reads[0]], A[task.reads[1]]) depend(inout : A[task.updates])
            gate.pass(number);
            gate.after_creation(number);
        }
        gate.all_created();
    }
    if (given != threads) {
        std::fprintf(stderr, "the runtime gave %d threads instead of %d\n", given, threads);
        return 1;
    }
    std::printf("%d\n", gate.first_inline());
    return 0;
}
