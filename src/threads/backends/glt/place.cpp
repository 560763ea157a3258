#include "threads/backends/glt/place.hpp"

#include "base/error.hpp"
#include "threads/backends/exception_state.hpp"
#include "threads/backends/plain_thread.hpp"

#include <exception>
#include <string>
#include <utility>

namespace trencadis {
namespace {

/// Takes the calling ULT off its thread until it is resumed.
void suspend(const glt_table& table)
{
    const ExceptionState mine;
    table.ult_suspend();
    mine.put_back();
}

} // namespace

// ---- units ------------------------------------------------------------------------------------------------------

void GltUnit::start()
{
    const glt_table& table = place_.table;
    table.ult_self(&creator_);
    GLT_attributes attributes;
    table.attributes_init(&attributes);
    attributes.stack_size = GltPlace::stack_bytes;
    attributes.thread = place_.thread;
    attributes.placement = table.can(GLT_CAN_PLACE) == GLT_CANNOT ? GLT_PLACE_HINT : GLT_PLACE_STRICT;
    attributes.detached = 1;
    attributes.name = "worker";
    if (table.ult_create_with(&GltUnit::enter, this, &attributes, nullptr) != GLT_SUCCESS)
        throw Error(ErrorCode::environment, std::string("cannot start a unit: ") + table.last_message());
    suspend(table);
}

void GltUnit::wake() { place_.table.ult_resume(handle_); }
void GltUnit::sleep() { suspend(place_.table); }

void GltUnit::enter(void* self)
{
    GltUnit& unit = *static_cast<GltUnit*>(self);
    GltPlace& place = unit.place_;
    ExceptionState::clear();
    place.table.ult_self(&unit.handle_);
    place.table.ult_resume(unit.creator_);
    unit.sleep();
    WorkUnit* const next = unit.seated_ ? unit.body_() : nullptr;
    place.leave(static_cast<GltUnit*>(next));
}

// ---- the place --------------------------------------------------------------------------------------------------

void GltPlace::keep()
{
    table.ult_self(&keeper_);
    thread = table.get_thread_num();
    pthread_setname_np(pthread_self(), "trencadis");
    while (true) {
        order_.park();
        const std::function<void()> job = std::exchange(job_, nullptr);
        if (!job) return;
        job();
    }
}

void GltPlace::dismiss() { order_.unpark(); }

/// Returns when the keeper has done it; what it throws is thrown here.
void GltPlace::on_keeper(std::function<void()> job)
{
    std::exception_ptr failure;
    job_ = [&] {
        try {
            job();
        } catch (...) {
            failure = std::current_exception();
        }
        done_.unpark();
    };
    order_.unpark();
    done_.park();
    if (failure) std::rethrow_exception(failure);
}

void GltPlace::pin(int cpu, const cpu_set_t& unpinned)
{
    on_keeper([&] {
        pthread_setaffinity_np(pthread_self(), sizeof unpinned, &unpinned);
        pin_to(cpu);
    });
}

GltUnit& GltPlace::make_unit(std::function<WorkUnit*()> body)
{
    auto unit = std::make_unique<GltUnit>(*this, std::move(body));
    units_.reserve(units_.size() + 1);
    if (taken_.is_set()) unit->start();
    else on_keeper([&] { unit->start(); });
    return *units_.emplace_back(std::move(unit));
}

void GltPlace::give(GltUnit& unit)
{
    taken_.set();
    unit.mark_seated();
    job_ = [this, &unit] {
        unit.wake();
        suspend(table); // until the seat is left
        taken_.clear();
    };
    order_.unpark();
}

void GltPlace::pass(GltUnit& self, GltUnit& next)
{
    next.mark_seated();
    next.wake();
    self.sleep();
}

void GltPlace::leave(GltUnit* next)
{
    if (next) {
        next->mark_seated();
        next->wake();
    } else table.ult_resume(keeper_);
}

void GltPlace::drop_units()
{
    taken_.wait_until_clear();
    on_keeper([&] {
        for (auto& unit : units_)
            if (!unit->seated()) {
                unit->wake();
                suspend(table);
            }
    });
    units_.clear();
}

} // namespace trencadis
