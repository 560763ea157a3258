/* A sandbox that refuses system calls, as containers do: `refused ERRNO NUMBER...` computes all the same. */
#define _GNU_SOURCE
#include "guest.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void refuse(int error, int count, char** numbers)
{
    struct sock_filter filter[40] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short at = 1;
    for (int i = 0; i < count; ++i) {
        filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(numbers[i]), 0, 1);
        filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
    }
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {at, filter};
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "a filter");
    for (int i = 0; i < count; ++i) require(syscall(atoi(numbers[i]), 0, 0, 0) == -1 && errno == error, "that it is refused");
}

int main(int count, char** words)
{
    refuse(atoi(words[1]), count - 2, words + 2);
    alarm(60);
    for (int turn = 0; turn < 5; ++turn)
        require(right_product(direct) && right_product(on_tasks) && right_product(500), "a product");
    puts("right");
    return 0;
}
