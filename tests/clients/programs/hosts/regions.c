/* Calls from the threads of OpenMP's parallel regions, bound to places or not: results are right, and every thread runs where
 * it was bound. */
#define _GNU_SOURCE
#include "guest.h"
#include <omp.h>
#include <sched.h>

static int same_mask(const cpu_set_t* before)
{
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    return CPU_EQUAL(before, &now);
}

int main(void)
{
    int right = 1, threads = 0;
    for (int turn = 0; turn < 6; ++turn) {
#pragma omp parallel num_threads(4) reduction(&& : right) reduction(max : threads)
        {
            cpu_set_t before;
            sched_getaffinity(0, sizeof before, &before);
            threads = omp_get_num_threads();
            for (int call = 0; call < 5; ++call) right = right && right_product(40 + 90 * call);
            right = right && same_mask(&before);
        }
        right = right && right_product(400); /* and between regions */
    }
    puts(right && threads == 4 ? "right" : "wrong");
    return 0;
}
