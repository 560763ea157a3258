#pragma once
#include "threads/flag.hpp"
#include "threads/parker.hpp"
#include "threads/threads.hpp"
#include "trencadis/glt/table.h"

#include <functional>
#include <memory>
#include <sched.h>
#include <vector>

namespace trencadis {

class GltPlace;

/// A unit as one ULT. It sleeps suspended; what wakes it runs on the same GLT thread and goes to sleep next.
class GltUnit final : public WorkUnit {
public:
    GltUnit(GltPlace& place, std::function<WorkUnit*()> body) : place_(place), body_(std::move(body)) {}
    /// By who runs on the place's thread: starts the ULT, which goes to sleep. Throws Error{environment}.
    void start();
    void wake();
    void sleep(); ///< by the unit itself
    void mark_seated() { seated_ = true; }
    bool seated() const { return seated_; }

private:
    static void enter(void* self);

    GltPlace& place_;
    std::function<WorkUnit*()> body_;
    GLT_ult handle_{}, creator_{};
    bool seated_ = false; ///< has had the seat
};

/// One thread of a GLT library and the unit that keeps it while nobody has its seat: the keeper sleeps in the operating system,
/// so that the thread costs nothing under any idle policy, and no other thread's unit is taken to run here. All calls to the
/// library are made on its own threads.
///
/// Invariant: of the ULTs of the thread one runs, the others are suspended or about to run because the running one resumed them
/// and suspends itself or ends next. So the thread's queue is never empty when its scheduler looks, and a unit stays on its
/// thread also in libraries whose idle threads take units from others.
class GltPlace {
public:
    /// Kernels of outside libraries run on a unit's stack and put large arrays there. Only pages that are used are backed.
    static constexpr std::size_t stack_bytes = std::size_t{4} << 20;

    explicit GltPlace(const glt_table& table) : table(table) {}

    void keep();    ///< the keeper's body
    void dismiss(); ///< the keeper's body returns. Any thread
    // Any thread calls these while nobody has the seat; make_unit also the unit that has it.
    void pin(int cpu, const cpu_set_t& unpinned);
    GltUnit& make_unit(std::function<WorkUnit*()> body);
    void give(GltUnit& unit);
    void drop_units(); ///< waits until nobody has the seat
    // The unit that has the seat calls these.
    void pass(GltUnit& self, GltUnit& next);
    void leave(GltUnit* next); ///< `next` has the seat now, or nobody; the caller ends

    const glt_table& table;
    int thread = -1;     ///< its number in the library
    bool leased = false; ///< under the lock of the hosts

private:
    void on_keeper(std::function<void()> job);

    GLT_ult keeper_{};
    std::function<void()> job_; ///< for the keeper; none: the end
    Parker order_, done_;
    Flag taken_;
    std::vector<std::unique_ptr<GltUnit>> units_; ///< changed by who has the seat
};

} // namespace trencadis
