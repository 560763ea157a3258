// The C++ face, in two translation units and in every form. A program without a test framework: it must not link a second library
// that knows the form.
#include "face.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

void must(bool holds, const char* what)
{
    if (holds) return;
    std::fprintf(stderr, "not so: %s (%s)\n", what, glt_last_message());
    std::exit(1);
}

template <class Call> int status_of(Call call)
{
    try {
        call();
    } catch (const glt::Error& error) {
        must(std::strlen(error.what()) > 0, "an error has a message");
        return error.status();
    }
    return GLT_SUCCESS;
}

void units_run_and_hand_over_exceptions()
{
    int ran = 0;
    glt::Ult unit([&] { ran = 1; });
    must(unit.joinable(), "a new unit can be joined");
    unit.join();
    must(ran == 1 && !unit.joinable(), "a joined unit has run");
    must(status_of([&] { unit.join(); }) == GLT_ERROR_HANDLE, "a second join throws");

    glt::Ult failing = thrower("lost in a unit");
    std::string text;
    try {
        failing.join();
    } catch (const std::runtime_error& error) {
        text = error.what();
    }
    must(text == "lost in a unit", "join throws what left the callable");

    std::atomic<int> count{0};
    {
        std::vector<glt::Ult> units;
        for (int i = 0; i < 100; ++i) units.emplace_back([&count] { ++count; }, glt::Attributes{.thread = i % 2, .strict = true});
        glt::Tasklet tasklet([&count] { ++count; }), moved(std::move(tasklet));
        must(!tasklet.joinable() && moved.joinable(), "units are moved");
    }
    must(count == 101, "destructors join");
}

void units_wait_for_each_other()
{
    glt::Mutex mutex;
    glt::ConditionVariable condition;
    glt::Barrier barrier(3);
    int turn = 0;
    const auto play = [&](int mine) {
        barrier.arrive_and_wait();
        for (int round = 0; round < 10; ++round) {
            std::unique_lock lock(mutex);
            condition.wait(lock, [&] { return turn % 2 == mine; });
            ++turn;
            condition.notify_all();
        }
    };
    glt::Ult first([&] { play(0); }), second([&] { play(1); });
    barrier.arrive_and_wait();
    first.join();
    second.join();
    must(turn == 20, "two units take turns");
    must(mutex.try_lock() && !mutex.try_lock(), "try_lock takes the lock once");
    mutex.unlock();
}

void counters_and_events_open()
{
    glt::Counter counter;
    glt::Event event;
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) {
        glt::Ult unit([&] { event.wait(), ++ran; }, glt::Attributes{.counter = &counter});
        unit.detach();
    }
    must(!counter.wait_for(5ms), "the counter is not open while its units wait");
    event.set();
    counter.wait();
    must(ran == 10, "all units of a counter have run");
    must(status_of([&] { counter.add(-1); }) == GLT_ERROR_VALUE, "a counter does not go below zero");
}

void keys_belong_to_units()
{
    static int alive;
    struct Value {
        explicit Value(int n) : number(n) { ++alive; }
        ~Value() { --alive; }
        int number;
    };
    {
        glt::Key<Value> key;
        key.set(std::make_unique<Value>(1));
        glt::Ult unit([&] {
            must(key.get() == nullptr, "a unit has values of its own");
            key.set(std::make_unique<Value>(2));
            glt::this_unit::yield();
            must(key.get()->number == 2, "and keeps them");
        });
        unit.join();
        must(alive == 1 && key.get()->number == 1, "they end with the unit");
        key.set(nullptr);
    }
    must(alive == 0, "the main program takes its value back");
}

void units_are_resumed()
{
    const glt::UnitRef main_program = glt::this_unit::self();
    glt::Ult unit([&] { main_program.resume(); });
    glt::this_unit::suspend();
    unit.join();
    must(main_program.id() != 0, "the main program is a unit");
}

} // namespace

int main()
{
    glt_set_error_handler([](int, const char*) {});
    must(status_of([] { glt::Runtime runtime({.num_threads = -1}); }) == GLT_ERROR_VALUE, "bad options throw");
    {
        glt::Runtime runtime({.num_threads = 2});
        must(runtime.threads() == 2, "two threads run");
        units_run_and_hand_over_exceptions();
        units_wait_for_each_other();
        counters_and_events_open();
        keys_belong_to_units();
        units_are_resumed();
        std::printf("%s: the C++ face\n", runtime.backend());
    }
    must(glt_initialized() == 0, "the runtime ends with its object");
    return 0;
}
