/* Sessions of the C header inside an MPI program, which mpirun starts with as many processes as it is given: with a
 * communicator of the program's, whose processes are numbered backwards, and block-cyclic matrices in the program's memory.
 * The word says which part is tried. Prints what failed; exit code 1 then. */
#include <trencadis/distributed.h>

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
#define EXPECT(condition)                                                                                                        \
    do {                                                                                                                         \
        if (!(condition)) {                                                                                                      \
            ++failures;                                                                                                          \
            fprintf(stderr, "%s:%d: not so: %s; last error: %s\n", __FILE__, __LINE__, #condition, trc_last_error_message());    \
        }                                                                                                                        \
    } while (0)

static int rank, size, grid_rows;

static void find_grid(trc_session* session)
{
    EXPECT(trc_session_processes(session, &rank, &size) == 0);
    grid_rows = size == 4 ? 2 : 1;
}

/* Of doubles, or of complex numbers. */
typedef struct matrix {
    trc_descriptor desc;
    int64_t rows, cols; /* here */
    void* data;
    int pairs; /* complex */
} matrix;

/* The first block is not with the first process, and the array has rows that nobody may touch. */
static matrix make(int64_t rows, int64_t cols, int64_t nb, int64_t width, int pairs)
{
    matrix A = {{rows, cols, nb, width, grid_rows, size / grid_rows, grid_rows - 1, 0, 0}, 0, 0, NULL, pairs};
    A.rows = trc_local_extent(rows, nb, rank / A.desc.grid_cols, A.desc.first_row, A.desc.grid_rows);
    A.cols = trc_local_extent(cols, width, rank % A.desc.grid_cols, A.desc.first_col, A.desc.grid_cols);
    A.desc.lld = A.rows + 3;
    A.data = malloc((size_t)((A.desc.lld * A.cols + 1) * (pairs ? 16 : 8)));
    for (int64_t k = 0; k < A.desc.lld * A.cols * (1 + pairs); ++k) ((double*)A.data)[k] = -77;
    return A;
}
static int64_t global(int64_t i, int64_t nb, int place, int first, int places)
{
    return (i / nb * places + (place - first + places) % places) * nb + i % nb;
}
static int64_t row_of(const matrix* A, int64_t i)
{
    return global(i, A->desc.mb, rank / A->desc.grid_cols, A->desc.first_row, A->desc.grid_rows);
}
static int64_t col_of(const matrix* A, int64_t j)
{
    return global(j, A->desc.nb, rank % A->desc.grid_cols, A->desc.first_col, A->desc.grid_cols);
}
typedef double (*element)(int64_t i, int64_t j);
/* Positive definite, with a condition near 1. */
static double definite(int64_t i, int64_t j) { return i == j ? 8 : 1.0 / (double)((i - j) * (i - j) + 1); }
static double general(int64_t i, int64_t j) { return definite(i, j) * (1 + (double)((i + 2 * j) % 5) / 8); }
static double triangle(int64_t i, int64_t j) { return i < j ? 1e30 : definite(i, j); }
static double solution(int64_t i, int64_t j) { return sin((double)(1 + i + 3 * j)); }
static double place(int64_t i, int64_t j) { return (double)(1000 * i + j); }
static double nothing(int64_t i, int64_t j) { return (double)(i - i + j - j); }

static double* at(const matrix* A, int64_t i, int64_t j) { return (double*)A->data + (i + j * A->desc.lld) * (1 + A->pairs); }
static void fill(const matrix* A, element value)
{
    for (int64_t j = 0; j < A->cols; ++j)
        for (int64_t i = 0; i < A->rows; ++i) {
            *at(A, i, j) = value(row_of(A, i), col_of(A, j));
            if (A->pairs) at(A, i, j)[1] = 0;
        }
}
static double distance(const matrix* A, element value)
{
    double most = 0;
    for (int64_t j = 0; j < A->cols; ++j) {
        for (int64_t i = 0; i < A->rows; ++i) most = fmax(most, fabs(*at(A, i, j) - value(row_of(A, i), col_of(A, j))));
        for (int64_t i = A->rows; i < A->desc.lld; ++i) EXPECT(*at(A, i, j) == -77);
    }
    return most;
}

static const int64_t sizes[] = {0, 1, 15, 16, 17, 101};
enum { count = sizeof sizes / sizeof *sizes, nb = 16, right_sides = 5, width = 3 };

/* A X = B with X known: the solution is off by some n eps times the condition of A, which is below 4. */
static void solve(trc_session* session, int64_t n, int pairs)
{
    const double bound = 100 * (double)(n + 1) * 2.3e-16;
    matrix A = make(n, n, nb, nb, pairs), X = make(n, right_sides, nb, width, pairs);
    matrix B = make(n, right_sides, nb, width, pairs);
    int64_t info = -1, *ipiv = malloc(sizeof(int64_t) * (size_t)(n + 1));
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    for (int how = 0; how < 4; ++how) {
        const element what = how < 2 ? definite : general;
        fill(&A, what);
        fill(&X, solution);
        fill(&B, nothing);
        if (pairs) {
            const trc_complex_double* alpha = (const void*)one;
            const trc_complex_double* beta = (const void*)zero;
            EXPECT(trc_pzgemm(session, 'N', 'n', alpha, A.data, &A.desc, X.data, &X.desc, beta, B.data, &B.desc) == 0);
            fill(&A, what);
            if (how == 0) EXPECT(trc_pzposv(session, 'L', A.data, &A.desc, B.data, &B.desc, &info) == 0);
            if (how == 1) EXPECT(trc_pzpotrf(session, 'U', A.data, &A.desc, &info) == 0);
            if (how == 1) EXPECT(trc_pzpotrs(session, 'U', A.data, &A.desc, B.data, &B.desc, &info) == 0);
            if (how == 2) EXPECT(trc_pzgesv(session, A.data, &A.desc, ipiv, B.data, &B.desc, &info) == 0);
            if (how == 3) EXPECT(trc_pzgetrf(session, A.data, &A.desc, ipiv, &info) == 0);
            if (how == 3) EXPECT(trc_pzgetrs(session, 'N', A.data, &A.desc, ipiv, B.data, &B.desc, &info) == 0);
        } else {
            EXPECT(trc_pdgemm(session, 'N', 'n', 1, A.data, &A.desc, X.data, &X.desc, 0, B.data, &B.desc) == 0);
            fill(&A, what);
            if (how == 0) EXPECT(trc_pdposv(session, 'L', A.data, &A.desc, B.data, &B.desc, &info) == 0);
            if (how == 1) EXPECT(trc_pdpotrf(session, 'u', A.data, &A.desc, &info) == 0);
            if (how == 1) EXPECT(trc_pdpotrs(session, 'U', A.data, &A.desc, B.data, &B.desc, &info) == 0);
            if (how == 2) EXPECT(trc_pdgesv(session, A.data, &A.desc, ipiv, B.data, &B.desc, &info) == 0);
            if (how == 3) EXPECT(trc_pdgetrf(session, A.data, &A.desc, ipiv, &info) == 0);
            if (how == 3) EXPECT(trc_pdgetrs(session, 'N', A.data, &A.desc, ipiv, B.data, &B.desc, &info) == 0);
        }
        EXPECT(info == 0);
        EXPECT(distance(&B, solution) <= bound);
    }
    free(ipiv), free(A.data), free(X.data), free(B.data);
}

static void divide_and_copy(trc_session* session)
{
    const int64_t n = 5 * nb + 3, m = 41;
    matrix L = make(n, n, nb, nb, 0), X = make(n, m, nb, nb, 0), B = make(n, m, nb, nb, 0), C = make(n + 9, 2 * m, 7, 5, 0);
    fill(&L, definite);
    for (int64_t j = 0; j < L.cols; ++j)
        for (int64_t i = 0; i < L.rows; ++i)
            if (row_of(&L, i) < col_of(&L, j)) *at(&L, i, j) = 0;
    fill(&X, solution);
    fill(&B, nothing);
    EXPECT(trc_pdgemm(session, 'N', 'N', 2, L.data, &L.desc, X.data, &X.desc, 0, B.data, &B.desc) == 0);
    fill(&L, triangle);
    EXPECT(trc_pdtrsm(session, 'L', 'L', 'N', 'N', 0.5, L.data, &L.desc, B.data, &B.desc) == 0);
    EXPECT(distance(&B, solution) <= 1e-13);
    fill(&B, place);
    fill(&C, nothing);
    EXPECT(trc_pdgemr2d(session, n - 2, m - 1, B.data, 3, 2, &B.desc, C.data, 10, 6, &C.desc) == 0);
    for (int64_t j = 0; j < C.cols; ++j)
        for (int64_t i = 0; i < C.rows; ++i) {
            const int64_t row = row_of(&C, i) - 9, col = col_of(&C, j) - 5;
            const int inside = row >= 0 && row < n - 2 && col >= 0 && col < m - 1;
            EXPECT(*at(&C, i, j) == (inside ? place(row + 2, col + 1) : 0));
        }
    fill(&B, general);
    EXPECT(trc_pdgeqrf(session, B.data, &B.desc) == 0);
    free(L.data), free(X.data), free(B.data), free(C.data);
}

/* Matrices of one block. The others may give one address for all that they do not have. */
static void hold_nothing(trc_session* session)
{
    int64_t info = -1;
    double nothing_here = 0;
    matrix A = make(nb - 6, nb - 6, nb, nb, 0), B = make(nb - 6, width, nb, width, 0);
    fill(&A, definite);
    fill(&B, solution);
    const int holds = A.rows * A.cols > 0;
    double* const a = holds ? A.data : &nothing_here;
    double* const b = holds ? B.data : &nothing_here;
    EXPECT(trc_pdposv(session, 'L', a, &A.desc, b, &B.desc, &info) == 0 && info == 0);
    free(A.data), free(B.data);
}

/* All processes get an error, and nothing is touched. */
static void refuse(trc_session* session)
{
    int64_t info = 0, ipiv[100];
    matrix A = make(64, 64, nb, nb, 0), B = make(64, 3, nb, 3, 0);
    fill(&A, definite);
    fill(&B, solution);
    EXPECT(trc_pdpotrf(session, 'X', A.data, &A.desc, &info) == -1);
    EXPECT(trc_pdpotrf(session, 'L', A.data, NULL, &info) == -3);
    EXPECT(trc_pdpotrf(session, 'L', A.data, &A.desc, NULL) == -4);
    EXPECT(trc_pdgetrs(session, 'N', A.data, &A.desc, NULL, B.data, &B.desc, &info) == -4);
    trc_descriptor wrong = A.desc;
    wrong.grid_rows += 1;
    EXPECT(trc_pdgetrf(session, A.data, &wrong, ipiv, &info) == -2);
    EXPECT(strstr(trc_last_error_message(), "the grid must have as many"));
    wrong = A.desc;
    wrong.first_col = wrong.grid_cols;
    EXPECT(trc_pdposv(session, 'L', A.data, &wrong, B.data, &B.desc, &info) == -3);
    wrong = B.desc;
    wrong.rows = 63;
    EXPECT(trc_pdposv(session, 'L', A.data, &A.desc, B.data, &wrong, &info) == -5);
    wrong = A.desc;
    wrong.mb = 0;
    EXPECT(trc_pdgemm(session, 'N', 'N', 1, A.data, &A.desc, A.data, &A.desc, 0, B.data, &wrong) == -10);
    EXPECT(trc_pdgemm(session, 'N', 'N', 1, A.data, &A.desc, A.data, &A.desc, 0, A.data, &A.desc) == -9);
    EXPECT(trc_pdgemr2d(session, 60, 1, A.data, 9, 1, &A.desc, B.data, 1, 1, &B.desc) == -4);
    EXPECT(trc_pdgemr2d(session, -1, 1, A.data, 1, 1, &A.desc, B.data, 1, 1, &B.desc) == -1);
    EXPECT(trc_pdgemr2d(session, 1, -1, A.data, 1, 1, &A.desc, B.data, 1, 1, &B.desc) == -2);
    EXPECT(trc_pdgemr2d(session, 1, 1, A.data, 1, 0, &A.desc, B.data, 1, 1, &B.desc) == -5);
    EXPECT(trc_pdgemr2d(session, 1, 3, A.data, 1, 1, &A.desc, B.data, 1, 2, &B.desc) == -9);
    /* One process alone is wrong. */
    for (int how = 0; how < 4; ++how) {
        wrong = A.desc;
        if (rank == size - 1 && how == 0) wrong.lld = A.rows - 1;
        if (rank == size - 1 && how == 1) wrong.rows = wrong.cols = 48;
        if (rank == size - 1 && how == 2) wrong.rows = wrong.cols = 0;
        const char letter = rank == size - 1 && how == 3 ? 'Q' : 'L';
        const int code = trc_pdpotrf(session, letter, A.data, &wrong, &info);
        if (size > 1 || how == 0 || how == 3) EXPECT(code != 0 && trc_last_error_message()[0]);
        else fill(&A, definite);
    }
    EXPECT(distance(&A, definite) == 0);
    EXPECT(distance(&B, solution) == 0);
    fill(&A, nothing);
    EXPECT(trc_pdpotrf(session, 'L', A.data, &A.desc, &info) == 0 && info == 1);
    free(A.data), free(B.data);
}

static void refuse_communicator(const char* what, const void* communicator, const char* said)
{
    trc_session* session = NULL;
    const int code = trc_session_create_on(&session, "", communicator);
    if (code == 0 || session || !strstr(trc_last_error_message(), said)) {
        ++failures;
        fprintf(stderr, "%s: code %d, %s\n", what, code, trc_last_error_message());
    }
}
static void refuse_communicators(void)
{
    MPI_Comm none = MPI_COMM_NULL, freed, copy, half, between;
    int world, processes;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    refuse_communicator("no address", NULL, "communicator is null");
    refuse_communicator("null", &none, "MPI_COMM_NULL");
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    copy = freed;
    MPI_Comm_free(&freed);
    refuse_communicator("freed", &copy, "it was freed");
    trc_session* session = NULL;
    MPI_Comm all = MPI_COMM_WORLD;
    EXPECT(trc_session_create_on(&session, "engine=native", &all) == TRC_BAD_VALUE);
    if (processes == 1) return;
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, world, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world % 2, 7, &between);
    refuse_communicator("between", &between, "intercommunicator");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* On one process alone: no session on any, and each says why. */
static void refuse_options(const MPI_Comm* communicator, int odd)
{
    static const char* const wrong[] = {"engine=native", "scheduler=nonsense", "bogus=1", "kernels=nonsense", "workers"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        trc_session* session = NULL;
        EXPECT(trc_session_create_on(&session, odd ? wrong[i] : "", communicator) != 0 && !session);
        EXPECT(odd || strstr(trc_last_error_message(), "process 0: "));
    }
}

static void use(void)
{
    MPI_Comm backwards;
    int world;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &backwards);
    MPI_Comm_rank(backwards, &rank);
    refuse_options(&backwards, rank == 0);
    trc_session* session = NULL;
    EXPECT(trc_session_create_on(&session, "engine=starpu-mpi", &backwards) == 0);
    MPI_Comm_free(&backwards);
    if (!session) return;
    find_grid(session);
    EXPECT(rank == size - 1 - world);
    for (int i = 0; i < count; ++i)
        for (int pairs = 0; pairs < 2; ++pairs) solve(session, sizes[i], pairs);
    divide_and_copy(session);
    hold_nothing(session);
    refuse(session);
    EXPECT(trc_session_destroy(session) == 0);
}

int main(int arguments, char** words)
{
    const char* const part = arguments > 1 ? words[1] : "use";
    trc_session* session = NULL;
    int level;
    if (strcmp(part, "level") == 0) { /* too low */
        MPI_Init(NULL, NULL);
        refuse_communicator("level", &(MPI_Comm){MPI_COMM_WORLD}, "MPI_THREAD_SINGLE");
        MPI_Finalize();
    } else if (strcmp(part, "none") == 0) { /* MPI is begun by the session, and ended at the end */
        EXPECT(trc_session_create(&session, "engine=starpu-mpi") == 0);
        find_grid(session);
        solve(session, 50, 0);
        EXPECT(trc_session_destroy(session) == 0);
    } else if (strcmp(part, "late") == 0) { /* MPI ends before the session does */
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
        EXPECT(trc_session_create_on(&session, "", &(MPI_Comm){MPI_COMM_WORLD}) == 0);
        find_grid(session);
        solve(session, 50, 0);
        MPI_Finalize();
        int64_t info;
        matrix A = make(32, 32, nb, nb, 0);
        EXPECT(trc_pdpotrf(session, 'L', A.data, &A.desc, &info) == TRC_ENVIRONMENT);
        free(A.data);
        EXPECT(trc_session_destroy(session) == 0);
        EXPECT(trc_session_create(&session, "engine=starpu-mpi") == TRC_ENVIRONMENT);
    } else {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
        refuse_communicators();
        use();
        MPI_Finalize();
    }
    return failures > 0;
}
