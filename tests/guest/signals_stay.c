/* The program's signal handlers are its own after the first large call, whatever drivers of devices are installed: hwloc is
 * given a plug-in that takes one (hwloc_spy.c). */
#include "guest.h"

#include <signal.h>

static volatile sig_atomic_t handled;
static void handle(int number)
{
    (void)number;
    ++handled;
}

int main(int count, char** words)
{
    alarm(60);
    if (count > 1) setenv("HWLOC_PLUGINS_PATH", words[1], 1);
    const int all[] = {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGFPE, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2};
    const int n = (int)(sizeof all / sizeof *all);
    for (int i = 0; i < n; ++i) signal(all[i], handle);
    require(right_product(on_tasks), "a product");
    for (int i = 0; i < n; ++i) {
        struct sigaction now;
        require(sigaction(all[i], NULL, &now) == 0 && now.sa_handler == handle, "each handler is still the program's");
        raise(all[i]);
    }
    require(handled == n, "each was run");
    return 0;
}
