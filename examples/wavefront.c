/* The length of the longest common subsequence of two texts, by blocks in a wavefront, through the C task interface. Block (i, j)
 * needs the last row of the block above and the last column of the block to its left, and says no more than that. */
#include <stdio.h>
#include <stdlib.h>
#include <trencadis/trencadis.h>

enum { n = 4096, size = 256, blocks = n / size };

static char a[n], b[n];
static int row[blocks][size + 1], column[blocks][size]; /* the edges of the blocks done last */

struct place {
    int i, j;
};

static void fill(const char* x, int rows, const char* y, int cols, int* upper, int* left_edge)
{
    for (int i = 0; i < rows; ++i) {
        int diagonal = upper[0], left = left_edge[i];
        upper[0] = left;
        for (int j = 0; j < cols; ++j) {
            const int up = upper[j + 1];
            left = x[i] == y[j] ? diagonal + 1 : up > left ? up : left;
            diagonal = up;
            upper[j + 1] = left;
        }
        left_edge[i] = left;
    }
}

static int block(void* args, trc_context* context)
{
    const struct place* at = args;
    (void)context;
    fill(a + at->i * size, size, b + at->j * size, size, row[at->j], column[at->i]);
    return 0;
}

static int failed(void)
{
    fprintf(stderr, "%s\n", trc_last_error_message());
    return 2;
}

int main(void)
{
    static int whole_row[n + 1], whole_column[n];
    trc_session* session;
    trc_flow* flow;
    srand(1);
    for (int i = 0; i < n; ++i) a[i] = "ACGT"[rand() % 4], b[i] = "ACGT"[rand() % 4];
    if (trc_session_create(&session, NULL) != TRC_OK || trc_flow_create(&flow, session, 0) != TRC_OK) return failed();
    for (int i = 0; i < blocks; ++i)
        for (int j = 0; j < blocks; ++j) {
            const struct place at = {i, j};
            const trc_access edges[] = {{row[j], TRC_READWRITE, NULL}, {column[i], TRC_READWRITE, NULL}};
            if (trc_task_submit(flow, "block", block, &at, sizeof at, edges, 2, 0) != TRC_OK) return failed();
        }
    if (trc_flow_wait(flow) != TRC_OK) return failed();
    trc_flow_destroy(flow);
    trc_session_destroy(session);

    fill(a, n, b, n, whole_row, whole_column);
    printf("longest common subsequence: %d letters in blocks, %d at once\n", column[blocks - 1][size - 1], whole_column[n - 1]);
    return column[blocks - 1][size - 1] == whole_column[n - 1] ? 0 : 1;
}
