// Large and small calls from atexit handlers and destructors of static objects that were there before the first call.
#include "guest.h"

#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

void compute(const char* when)
{
    alarm(60);
    require(right_product(direct) && right_product(on_tasks) && right_product(400), when);
}

struct AtTheEnd {
    ~AtTheEnd()
    {
        compute("a product from a static object's destructor");
        std::thread([] { compute("a product from a thread that was started there"); }).join();
    }
} at_the_end;
thread_local struct WithTheThread {
    int used = 1;
    ~WithTheThread() { compute("a product from a thread-local object's destructor"); }
} with_the_thread;

} // namespace

// `before`: nothing is computed before the end, either.
int main(int count, char** words)
{
    require(std::atexit([] { compute("a product from an atexit handler"); }) == 0, "a handler");
    require(with_the_thread.used == 1, "a thread-local object");
    if (count > 1 && words[1] == std::string_view("before")) return 0;
    compute("a product");
    std::thread([] { compute("a product from a thread"); }).detach(); // may be computing when main has returned
    return 0;
}
