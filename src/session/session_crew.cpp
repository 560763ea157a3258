#include "session/session_crew.hpp"

#include "base/large_stack.hpp"
#include "base/lasting.hpp"
#include "engines/engine.hpp"
#include "graph/executor.hpp"
#include "observe/clock.hpp"
#include "session/choices.hpp"

#include <algorithm>

namespace trencadis {
namespace {

/// Does a call of so many flops, so long after the last one began, follow it closely? That one may have been as long.
bool follows(std::int64_t since_ns, Flops flops)
{
    constexpr std::int64_t close_ns = 100'000;
    constexpr Flops slowest_per_ns = 10;
    return since_ns < close_ns + static_cast<std::int64_t>(flops / slowest_per_ns);
}

/// May what has tasks otherwise be computed without? Not where a policy, an engine or a machine is looked at, nor with others'
/// kernels, whose products have other bits in one piece.
bool is_plain(const SessionOptions& resolved)
{
    return resolved.engine == "native" && resolved.scheduler == "mosaic" && resolved.kernels == "native" &&
           resolved.machine.empty() && resolved.slow.empty() && resolved.devices.empty();
}

/// Tasks take more stack than threads with the least of it have, and the caller runs some or all of them. What a task calls is on
/// its worker's stack, which is large enough, and stays on its worker: whoever waits there for tasks runs them.
void on_a_stack_for_tasks(const std::function<void()>& body)
{
    if (Executor::here()) body();
    else on_a_large_stack(body);
}

} // namespace

SessionCrew::SessionCrew(Session& session, CallSharing* sharing, const choices::Chooser* chooser, LastCalls* last_calls)
    : Crew(session.kernels(), session.options().reproducible ? planned_workers : session.workers() - session.devices(),
           session.options().reproducible),
      session_(session), sharing_(sharing), chooser_(chooser), last_calls_(last_calls), crowd_(session.workers()),
      plain_(is_plain(session.options())), // a crowd's call stays with its caller where that is faster:
      leaves_crowds_(plain_ && session.workers() > 1 && session.options().objective != "rule"),
      even_(session.has_equal_workers()), made_after_(forks_so_far())
{
}

/// To weigh devices, and to wait for them with tasks in between, takes more stack than threads with the least of it have.
Crew::Forecast SessionCrew::devices_for(const std::function<void(Flow&)>& submit, Seconds alone) const
{
    Forecast forecast;
    on_a_stack_for_tasks([&] { forecast = session_.devices_for(submit, alone); });
    return forecast;
}

Index SessionCrew::run_with(std::uint64_t devices, const std::function<void(Flow&)>& body,
                            const std::function<bool()>& interrupted)
{
    const Crowd::InProgress counted(crowd_);
    if (!devices && interrupted) return session_.run_with(devices, body, interrupted);
    Index outcome = 0;
    on_a_stack_for_tasks([&] {
        const std::unique_ptr<PageHold> locked = devices ? session_.lock_pages(devices, body) : nullptr;
        outcome = session_.run_with(devices, body, interrupted);
    });
    return outcome;
}

/// Whoever is to be asked whether to stop is asked on the calling thread.
Index SessionCrew::run(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted)
{
    const Crowd::InProgress counted(crowd_);
    if (interrupted) return session_.run(body, interrupted);
    Index outcome = 0;
    on_a_stack_for_tasks([&] { outcome = session_.run(body, interrupted); });
    return outcome;
}

std::int64_t SessionCrew::note_call(const choices::Call& call, const choices::Plan& plan, bool alone, Flops flops)
{
    if (session_.is_traced()) session_.note_choice(call, plan, alone ? 1 : session_.workers(), crowd_.callers(now_ns()));
    return last_calls_ && flops >= LastCalls::least ? now_ns() : 0;
}
void SessionCrew::note_end(const choices::Call& call, const choices::Plan& plan, bool alone, std::int64_t began)
{
    const std::int64_t now = now_ns();
    last_calls_->note(call, plan, alone ? 1 : session_.workers(), double(now - began) * 1e-9, now);
}

Index SessionCrew::run_here(const std::function<void(Flow&)>& body)
{
    const Crowd::InProgress counted(crowd_);
    Index outcome = 0;
    on_a_stack_for_tasks([&] { outcome = Crew::run_here(body); });
    return outcome;
}

void SessionCrew::call_is_over()
{
    if (leaves_crowds_) crowd_.one_is_over();
}

/// What the caller alone takes at the least, at a core's peak.
std::int64_t SessionCrew::alone_ns(Flops flops) const { return static_cast<std::int64_t>(flops / (2 * flops_per_ns())); }

bool SessionCrew::may_leave_crowds() const
{
    return leaves_crowds_ && forks_so_far() == made_after_ && !session_.was_asked_for_node_bytes();
}

/// Not asked of the shortest calls, which nobody shares. A long one would not see its caller's Ctrl-C, nor make room.
bool SessionCrew::is_crowded(Flops flops)
{
    constexpr Flops least = 5e5, shortly_over = 3e8, longest = 1e9; // some hundredths of a second
    if (flops < least || flops > longest || !may_leave_crowds()) return false;
    const std::int64_t now = now_ns();
    const std::int64_t lasts = alone_ns(flops);
    if (!crowd_.is_there(now, lasts, Crowd::Tasks::some) || (flops > shortly_over && !pace_.goes_alone(flops, now))) return false;
    crowd_.one_begins_alone(now, lasts); // it may have no tasks now
    return true;
}
bool SessionCrew::is_crowded_without_tasks(Flops flops, std::int64_t now)
{
    constexpr Flops longest = 1e9;
    return flops <= longest && may_leave_crowds() && crowd_.is_there(now, alone_ns(flops), Crowd::Tasks::none);
}

bool SessionCrew::can_share(Flops flops)
{
    constexpr std::int64_t seldom_ns = 1'000'000; // waking costs microseconds, and where a neighbour is they sleep again at once
    if (!sharing_ || session_.workers() == 1 || forks_so_far() != made_after_) return false;
    const std::int64_t now = now_ns();
    if (is_crowded_without_tasks(flops, now)) return false;
    const std::int64_t last = last_short_ns_.exchange(now, std::memory_order_relaxed);
    if (sharing_->shares(flops)) return true;
    if (follows(now - last, flops) && now - last_rouse_ns_.load(std::memory_order_relaxed) > seldom_ns) {
        last_rouse_ns_.store(now, std::memory_order_relaxed);
        // Until the next calls but one come, from when it is awake; a helper that none of them needs sleeps most of the time.
        const std::int64_t next = std::clamp<std::int64_t>(3 * (now - last), 100'000, 1'000'000);
        sharing_->rouse(helpers_for(flops, session_.workers()), next);
    }
    return false;
}
bool SessionCrew::share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops)
{
    return sharing_ && sharing_->share_out(chunks, work, flops);
}
std::int64_t SessionCrew::line_ns() const { return sharing_ ? sharing_->line_ns() : Crew::line_ns(); }
double SessionCrew::flops_per_ns() const { return sharing_ ? sharing_->flops_per_ns() : Crew::flops_per_ns(); }
bool SessionCrew::is_wary() const { return sharing_ && sharing_->is_wary(); }

Crew::Outlook SessionCrew::outlook(Flops flops)
{
    const std::int64_t now = now_ns(), last = last_call_ns_.exchange(now, std::memory_order_relaxed);
    if (is_crowded_without_tasks(flops, now)) return Outlook::busy;
    if (sharing_ && (!sharing_->has_room() || sharing_->are_others_crowded())) return Outlook::busy;
    if ((sharing_ && sharing_->spinning() > 0) || follows(now - last, flops)) return Outlook::ready;
    return sharing_ && !sharing_->is_worth_waking(flops) ? Outlook::busy : Outlook::asleep;
}

void SessionCrew::note_form(const Form& form, Index nb) const
{
    const std::lock_guard lock(forms_mutex_);
    forms_[&form] = {++laid_out_, nb};
}

Crew::FormTaken SessionCrew::taken(const Form& form) const
{
    const std::lock_guard lock(forms_mutex_);
    const auto found = forms_.find(&form);
    return found == forms_.end() ? FormTaken() : found->second;
}

void SessionCrew::forget_forms()
{
    const std::lock_guard lock(forms_mutex_);
    forms_.clear();
}

/// Copies are bound to this system's nodes, so not on a described machine.
std::vector<Crew::Node> SessionCrew::nodes() const
{
    if (session_.options().reproducible) return Crew::nodes(); // cut up by their number otherwise
    const std::vector<NodeWorkers> rows = session_.nodes();
    const bool bound = rows.size() > 1 && !session_.overlaid();
    std::vector<Node> nodes;
    for (const NodeWorkers& row : rows) nodes.push_back({row.node, row.workers, row.speed, bound});
    return nodes;
}

std::string SessionCrew::name() const
{
    const SessionOptions& options = session_.options();
    return "engine '" + options.engine + "'" + (options.scheduler.empty() ? "" : " with scheduler '" + options.scheduler + "'");
}

} // namespace trencadis
