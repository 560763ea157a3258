#include "engines/messages/message_flow.hpp"

#include "graph/owner_computes.hpp"

namespace trencadis {

void MessageFlow::take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                       const TaskOptions& options)
{
    TaskOptions there = options;
    there.node = executor_of(accesses);
    there_.assign(accesses.begin(), accesses.end());
    for (Access& access : there_) {
        books_.know(access.datum);
        if (access.datum.owner != there.node) {
            const HostBooks::CopyId copy = bring(access, there.node, there);
            books_.add_reader(copy);
            access.datum = HostBooks::datum_of(copy, access.datum);
        }
        access.datum.owner = 0; // the flow is that of all hosts
    }
    pass_on(codelet, arguments, there_, there);
    for (const Access& access : accesses) {
        if (!is_writing(access.mode)) continue;
        books_.written(access.datum, there.node);
        if (access.datum.owner != there.node) send_home(access.datum, there.node, there);
    }
}

/// The host's copy of what a task uses there and another host holds; a message where there is none yet, unless all of it is
/// overwritten.
HostBooks::CopyId MessageFlow::bring(const Access& access, int host, const TaskOptions& options)
{
    const Datum& datum = access.datum;
    if (const auto known = books_.copy_of(datum, host)) return *known;
    const HostBooks::CopyId copy = books_.add_copy(datum, host);
    if (access.mode == AccessMode::write) return copy;
    TaskOptions of_message = options;
    of_message.label = nullptr;
    of_message.node = datum.owner;
    books_.sent(datum.owner, host, datum.bytes());
    forwarded_to().submit(message_codelet, Message{datum.owner, static_cast<std::int16_t>(host), copy, false, datum.bytes()},
                          {read(datum.owned_by(0)), write(HostBooks::datum_of(copy, datum))}, of_message);
    return copy;
}

/// After a task that has written a copy.
void MessageFlow::send_home(const Datum& datum, int from, const TaskOptions& options)
{
    const HostBooks::CopyId copy = *books_.copy_of(datum, from);
    TaskOptions of_message = options;
    of_message.label = nullptr;
    books_.add_reader(copy);
    books_.sent(from, datum.owner, datum.bytes());
    forwarded_to().submit(message_codelet, Message{static_cast<std::int16_t>(from), datum.owner, copy, true, datum.bytes()},
                          {read(HostBooks::datum_of(copy, datum)), write(datum.owned_by(0))}, of_message);
}

} // namespace trencadis
