// Hosts that send each other what they hold: each is a crew with a policy and an outbox of its own.
#include "base/error.hpp"
#include "engines/simulated/engine.hpp"

#include <algorithm>
#include <span>

namespace trencadis::simulated {

void VirtualEngine::make_crews()
{
    const bool hosts = machine_.network.has_value();
    crews_ = std::vector<Crew>(hosts ? machine_.nodes.size() : 1);
    for (const auto& worker : workers_) {
        worker->crew = &crews_[hosts ? std::size_t(worker->space) : 0];
        const auto alike = [&](const Worker* other) {
            return other->type == worker->type && host_speed_[other->host] == host_speed_[worker->host];
        };
        if (std::ranges::none_of(different_, alike)) different_.push_back(worker.get());
    }
    if (!hosts) return;
    abilities_.owners = true;
    books_ = std::make_unique<HostBooks>(static_cast<int>(crews_.size()));
    for (Crew& crew : crews_) crew.carriers.resize(static_cast<std::size_t>(machine_.network->streams));
}

/// Workers of one host know nothing of the others', and no team goes over several.
void VirtualEngine::require_policy_per_host() const
{
    if (!books_ || crews_.size() < 2) return;
    const auto leads = [this](const auto& worker) { return !scheduler_->followers(worker->id).empty(); };
    if (binding_.splits() && std::ranges::none_of(workers_, leads)) return;
    throw Error(ErrorCode::bad_argument, "scheduler '" + parts_.scheduler.text + "' is one for all workers of " + machine_.name +
                                             ", and each of its hosts has one of its own; choose one without numbers of workers");
}

void VirtualEngine::submit_to(Flow& flow, const std::function<void(Flow&)>& body)
{
    if (!books_) return body(flow);
    MessageFlow computes(flow, *books_);
    body(computes);
    books_->complete();
    for (std::size_t host = 0; host < crews_.size(); ++host)
        require_room(machine_.nodes[host], books_->hosts()[host].owned, "its data");
}

/// Takes the messages out of a chain of ready tasks; the others are for policies.
Task* VirtualEngine::send_messages(Task* chain)
{
    Task* others = nullptr;
    Task **others_end = &others, **end = &chain;
    while (*end) end = &(*end)->next;
    while (chain) {
        Task& task = *chain;
        chain = std::exchange(task.next, nullptr);
        if (!chain) end = &chain;
        if (task.codelet != &message_codelet) {
            *others_end = &task;
            others_end = &task.next;
        } else if (options_.free_network || !task.flow->may_run(task)) {
            *end = arrive(task);
            while (*end) end = &(*end)->next;
        } else post(task);
    }
    return others;
}

void VirtualEngine::post(Task& message)
{
    Crew& crew = crews_[std::size_t(static_cast<const Message*>(message.args)->from)];
    crew.outbox.add(message);
    for (std::size_t which = 0; which < crew.carriers.size(); ++which) {
        Carrier& carrier = crew.carriers[which];
        if (carrier.actor >= 0 && !carrier.waits) continue;
        if (carrier.actor < 0) carrier.actor = start(nullptr, [this, &crew, which] { carry(crew, which); });
        else wakes_.push_back(carrier.actor);
        carrier.waits = false;
        return;
    }
}

/// A carrier's life.
void VirtualEngine::carry(Crew& crew, std::size_t which)
{
    while (!stop_) {
        if (Task* const message = crew.outbox.take()) {
            deliver(*message);
            continue;
        }
        crew.carriers[which].waits = true;
        pause();
    }
    send_wakes();
}

void VirtualEngine::deliver(Task& task)
{
    const Message message = *static_cast<const Message*>(task.args);
    if (!message.to_owner) books_->begins(message.copy);
    send_wakes();
    time_->transfer(message.from, message.to, message.bytes);
    vain_ = 0;
    if (Task* const released = arrive(task)) ready(released);
}

/// The message is there. Returns what may run for it.
Task* VirtualEngine::arrive(Task& task)
{
    const Message message = *static_cast<const Message*>(task.args);
    if (message.to_owner) books_->used(message.copy);
    else books_->begins(message.copy);
    return task.flow->finish(task, nullptr);
}

/// A task has ended: it reads its copies no more.
void VirtualEngine::release_copies(const Task& task)
{
    for (const Datum& datum : std::span(task.data, std::size_t(task.access_count)))
        if (const auto copy = books_->named_by(datum.address)) books_->used(*copy);
}

void VirtualEngine::add_hosts(SimulationReport& report) const
{
    for (const HostCount& host : books_->hosts()) {
        report.hosts.push_back(
            {host.messages_sent, host.messages_received, host.bytes_sent, host.bytes_received, host.owned, host.peak});
        report.transfers += host.messages_sent;
        report.bytes_moved += host.bytes_sent;
    }
}

} // namespace trencadis::simulated
