/* Calls that succeed leave errno alone, the first one of a process too. */
#include "guest.h"

#include <errno.h>

int main(void)
{
    for (int i = 0; i < 200; ++i) {
        errno = 4242;
        const int right = right_product(i % 3 ? 40 : on_tasks);
        require(errno == 4242, "errno is the program's");
        require(right, "the product is right");
        if (i % 20 == 0) usleep(3000); /* so that workers sleep and are woken */
    }
    return 0;
}
