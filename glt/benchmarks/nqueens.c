/* N-Queens as in the Barcelona OpenMP Tasks Suite (Duran, Teruel, Ferrer, Martorell, Ayguade, ICPP 2009): counts the ways to
 * put N queens on a board of N x N; a unit for every safe place in the rows above the cutoff, each with a copy of the board. */
#include "face.h"
#include "program.h"

enum { MOST_QUEENS = 16, FEWEST_QUEENS = 1 };

/* OEIS A000170. */
static const uint64_t known[MOST_QUEENS + 1] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                                352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

static int queens, threads, cutoff;

typedef struct Placement {
    int row; /* the next to be filled */
    uint64_t solutions;
    LwtUlt ult;
    unsigned char column[MOST_QUEENS]; /* of the queen in each row above */
} Placement;

static int safe(const unsigned char* column, int row, int candidate)
{
    for (int above = 0; above < row; ++above) {
        const int across = column[above] - candidate, down = row - above;
        if (across == 0 || across == down || across == -down) return 0;
    }
    return 1;
}

static uint64_t count_alone(unsigned char* column, int row)
{
    if (row == queens) return 1;
    uint64_t solutions = 0;
    for (int candidate = 0; candidate < queens; ++candidate)
        if (safe(column, row, candidate)) {
            column[row] = (unsigned char)candidate;
            solutions += count_alone(column, row + 1);
        }
    return solutions;
}

static LWT_RESULT count(void* argument)
{
    Placement* here = (Placement*)argument;
    if (here->row >= cutoff || here->row == queens) {
        here->solutions = count_alone(here->column, here->row);
        LWT_RETURN;
    }
    Placement next[MOST_QUEENS];
    int placements = 0;
    for (int candidate = 0; candidate < queens; ++candidate)
        if (safe(here->column, here->row, candidate)) {
            Placement* placement = &next[placements++];
            placement->row = here->row + 1;
            memcpy(placement->column, here->column, sizeof here->column);
            placement->column[here->row] = (unsigned char)candidate;
            lwt_ult_deal(count, placement, &placement->ult, (unsigned)candidate, threads);
        }
    uint64_t solutions = 0;
    for (int i = 0; i < placements; ++i) {
        lwt_ult_join(&next[i].ult);
        solutions += next[i].solutions;
    }
    here->solutions = solutions;
    LWT_RETURN;
}

static uint64_t run(double* seconds)
{
    Placement empty;
    memset(&empty, 0, sizeof empty);
    const double start = program_seconds();
    lwt_ult_create(count, &empty, &empty.ult);
    lwt_ult_join(&empty.ult);
    *seconds = program_seconds() - start;
    return empty.solutions;
}

int main(int argc, char** argv)
{
    long wanted_threads = 2, depth = 4, repeat = 1, json = 0;
    const ProgramOption options[] = {{"--threads", &wanted_threads, 1, 4096},
                                     {"--depth", &depth, 0, MOST_QUEENS},
                                     {"--repeat", &repeat, 1, PROGRAM_MOST_REPETITIONS},
                                     {"--json", &json, 0, 0},
                                     {NULL, NULL, 0, 0}};
    const char* word = NULL;
    program_begin(argv);
    program_arguments(argc, argv, "N [--threads T] [--depth ROWS_WITH_UNITS] [--repeat R] [--json]", options, 1, &word);
    queens = (int)program_number("N", word, FEWEST_QUEENS, MOST_QUEENS);
    threads = (int)wanted_threads;
    cutoff = (int)depth;
    if (lwt_start(threads) != 0) program_fail(EXIT_WRONG, "%s does not start with %d threads", LWT_FORM, threads);
    double seconds[PROGRAM_MOST_REPETITIONS];
    for (int i = 0; i < (int)repeat; ++i) {
        const uint64_t solutions = run(&seconds[i]);
        if (solutions != known[queens])
            program_fail(EXIT_WRONG, "%d queens: %llu solutions instead of %llu", queens, (unsigned long long)solutions,
                         (unsigned long long)known[queens]);
    }
    const ProgramStatistics all = program_statistics(seconds, (int)repeat);
    if (json) {
        printf("{\"benchmark\": \"nqueens\", \"n\": %d, \"library\": \"%s\", \"form\": \"%s\", \"threads\": %d, \"depth\": %d, "
               "\"solutions\": %llu, \"seconds_median\": %.9g",
               queens, LWT_LIBRARY, LWT_FORM, threads, cutoff, (unsigned long long)known[queens], all.median);
        program_json_list("seconds", seconds, (int)repeat);
        printf("}\n");
    } else {
        printf("solutions=%llu seconds=%.6f\n", (unsigned long long)known[queens], all.median);
    }
    lwt_end();
    return 0;
}
