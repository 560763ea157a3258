// The life of a stack: one unit after the other, each up to its end or its exit.
#include "glt/native/exit.hpp"
#include "glt/native/keys.hpp"
#include "glt/native/runtime.hpp"
#include "glt/native/wait.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <unistd.h>
#include <unwind.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace trencadis::ult {

using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

[[gnu::noinline]] void call(Unit* unit)
{
    try {
        unit->function(unit->argument);
    } catch (const std::exception& error) {
        die_of_exception(*unit, error.what());
    } catch (...) {
        if (unit->has(Unit::exiting)) throw; // glt_ult_exit on its way
        die_of_exception(*unit, "no std::exception");
    }
}

bool fits(const Unit* unit, const Stack* me)
{
    if (unit->sp) return false;
    if (unit->has(Unit::is_tasklet)) return me->size_class >= runtime->stack_class;
    return unit->stack_class == me->size_class;
}

[[noreturn, gnu::noinline]] void live_on(Worker* worker, Stack* me)
{
    me->frame = __builtin_frame_address(0);
    Unit* unit = std::exchange(worker->given, nullptr);
    for (;;) {
        if (!unit) unit = worker->wait_for_next();
        if (unit && fits(unit, me)) [[likely]] {
            worker->current = unit;
            unit->stack = me;
            if (!unit->cancelled.load(std::memory_order_relaxed)) [[likely]]
                call(unit);
            finish(unit);
            worker = this_worker();
            unit = worker->next();
        } else {
            worker->leave(me, unit);
            worker = this_worker();
            unit = std::exchange(worker->given, nullptr);
        }
    }
}

void fiber_entry(transfer_t transfer)
{
    auto* worker = static_cast<Worker*>(transfer.data);
    Stack* me = worker->entered;
    worker->arrived(transfer, me->trace);
    *worker->exceptions = Exceptions{};
    live_on(worker, me);
}

/// The frames of the unit are gone; the stack begins anew. We stand below what is overwritten, and are not come back to.
[[noreturn]] void begin_again(Stack* me)
{
    Worker* worker = this_worker();
    static thread_local void* nowhere; // where the context left for good is put
    begin_fiber(*me);
    worker->departure = {&nowhere, Departure::none, nullptr, 0, nullptr, nullptr};
    worker->entered = me;
    worker->given = nullptr;
    me->trace.leave(me->trace, true);
    jump(me->sp, worker);
    std::abort(); // not reached
}

struct ExitException {
    _Unwind_Exception header;
    Unit* unit;
};

_Unwind_Reason_Code stop_at_base(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception* exception,
                                 _Unwind_Context* context, void*)
{
    Unit* unit = reinterpret_cast<ExitException*>(exception)->unit;
    Stack* me = unit->stack;
    if (!(actions & _UA_END_OF_STACK) && _Unwind_GetCFA(context) < reinterpret_cast<_Unwind_Word>(me->frame))
        return _URC_NO_REASON;
    std::free(exception);
    finish(unit);
#if defined(__SANITIZE_ADDRESS__)
    __asan_handle_no_return(); // the abandoned frames' red zones
#endif
    begin_again(me);
}

/// A catch (...) that did not rethrow: the unit goes on, to its next yield or wait.
void swallowed(_Unwind_Reason_Code, _Unwind_Exception* exception)
{
    Unit* unit = reinterpret_cast<ExitException*>(exception)->unit;
    unit->bits.store(static_cast<std::uint8_t>(unit->bits.load() & ~Unit::exiting));
    std::free(exception);
}

} // namespace

void begin_fiber(Stack& stack)
{
    stack.sp = make_fcontext(stack.top(), static_cast<std::size_t>(stack.top() - stack.bottom()), fiber_entry);
    stack.trace.begin(stack.bottom(), static_cast<std::size_t>(stack.top() - stack.bottom()));
}

[[noreturn]] void exit_unit(Unit& self)
{
    self.cancelled.store(1);
    self.set(Unit::exiting);
    // Not on the stack: a handler that swallows it deletes it when the frames below are gone.
    auto* exception = static_cast<ExitException*>(std::calloc(1, sizeof(ExitException)));
    if (!exception) std::terminate();
    exception->header.exception_cleanup = swallowed;
    exception->unit = &self;
    _Unwind_ForcedUnwind(&exception->header, stop_at_base, nullptr);
    std::terminate(); // not reached: the base is always found
}

bool Worker::run_here(Unit* tasklet)
{
    Unit* self = current;
    if (!self || self->has(Unit::is_tasklet) || deque.newest() != tasklet) return false;
    if (self->stack) {
        const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
        if (here - self->stack->bottom() < static_cast<std::ptrdiff_t>(self->stack->size / 2)) return false;
    }
    if (deque.pop() != tasklet) return false; // a thief was quicker, and took the last there was
    current = tasklet;
    tasklet->stack = self->stack;
    const Exceptions mine = std::exchange(*exceptions, Exceptions{}); // the joiner may be in a handler; the tasklet is not
    if (!tasklet->cancelled.load(std::memory_order_relaxed)) call(tasklet);
    finish(tasklet);
    current = self; // a tasklet does not wait, so this is still the same thread
    *exceptions = mine;
    return true;
}

void finish(Unit* unit)
{
    if (unit->values) [[unlikely]] {
        unit->set(Unit::exiting); // a destructor may wait, and is not to be cancelled
        end_values(*unit);
    }
    if (unit->counter) [[unlikely]]
        count_down(std::exchange(unit->counter, 0));
    Worker* worker = this_worker();
    worker->current = nullptr;
    // Strict units are run oldest first, as a joiner mostly joins them: were it to go on after each, it would leave again at
    // once.
    const Turn turn = unit->has(Unit::strict) ? Turn::last : Turn::next;
    // The last touch: a joiner that sees it may free the slot at once. Sequentially consistent as the joiner's side (join.cpp).
    const std::uint64_t before = unit->join_word.fetch_add(Unit::done, std::memory_order_seq_cst);
    if (before > Unit::detached) {
        auto* joiner = reinterpret_cast<Unit*>(before);
        wake(*joiner, joiner->join_sequence.load(std::memory_order_seq_cst), signalled, turn);
    } else if (before == Unit::detached) {
        if (Slots::end(unit)) unit_slots.give(worker->units, unit);
    }
}

void die_of_exception(const Unit& unit, const char* what)
{
    char text[256];
    const int length =
        std::snprintf(text, sizeof text, "glt: an exception left unit %llu%s%s%s: %s\n", static_cast<unsigned long long>(unit.id),
                      unit.name ? " (" : "", unit.name ? unit.name : "", unit.name ? ")" : "", what);
    if (write(2, text, static_cast<std::size_t>(length) < sizeof text ? static_cast<std::size_t>(length) : sizeof text - 1) < 0) {
    }
    std::terminate();
}

} // namespace trencadis::ult
