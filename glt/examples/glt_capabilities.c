/* What each back end can do, as the table of docs/threads.md: glt_capabilities [back end]... */
#include <stdio.h>
#include <string.h>
#include <trencadis/glt.h>

static const char* const known[] = {"native", "os", "argobots", "qthreads", "massivethreads"};
static const struct {
    int capability;
    const char* what;
} rows[] = {
    {GLT_CAN_STEAL, "idle threads take others' units"},
    {GLT_CAN_PLACE, "a unit runs on the thread it was put on"},
    {GLT_CAN_TASKLET, "tasklets without a stack"},
    {GLT_CAN_YIELD_TO, "`glt_yield_to` runs that unit next"},
    {GLT_CAN_MIGRATE, "`glt_ult_migrate_self_to`"},
    {GLT_CAN_CANCEL, "cancel"},
    {GLT_CAN_CANCEL_WAITING, "cancel of a unit that already waits"},
    {GLT_CAN_EXIT, "`glt_ult_exit`"},
    {GLT_CAN_SUSPEND, "suspend and resume"},
    {GLT_CAN_STACK_SIZE, "stack size per unit"},
    {GLT_CAN_GUARD, "an overflown stack is caught"},
    {GLT_CAN_JOIN, "join of any unit, in any order"},
    {GLT_CAN_MUTEX, "mutex"},
    {GLT_CAN_BARRIER, "barrier"},
    {GLT_CAN_COND, "condition"},
    {GLT_CAN_KEY, "keys"},
    {GLT_CAN_FOREIGN_CREATE, "foreign threads create"},
    {GLT_CAN_FOREIGN_WAIT, "foreign threads wait"},
    {GLT_CAN_FOREIGN_RESUME, "foreign threads resume"},
    {GLT_CAN_IDLE_SPIN, "idle: spin"},
    {GLT_CAN_IDLE_SPIN_SLEEP, "idle: spin, then sleep"},
    {GLT_CAN_IDLE_SLEEP, "idle: sleep"},
    {GLT_CAN_SANITIZE, "sanitizers follow units"},
};
enum { ROWS = sizeof rows / sizeof *rows, MOST = 16 };

static void be_quiet(int status, const char* message)
{
    (void)status;
    (void)message;
}

int main(int argc, char* argv[])
{
    static const char* const words[] = {"-", "emulated", "native"};
    int can[MOST][ROWS], count = 0;
    const char* names[MOST];
    const char* const* asked = argc > 1 ? (const char* const*)argv + 1 : known;
    const int number = argc > 1 ? argc - 1 : (int)(sizeof known / sizeof *known);
    if (argc == 1) glt_set_error_handler(be_quiet); /* those that are not installed are left out */
    for (int i = 0; i < number && count < MOST; ++i) {
        GLT_options options;
        memset(&options, 0, sizeof options);
        options.backend = asked[i];
        options.num_threads = 1;
        if (glt_init_with(&options) != GLT_SUCCESS) continue;
        for (int row = 0; row < ROWS; ++row) can[count][row] = glt_can(rows[row].capability);
        names[count++] = asked[i];
        glt_finalize();
    }
    if (count == 0) return fprintf(stderr, "no back end is installed\n"), 2;

    printf("| |");
    for (int i = 0; i < count; ++i) printf(" %s |", names[i]);
    printf("\n|---|");
    for (int i = 0; i < count; ++i) printf("---|");
    for (int row = 0; row < ROWS; ++row) {
        printf("\n| %s |", rows[row].what);
        for (int i = 0; i < count; ++i) printf(" %s |", words[can[i][row]]);
    }
    printf("\n");
    return ROWS == GLT_CAPABILITIES ? 0 : 1;
}
