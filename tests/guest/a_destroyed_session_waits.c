/* trc_session_destroy while another thread is in a call of the session. */
#include "guest.h"
#include "trencadis/trencadis.h"

#include <pthread.h>

enum { n = 1500 };
static double *a, *b, *c;
static trc_session* session;

static void* multiply(void* unused)
{
    (void)unused;
    require(trc_dgemm(session, 'N', 'N', n, n, n, 1, a, n, b, n, 0, c, n) == TRC_OK, "the product is computed");
    return NULL;
}

int main(void)
{
    alarm(60);
    a = calloc(n * n, sizeof *a), b = malloc(n * n * sizeof *b), c = calloc(n * n, sizeof *c);
    for (int i = 0; i < n; ++i) a[i * n + i] = 2;
    for (int i = 0; i < n * n; ++i) b[i] = 1;
    for (int turn = 0; turn < 6; ++turn) {
        pthread_t thread;
        require(trc_session_create(&session, turn % 2 ? "worker_count=1" : NULL) == TRC_OK, "a session");
        memset(c, 0, n * n * sizeof *c);
        pthread_create(&thread, NULL, multiply, NULL);
        for (int seen = 0; !seen;) /* until some of the result is there */
            for (int i = 0; i < n * n; i += 97) seen |= ((const volatile double*)c)[i] != 0;
        require(trc_session_destroy(session) == TRC_OK, "the session is destroyed");
        for (int i = 0; i < n * n; ++i) require(c[i] == 2, "the result is whole when the session is gone");
        pthread_join(thread, NULL);
    }
    return 0;
}
