#pragma once
#include "engines/native/worker.hpp"

#include <functional>

namespace trencadis {

class NativeEngine;

/// Where the calling thread is: the engine and worker it holds, and whom to ask while it waits.
struct Position {
    NativeEngine* engine = nullptr;
    Worker* worker = nullptr;
    Holder* holder = nullptr;
    const std::function<bool()>* poll = nullptr;
    std::int64_t next_poll_ns = 0;
};
// Read for every task that is ready when submitted; the default model would ask the dynamic linker each time. 40 bytes are within
// what the C library keeps free for libraries that are loaded late.
extern thread_local constinit Position position [[gnu::tls_model("initial-exec")]];

} // namespace trencadis
