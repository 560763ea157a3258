#pragma once
#include "engines/messages/host_books.hpp"
#include "graph/forwarding_flow.hpp"

#include <vector>

namespace trencadis {

/// A datum on its way from host to host, as a task: it reads the datum where it is and writes the copy, or what it is a copy of.
struct Message {
    std::int16_t from, to;
    HostBooks::CopyId copy; ///< that it fills; `to_owner`: that it brings home
    bool to_owner;
    Bytes bytes;
    Flops flops() const { return 0; } ///< so that priorities are derived over it
};
inline constexpr Codelet message_codelet = [] {
    Codelet codelet = codelet_of<Message>("message");
    codelet.counted = false;
    return codelet;
}();

/// Hands tasks on to the flow of all hosts so that each runs on the host that holds what it writes (of several such data the
/// last, which in tile algorithms is the one that most of the work is for), as TaskOptions::node, with messages as tasks in
/// between: what a task reads and another host holds is sent there once per version, as soon as it is written, whatever else the
/// reader waits for. So dependences, priorities and the end of a call are the flow's, as everywhere. What a task writes and
/// another host holds goes back to that host.
///
/// The data of tasks have owners (Datum::owner). Tasks inside a task run where that one does, on what that has brought.
/// Literature: StarPU-MPI's insertion of tasks and its cache of received data (Agullo, Aumage, Faverge, Furmento, Pruvost,
/// Sergent, Thibault 2017).
class MessageFlow final : public ForwardingFlow {
public:
    /// Both must outlive it.
    MessageFlow(Flow& flow, HostBooks& books) : ForwardingFlow(flow), books_(books) {}

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override;
    HostBooks::CopyId bring(const Access& access, int host, const TaskOptions& options);
    void send_home(const Datum& datum, int from, const TaskOptions& options);

    HostBooks& books_;
    std::vector<Access> there_; ///< scratch
};

} // namespace trencadis
