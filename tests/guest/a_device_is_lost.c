/* A device takes values with it that are nowhere else. A product into an empty matrix is right nevertheless; what was half done
 * says so, by INFO or by NaN, and the process goes on. Each child is such a process, whose devices fail at another moment. */
#include "guest.h"

void dpotrf_(const char*, const int*, double*, const int*, int*);
void dsgesv_(const int*, const int*, double*, const int*, int*, const double*, const int*, double*, const int*, double*, float*,
             int*, int*);
void dgesv_(const int*, const int*, double*, const int*, int*, double*, const int*, int*);

enum { n = 300, right = 0, half_done = 3, told = -1012 };

static double *a, *b, *c;

/* Diagonally dominant; b: its row sums, so that the solution is ones. */
static void fill(void)
{
    for (int i = 0; i < n; ++i) b[i] = 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) b[i] += a[i + j * n] = (i == j ? n : 0) + 1.0 / (1 + abs(i - j));
}

/* How many numbers are in the lower triangle. */
static int numbers_in(const double* matrix)
{
    int numbers = 0;
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) numbers += !isnan(matrix[i + j * n]);
    return numbers;
}

/* L L^T, in some elements. */
static int factored(void)
{
    const int order = n;
    int info = 0;
    fill();
    memcpy(c, a, sizeof(double) * n * n);
    dpotrf_("L", &order, c, &order, &info);
    if (info == told) {
        require(numbers_in(c) == 0, "a factor that is half done has no numbers");
        require(c[n] == a[n], "the other triangle is what it was");
        return half_done;
    }
    require(info == 0, "INFO of a factor");
    for (int j = 0; j < n; j += 7)
        for (int i = j; i < n; i += 5) {
            double sum = 0;
            for (int k = 0; k <= j; ++k) sum += c[i + k * n] * c[j + k * n];
            require(fabs(sum - a[i + j * n]) < 1e-10, "a factor"); /* some n^2 eps */
        }
    return right;
}
static int solved(void)
{
    static int pivots[n];
    const int order = n, one = 1;
    int info = 0;
    fill();
    dgesv_(&order, &one, a, &order, pivots, b, &order, &info);
    if (info == told) {
        require(numbers_in(a) == 0 && isnan(b[0]) && isnan(b[n - 1]), "a solution that is half done has no numbers");
        for (int i = 0; i < n; ++i) require(pivots[i] == i + 1, "nor are rows exchanged");
        return half_done;
    }
    require(info == 0, "INFO of a solution");
    for (int i = 0; i < n; ++i) require(fabs(b[i] - 1) < 1e-10, "a solution");
    return right;
}
/* In mixed precision. */
static int refined(void)
{
    static int pivots[n];
    static double x[n], work[n];
    static float single_work[n * (n + 1)];
    const int order = n, one = 1;
    int info = 0, steps = 0;
    fill();
    dsgesv_(&order, &one, a, &order, pivots, b, &order, x, &order, work, single_work, &steps, &info);
    if (info == told) {
        require(numbers_in(a) == 0 && isnan(x[0]) && isnan(x[n - 1]), "one in mixed precision neither");
        return half_done;
    }
    require(info == 0, "INFO in mixed precision");
    for (int i = 0; i < n; ++i) require(fabs(x[i] - 1) < 1e-10, "a solution in mixed precision");
    return right;
}
/* C <- A A + C with A = 2 I and C of ones: whole, or without a number. */
static int added(void)
{
    const int order = n;
    const double one = 1;
    int numbers = 0;
    for (int i = 0; i < n * n; ++i) a[i] = i % (n + 1) == 0 ? 2 : 0, c[i] = 1;
    dgemm_("N", "N", &order, &order, &order, &one, a, &order, a, &order, &one, c, &order);
    for (int i = 0; i < n * n; ++i) numbers += !isnan(c[i]);
    if (numbers == 0) return half_done;
    for (int i = 0; i < n * n; ++i) require(c[i] == (i % (n + 1) == 0 ? 5 : 1), "a sum");
    return right;
}
static int life(void)
{
    int worst = right;
    a = malloc(sizeof(double) * n * n), b = malloc(sizeof(double) * n), c = malloc(sizeof(double) * n * n);
    for (int turn = 0; turn < 3; ++turn) {
        int (*const calls[])(void) = {factored, added, solved, refined};
        require(right_product(on_tasks), "a product");
        for (int which = 0; which < 4; ++which) worst |= calls[which]();
    }
    return worst;
}

int main(void)
{
    int seen[2] = {0, 0};
    setenv("TRENCADIS_TILE", "50", 1);
    for (int at = 1; at <= 60; at += 2) {
        char words[80];
        int status = 0;
        snprintf(words, sizeof words, "emulated:2,always=yes,%s=%d", at % 4 == 1 ? "fail-kernel" : "lose-at", at);
        setenv("TRENCADIS_DEVICES", words, 1);
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            exit(life());
        }
        require(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status), "a child ends");
        require(WEXITSTATUS(status) == right || WEXITSTATUS(status) == half_done, words);
        ++seen[WEXITSTATUS(status) == half_done];
    }
    fprintf(stderr, "%d children had all right, %d something half done\n", seen[0], seen[1]);
    require(seen[1] > 0, "some child has lost a value");
    return 0;
}
