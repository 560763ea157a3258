// The beginning and the end: glt_init_with and glt_finalize.
#include "glt/native/runtime.hpp"

#include "glt/native/keys.hpp"
#include "glt/native/objects.hpp"
#include "glt/native/overflow.hpp"
#include "trencadis/glt/native/library.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <cxxabi.h>
#include <sched.h>
#include <signal.h>

namespace trencadis::ult {

Runtime* runtime = nullptr;

namespace {

cpu_set_t mask_before; ///< of the thread that called init

void bind_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set); // a core that left the mask meanwhile: unbound then
}

void enter(Worker& worker)
{
    worker_here = &worker;
    worker.exceptions = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
    give_signal_stack(worker);
    if (worker.cpu < 0) return;
    bind_to(worker.cpu);
    // Unbound threads begin on a core each as well: the system takes milliseconds to part two that came to share one.
    if (!runtime->settings.bind) pthread_setaffinity_np(pthread_self(), sizeof mask_before, &mask_before);
}

void* thread_main(void* argument)
{
    Worker& worker = *static_cast<Worker*>(argument);
    char name[16];
    std::snprintf(name, sizeof name, "glt %u", worker.number);
    pthread_setname_np(pthread_self(), name);
    enter(worker);
    worker.serve();
    take_signal_stack(worker);
    worker_here = nullptr;
    return nullptr;
}

/// The calling thread's program as a unit: it keeps its stack, and runs on thread 0 only.
Unit* adopt_main(Worker& worker)
{
    auto* main = static_cast<Unit*>(unit_slots.take(worker.units));
    if (!main) return nullptr;
    main->cancelled.store(0);
    main->bits.store(Unit::strict | Unit::is_main);
    main->home = 0;
    main->join_word.store(Unit::running);
    main->id = draw_ids(1);
    main->stack = nullptr;
    main->values = nullptr;
    main->name = "main";
    main->counter = 0;
    main->suspend_word.store(0);
    main->tag.store((main->tag.load() & 0xffff0000u) | static_cast<std::uint32_t>(Kind::ult));
    runtime->main_trace.adopt();
    worker.current = main;
    return main;
}

void stop_threads(std::size_t started)
{
    runtime->stopping.store(true);
    heavy_fence();
    for (std::size_t i = 1; i < started; ++i) runtime->workers[i]->wake();
    for (std::size_t i = 1; i < started; ++i) pthread_join(runtime->workers[i]->thread, nullptr);
}

/// How many threads run now; fewer than asked for when the system gives no more.
std::size_t start_threads()
{
    // Signals are the program's business: a worker that took SIGINT would hide it from the main thread.
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); // its own faults a thread must get
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::size_t started = 1;
    for (; started < runtime->workers.size(); ++started) {
        Worker& worker = *runtime->workers[started];
        if (pthread_create(&worker.thread, nullptr, thread_main, &worker) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

void give_all_back()
{
    Runtime* old = runtime;
    remove_overflow_handler();
    take_signal_stack(*old->workers[0]);
    if (old->settings.bind) pthread_setaffinity_np(pthread_self(), sizeof mask_before, &mask_before);
    runtime = nullptr;
    worker_here = nullptr;
    delete old;
    stacks.clear();
    unit_slots.clear();
    object_slots.clear();
    forget_keys();
}

int start(const Settings& settings)
{
    if (!unit_slots.reserve() || !object_slots.reserve()) return report(GLT_ERROR_MEMORY, "glt_init: no room for handles");
    prepare_fences();
    pthread_getaffinity_np(pthread_self(), sizeof mask_before, &mask_before);
    runtime = new Runtime;
    runtime->settings = settings;
    initialisations.fetch_add(1);
    runtime->stack_class = stack_class_of(settings.stack_size);
    runtime->may_spin = settings.threads > 1 && settings.cpus > 1;
    const bool crowded = settings.threads > settings.cpus;
    // Longer than it takes to wake a thread on a core that was halted, some 100 us on virtual machines: with less, two threads
    // that wait for each other in turn would each sleep while the other is woken, for ever.
    constexpr std::int64_t spin_ns = 200'000;
    runtime->spin_ns = settings.idle == GLT_IDLE_SPIN ? 1 : settings.idle == GLT_IDLE_SPIN_SLEEP && !crowded ? spin_ns : 0;
    for (int i = 0; i < settings.threads; ++i) {
        runtime->workers.push_back(std::make_unique<Worker>(static_cast<unsigned>(i)));
        if (settings.bind || !crowded) runtime->workers.back()->cpu = settings.cpu[i % settings.cpus];
    }
    install_overflow_handler();
    Worker& first = *runtime->workers[0];
    enter(first);
    runtime->main = adopt_main(first);
    const std::size_t started = runtime->main ? start_threads() : 1;
    if (runtime->main && started == runtime->workers.size()) return GLT_SUCCESS;
    const bool memory = !runtime->main;
    stop_threads(started);
    give_all_back();
    if (memory) return report(GLT_ERROR_MEMORY, "glt_init: no memory for the main program's unit");
    return report(GLT_ERROR_ENVIRONMENT, "glt_init: the system gave %zu threads of %d", started, settings.threads);
}

/// True when all other workers sleep, with nothing left for anybody: a worker asleep has no unit at hand.
bool quiet(Worker& mine)
{
    const std::size_t others = runtime->workers.size() - 1;
    if (runtime->idle.load() != others * Runtime::sleeper) return false;
    heavy_fence();
    for (const auto& worker : runtime->workers)
        if (!worker->strict_inbox.empty()) return false;
    return !anything_to_do(&mine) && runtime->next_deadline.load() == TimerHeap<Unit>::never &&
           runtime->idle.load() == others * Runtime::sleeper;
}

/// Runs what is ready until nothing is.
void drain(Worker& mine, Unit* main)
{
    runtime->draining.store(true);
    std::int64_t pause = 2'000;
    do {
        while (Unit* unit = mine.next_or_due()) {
            mine.fifo.push(main);
            mine.switch_to(unit, main);
            pause = 2'000;
        }
        if (quiet(mine)) return;
        const timespec moment{0, static_cast<long>(pause)};
        nanosleep(&moment, nullptr);
        if (pause < 500'000) pause *= 2;
    } while (true);
}

/// Names the units that will never end, and forgets them.
int report_leftovers()
{
    std::size_t count = 0;
    char names[160] = "";
    std::size_t length = 0;
    unit_slots.each([&](Slot* slot) {
        const std::uint32_t kind = slot->tag.load() & 0xff;
        if (kind != static_cast<std::uint32_t>(Kind::ult) && kind != static_cast<std::uint32_t>(Kind::tasklet)) return;
        auto* unit = static_cast<Unit*>(slot);
        if (unit == runtime->main || Unit::has_ended(unit->join_word.load())) return;
        if (unit->values) std::free(unit->values);
        if (++count > 8 || length + 40 > sizeof names) return;
        length += static_cast<std::size_t>(std::snprintf(names + length, sizeof names - length, "%s%llu", count > 1 ? ", " : "",
                                                         static_cast<unsigned long long>(unit->id)));
        if (unit->name)
            length += static_cast<std::size_t>(std::snprintf(names + length, sizeof names - length, " (%.24s)", unit->name));
    });
    if (!count) return GLT_SUCCESS;
    return report(GLT_ERROR_STATE, "glt_finalize: %zu unit%s wait%s for ever and %s dropped: %s%s", count, count == 1 ? "" : "s",
                  count == 1 ? "s" : "", count == 1 ? "is" : "are", names, count > 8 ? ", ..." : "");
}

} // namespace
} // namespace trencadis::ult

using namespace trencadis::ult;

extern "C" {

int glt_native_init_with(const GLT_options* options)
{
    if (runtime) return report(GLT_ERROR_STATE, "glt_init: initialised already; glt_finalize first");
    const auto settings = std::make_unique<Settings>();
    const int status = resolve(options, *settings);
    return status == GLT_SUCCESS ? start(*settings) : status;
}

void glt_native_finalize(void)
{
    if (!ready_for("glt_finalize")) return;
    Worker* mine = worker_here;
    if (!mine || mine->current != runtime->main)
        return void(report(GLT_ERROR_CONTEXT, "glt_finalize: called by a unit or thread that did not call glt_init"));
    drain(*mine, runtime->main);
    if (runtime->main->values) end_values(*runtime->main);
    report_leftovers();
    stop_threads(runtime->workers.size());
    give_all_back();
}
}
