#include "glt/native/overflow.hpp"

#include "glt/native/runtime.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace trencadis::ult {
namespace {

constexpr std::size_t signal_stack_size = 64 * 1024;
struct sigaction previous;
bool in_chain = false; ///< below a handler that was installed over ours, and calls it

/// Only what a signal handler may call.
void tell(const Unit& unit, std::size_t size)
{
    char text[256], *at = text, *end = text + sizeof text - 1;
    const auto put = [&](const char* word) {
        while (*word && at < end) *at++ = *word++;
    };
    const auto put_number = [&](std::uint64_t number) {
        char digits[24] = {}, *first = digits + sizeof digits - 1;
        do *--first = static_cast<char>('0' + number % 10);
        while (number /= 10);
        put(first);
    };
    put("glt: unit ");
    put_number(unit.id);
    if (unit.name) put(" ("), put(unit.name), put(")");
    put(" overflowed its stack of ");
    put_number(size);
    put(" bytes\n");
    if (write(2, text, static_cast<std::size_t>(at - text)) < 0) return;
}

void handle(int, siginfo_t* info, void*)
{
    Worker* worker = worker_here;
    Unit* unit = worker ? worker->current : nullptr;
    if (unit && unit->stack) {
        const auto* address = static_cast<const std::byte*>(info->si_addr);
        const Stack& stack = *unit->stack;
        if (stack.guarded && address >= stack.mapping && address < stack.bottom()) tell(*unit, stack.size);
    }
    // The instruction is tried again under the previous handler.
    sigaction(SIGSEGV, &previous, nullptr);
}

} // namespace

void install_overflow_handler()
{
    if (in_chain) return;
    in_chain = true;
    struct sigaction mine = {};
    mine.sa_sigaction = handle;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&mine.sa_mask);
    sigaction(SIGSEGV, &mine, &previous);
}

void remove_overflow_handler()
{
    struct sigaction now;
    sigaction(SIGSEGV, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle) {
        sigaction(SIGSEGV, &previous, nullptr);
        in_chain = false;
    }
}

bool give_signal_stack(Worker& worker)
{
    stack_t before;
    if (sigaltstack(nullptr, &before) == 0 && !(before.ss_flags & SS_DISABLE)) return true; // the program has its own
    void* memory = mmap(nullptr, signal_stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    worker.signal_stack = memory;
    stack_t mine = {};
    mine.ss_sp = memory;
    mine.ss_size = signal_stack_size;
    return sigaltstack(&mine, nullptr) == 0;
}

void take_signal_stack(Worker& worker)
{
    if (!worker.signal_stack) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(worker.signal_stack, signal_stack_size);
    worker.signal_stack = nullptr;
}

} // namespace trencadis::ult
