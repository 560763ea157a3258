#include "devices/opencl/watch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trencadis::devices::opencl {
namespace {

cl_int status_of_event(const Event& event)
{
    cl_int status = CL_COMPLETE;
    clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return status;
}

} // namespace

Status status_of_marker(const Marker& marker, cl_int code)
{
    for (const auto& gate : marker.gates) {
        const std::lock_guard lock(gate->mutex);
        if (!gate->status.ok()) return gate->status;
    }
    for (const Event& event : marker.before)
        if (const cl_int its = status_of_event(event); its < CL_SUCCESS) return status_of(its, marker.fault, "what was enqueued");
    return status_of(code, marker.fault, "what was enqueued");
}

Watch::Watch() : thread_([state = state_] { live(*state); }) {}

Watch::~Watch()
{
    {
        std::unique_lock lock(state_->mutex);
        state_->changed.wait(lock, [this] { return state_->waiting.empty(); });
        state_->ends = true;
        state_->changed.notify_all();
    }
    thread_.join();
}

void Watch::give_up()
{
    const std::lock_guard lock(state_->mutex);
    for (const auto& marker : state_->waiting) marker->told = true;
    state_->waiting.clear();
    state_->changed.notify_all();
}

/// Who comes first tells it.
void Watch::tell(State& state, const std::shared_ptr<Marker>& marker, cl_int code)
{
    {
        const std::lock_guard lock(state.mutex);
        if (std::exchange(marker->told, true)) return;
    }
    marker->arrived(status_of_marker(*marker, code));
    const std::lock_guard lock(state.mutex);
    std::erase(state.waiting, marker);
    state.changed.notify_all();
}

void CL_CALLBACK Watch::called(cl_event, cl_int code, void* data)
{
    const std::unique_ptr<Ticket> ticket(static_cast<Ticket*>(data));
    tell(*ticket->state, ticket->marker, code);
}

Status Watch::add(const std::shared_ptr<Marker>& marker)
{
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->waiting.empty()) state_->changed.notify_all();
        state_->waiting.push_back(marker);
    }
    auto ticket = std::make_unique<Ticket>(Ticket{state_, marker});
    const int code = clSetEventCallback(marker->event.get(), CL_COMPLETE, called, ticket.get());
    if (code == CL_SUCCESS) {
        (void)ticket.release(); // the callback's; where it never comes, nobody's
        return {};
    }
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->waiting, marker);
    return status_of(code, marker->fault, "a callback");
}

std::function<void()> Watch::look_now() const
{
    return [state = state_] {
        const std::lock_guard lock(state->mutex);
        state->look = true;
        state->changed.notify_all();
    };
}

/// The thread's life: what has failed and was not told.
void Watch::live(State& state)
{
    constexpr std::chrono::milliseconds pause{200};
    std::unique_lock lock(state.mutex);
    while (!state.ends) {
        if (state.waiting.empty()) state.changed.wait(lock, [&] { return state.ends || !state.waiting.empty(); });
        else state.changed.wait_for(lock, pause, [&] { return state.ends || state.look; });
        state.look = false;
        const std::vector<std::shared_ptr<Marker>> waiting = state.waiting;
        lock.unlock();
        for (const auto& marker : waiting)
            if (const cl_int code = status_of_event(marker->event); code < CL_SUCCESS) tell(state, marker, code);
        lock.lock();
    }
}

} // namespace trencadis::devices::opencl
