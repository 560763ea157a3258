/// GLT for C++20: handles that free themselves, errors as exceptions, callables as units. Thin: every object is one handle of
/// glt.h (a unit also has its callable), every call one call. Works over both forms.
///
///     glt::Runtime runtime({.num_threads = 4});
///     glt::Mutex mutex;
///     glt::Ult unit([&] { std::lock_guard guard(mutex); work(); });
///     unit.join(); // throws what left the callable
///
/// A failing call throws glt::Error; the error handler of glt.h is called as well, glt_set_error_handler makes it quiet. What
/// cannot fail but by misuse (lock, yield, wait on a barrier) does not throw and reports to the handler only.
#pragma once

#include "glt.h"

#include <atomic>
#include <chrono>
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace glt {

class Error : public std::runtime_error {
public:
    Error(int status, const char* message) : std::runtime_error(message), status_(status) {}
    /// One of GLT_ERROR_...
    int status() const noexcept { return status_; }

private:
    int status_;
};

namespace detail {

/// Passes the answers on and throws for errors.
inline int check(int status)
{
    if (status < GLT_ERROR_STATE) return status;
    glt_last_status(); // it is told here
    throw Error(status, glt_last_message());
}

/// For functions without a status: the handle stays null when they fail.
template <class Handle> Handle check_made(Handle handle)
{
    if (!handle) {
        const int status = glt_last_status();
        throw Error(status, glt_last_message());
    }
    return handle;
}

template <class Rep, class Period> double seconds(std::chrono::duration<Rep, Period> time)
{
    const double value = std::chrono::duration<double>(time).count();
    return value > 0 ? value : 0;
}

/// A handle that is made by one function and freed by another, and not copied or moved: others wait on it where it is.
template <class Handle> class Fixed {
public:
    Fixed(const Fixed&) = delete;
    Fixed& operator=(const Fixed&) = delete;
    Handle native_handle() const noexcept { return handle_; }

protected:
    Fixed() = default;
    ~Fixed() = default;
    Handle handle_{};
};

} // namespace detail

/// What GLT_options has; what is left open is at its standard.
struct Options {
    const char* backend = nullptr;
    int num_threads = 0;
    std::size_t stack_size = 0;
    int idle = GLT_IDLE_STANDARD;
    int bind = 0;
};

/// The library from construction to destruction. By the main program, which is thread 0 from then on.
class Runtime {
public:
    explicit Runtime(const Options& options = {})
    {
        const GLT_options given{options.backend, options.num_threads, options.stack_size, options.idle, options.bind};
        detail::check(glt_init_with(&given));
    }
    ~Runtime() { glt_finalize(); }
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    int threads() const noexcept { return glt_get_num_threads(); }
    const char* backend() const noexcept { return glt_backend_name(); }
    /// GLT_CANNOT, GLT_EMULATED or GLT_NATIVELY
    int can(int capability) const noexcept { return glt_can(capability); }
};

/// Mutual exclusion between units; Lockable, so std::lock_guard, std::unique_lock and std::scoped_lock take it.
class Mutex : public detail::Fixed<GLT_mutex> {
public:
    Mutex()
    {
        glt_mutex_create(&handle_);
        detail::check_made(handle_);
    }
    ~Mutex() { glt_mutex_free(&handle_); }
    void lock() { glt_mutex_lock(handle_); }
    void unlock() { glt_mutex_unlock(handle_); }
    bool try_lock() { return glt_mutex_trylock(handle_) != 0; }
};

class ConditionVariable : public detail::Fixed<GLT_cond> {
public:
    ConditionVariable()
    {
        glt_cond_create(&handle_);
        detail::check_made(handle_);
    }
    ~ConditionVariable() { glt_cond_free(&handle_); }
    void notify_one() { glt_cond_signal(handle_); }
    void notify_all() { glt_cond_broadcast(handle_); }
    /// May return without a notification.
    void wait(std::unique_lock<Mutex>& lock) { glt_cond_wait(handle_, lock.mutex()->native_handle()); }
    template <class Predicate> void wait(std::unique_lock<Mutex>& lock, Predicate predicate)
    {
        while (!predicate()) wait(lock);
    }
};

/// A barrier for `units` units, which may be used again and again.
class Barrier : public detail::Fixed<GLT_barrier> {
public:
    explicit Barrier(int units)
    {
        glt_barrier_create(units, &handle_);
        detail::check_made(handle_);
    }
    ~Barrier() { glt_barrier_free(&handle_); }
    void arrive_and_wait() { glt_barrier_wait(&handle_); }
};

/// Opens when the count is 0: units that carry it in their attributes are joined all at once by wait().
class Counter : public detail::Fixed<GLT_counter> {
public:
    explicit Counter(long count = 0) { detail::check(glt_counter_create(count, &handle_)); }
    ~Counter() { glt_counter_free(&handle_); }
    void add(long change) { detail::check(glt_counter_add(handle_, change)); }
    void wait() { detail::check(glt_counter_wait(handle_)); }
    /// Whether it opened in time.
    template <class Rep, class Period> bool wait_for(std::chrono::duration<Rep, Period> time)
    {
        return detail::check(glt_counter_wait_for(handle_, detail::seconds(time))) == GLT_SUCCESS;
    }
};

/// Set stays set until reset.
class Event : public detail::Fixed<GLT_event> {
public:
    Event() { detail::check(glt_event_create(&handle_)); }
    ~Event() { glt_event_free(&handle_); }
    void set() { detail::check(glt_event_set(handle_)); }
    void reset() { detail::check(glt_event_reset(handle_)); }
    void wait() { detail::check(glt_event_wait(handle_)); }
    /// Whether it was set in time.
    template <class Rep, class Period> bool wait_for(std::chrono::duration<Rep, Period> time)
    {
        return detail::check(glt_event_wait_for(handle_, detail::seconds(time))) == GLT_SUCCESS;
    }
};

/// A T of its own for each unit, deleted when the unit ends. What the main program and foreign threads set is theirs to take
/// back.
template <class T> class Key : public detail::Fixed<GLT_key> {
public:
    Key()
    {
        glt_key_create([](void* value) { delete static_cast<T*>(value); }, &this->handle_);
        detail::check_made(this->handle_);
    }
    ~Key() { glt_key_free(&this->handle_); }
    /// Null where none was set.
    T* get() const
    {
        void* value = nullptr;
        glt_key_get(this->handle_, &value);
        return static_cast<T*>(value);
    }
    /// Replaces the caller's value and hands the one before to the caller.
    std::unique_ptr<T> set(std::unique_ptr<T> value)
    {
        std::unique_ptr<T> before(get());
        glt_key_set(this->handle_, value.release());
        return before;
    }
};

/// Names a unit without owning it: to resume it, to yield to it. Valid as long as the unit is not joined, freed or detached and
/// ended.
class UnitRef {
public:
    UnitRef() = default;
    explicit UnitRef(GLT_ult handle) : handle_(handle) {}
    explicit operator bool() const noexcept { return handle_ != GLT_ult{}; }
    void resume() const { detail::check(glt_ult_resume(handle_)); }
    GLT_ult_id id() const
    {
        GLT_ult_id id = 0;
        glt_ult_get_id(&id, handle_);
        return id;
    }
    GLT_ult native_handle() const noexcept { return handle_; }

private:
    GLT_ult handle_{};
};

/// What a unit may be told at its creation; glt.h has the meaning of each.
struct Attributes {
    int thread = GLT_ANY_THREAD;
    bool strict = false; ///< no other thread may take it
    std::size_t stack_size = 0;
    Counter* counter = nullptr;
    const char* name = nullptr;
};

namespace detail {

struct UltCalls {
    using Handle = GLT_ult;
    static int create(void (*body)(void*), void* task, const GLT_attributes* a, Handle* h)
    {
        return glt_ult_create_with(body, task, a, h);
    }
    static void join(Handle* h) { glt_ult_join(h); }
    static int try_join(Handle* h) { return glt_ult_try_join(h); }
    static int join_for(Handle* h, double seconds) { return glt_ult_join_for(h, seconds); }
    static int detach(Handle* h) { return glt_ult_detach(h); }
    static void free(Handle* h) { glt_ult_free(h); }
    static void cancel(Handle h) { glt_ult_cancel(h); }
};

struct TaskletCalls {
    using Handle = GLT_tasklet;
    static int create(void (*body)(void*), void* task, const GLT_attributes* a, Handle* h)
    {
        return glt_tasklet_create_with(body, task, a, h);
    }
    static void join(Handle* h) { glt_tasklet_join(h); }
    static int try_join(Handle* h) { return glt_tasklet_try_join(h); }
    static int join_for(Handle* h, double seconds) { return glt_tasklet_join_for(h, seconds); }
    static int detach(Handle* h) { return glt_tasklet_detach(h); }
    static void free(Handle* h) { glt_tasklet_free(h); }
    static void cancel(Handle h) { glt_tasklet_cancel(h); }
};

/// What a unit runs, and what left it. Shared by the unit and the object; who lets go last deletes it.
struct Task {
    virtual ~Task() = default;
    virtual void run() = 0;

    std::exception_ptr failure; ///< written by the unit before its end, read after the join
    std::atomic<bool> ended{false};
    std::atomic<int> holders{2};

    void let_go()
    {
        if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
};

template <class F> struct TaskOf final : Task {
    explicit TaskOf(F&& function) : function_(std::move(function)) {}
    explicit TaskOf(const F& function) : function_(function) {}
    void run() override { function_(); }
    F function_;
};

/// The function of every unit made here. A unit that exits or is cancelled ends by an unwinding of its own, which passes through.
inline void run_task(void* argument)
{
    struct End {
        Task* task;
        ~End()
        {
            task->ended.store(true, std::memory_order_release);
            task->let_go();
        }
    } end{static_cast<Task*>(argument)};
    try {
        end.task->run();
    } catch (abi::__forced_unwind&) {
        throw;
    } catch (...) {
        end.task->failure = std::current_exception();
    }
}

} // namespace detail

/// A unit. Joined by join(), by the destructor at the latest; an exception that left its callable is thrown by join() and is lost
/// if nobody joins, as with std::async.
template <class Calls> class Unit {
public:
    Unit() = default;
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, Unit> && std::is_invocable_v<std::decay_t<F>&>)
    explicit Unit(F&& function, const Attributes& attributes = {})
    {
        GLT_attributes given;
        glt_attributes_init(&given);
        given.thread = attributes.thread;
        given.placement = attributes.strict ? GLT_PLACE_STRICT : GLT_PLACE_HINT;
        given.stack_size = attributes.stack_size;
        given.name = attributes.name;
        if (attributes.counter) given.counter = attributes.counter->native_handle();
        std::unique_ptr<detail::Task> task = std::make_unique<detail::TaskOf<std::decay_t<F>>>(std::forward<F>(function));
        detail::check(Calls::create(detail::run_task, task.get(), &given, &handle_));
        task_ = task.release();
    }
    Unit(Unit&& other) noexcept : handle_(std::exchange(other.handle_, {})), task_(std::exchange(other.task_, nullptr)) {}
    Unit& operator=(Unit&& other) noexcept
    {
        if (this != &other) {
            finish();
            handle_ = std::exchange(other.handle_, {});
            task_ = std::exchange(other.task_, nullptr);
        }
        return *this;
    }
    ~Unit() { finish(); }

    bool joinable() const noexcept { return task_ != nullptr; }
    /// Waits for the end, and throws what left the callable.
    void join()
    {
        check_joinable();
        glt_last_status(); // an error found below is then one of this call, or of a unit that waited here in the meantime
        Calls::join(&handle_);
        if (!task_->ended.load(std::memory_order_acquire)) detail::check(glt_last_status()); // if not an error, it was cancelled
        close();
    }
    /// Whether it had ended and is joined now.
    bool try_join()
    {
        check_joinable();
        return closed(Calls::try_join(&handle_));
    }
    template <class Rep, class Period> bool join_for(std::chrono::duration<Rep, Period> time)
    {
        check_joinable();
        return closed(Calls::join_for(&handle_, detail::seconds(time)));
    }
    /// Nobody will join it. An exception that leaves it is lost.
    void detach()
    {
        check_joinable();
        detail::check(Calls::detach(&handle_));
        handle_ = {};
        std::exchange(task_, nullptr)->let_go();
    }
    void cancel() { Calls::cancel(handle_); }
    UnitRef ref() const noexcept requires std::is_same_v<Calls, detail::UltCalls> { return UnitRef(handle_); }
    typename Calls::Handle native_handle() const noexcept { return handle_; }

private:
    void check_joinable() const
    {
        if (!task_) throw Error(GLT_ERROR_HANDLE, "glt::Unit: there is no unit: never created, joined, detached or moved away");
    }

    bool closed(int answer)
    {
        if (detail::check(answer) != GLT_SUCCESS) return false;
        close();
        return true;
    }

    /// After the join: gives the unit back, then throws.
    void close()
    {
        Calls::free(&handle_);
        handle_ = {};
        const std::exception_ptr failure = task_->failure;
        delete std::exchange(task_, nullptr); // also where the unit was cancelled before it could let go
        if (failure) std::rethrow_exception(failure);
    }

    void finish() noexcept
    {
        if (!task_) return;
        Calls::free(&handle_); // joins
        if (handle_ == typename Calls::Handle{}) delete task_;
        else task_->let_go(); // it could not wait here: the unit goes on
        task_ = nullptr;
    }

    typename Calls::Handle handle_{};
    detail::Task* task_ = nullptr;
};

using Ult = Unit<detail::UltCalls>;
using Tasklet = Unit<detail::TaskletCalls>;

namespace this_unit {

inline void yield() { glt_yield(); }
inline void yield_to(UnitRef unit) { glt_yield_to(unit.native_handle()); }
/// Until somebody calls resume() on self(); a resume that came first is kept.
inline void suspend() { detail::check(glt_ult_suspend()); }
/// Empty in a foreign thread.
inline UnitRef self()
{
    GLT_ult unit{};
    glt_ult_self(&unit);
    return UnitRef(unit);
}
/// -1 in a foreign thread.
inline int thread() { return glt_get_thread_num(); }
inline void migrate_to(int thread) { glt_ult_migrate_self_to(thread); }

} // namespace this_unit
} // namespace glt
