#pragma once
#include "observe/trace.hpp"

#include <string>

namespace trencadis {

/// The trace in Chrome's trace event format (JSON), which Perfetto (ui.perfetto.dev) and chrome://tracing open: one thread per
/// worker, one complete event per task or share with its creation order and flops. Idle time is left
/// blank. About 120 bytes per event.
std::string to_chrome_json(const Trace& trace);

/// What a worker is called in every picture: "worker 3, cpu 7, P-core".
std::string worker_label(const WorkerTrace& worker);

} // namespace trencadis
