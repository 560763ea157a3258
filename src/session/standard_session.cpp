#include "base/error.hpp"
#include "engines/engine.hpp"
#include "session/choices.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace trencadis {
namespace {

/// The standard sessions by number of workers, 0: the environment's choice. Idle workers sleep, so that a program which moves
/// between two limits pays for their start once.
struct StandardSessions {
    std::mutex mutex;
    int limit = 0;
    std::map<int, std::unique_ptr<Session>> by_limit;
};
StandardSessions& standard_sessions()
{
    static StandardSessions sessions;
    return sessions;
}

} // namespace

Session& Session::standard()
{
    StandardSessions& all = standard_sessions();
    std::lock_guard lock(all.mutex);
    std::unique_ptr<Session>& session = all.by_limit[all.limit];
    // The workers do not survive a fork: the child gets a session of its own; the parent's cannot be taken down in it.
    if (session && session->made_before_fork()) static_cast<void>(session.release());
    if (!session) {
        SessionOptions options;
        options.worker_count = all.limit;
        options.relief = choose({}, "TRENCADIS_RELIEF", "never"); // a guest moves no threads about unless it is asked to
        session = std::make_unique<Session>(options);
    }
    return *session;
}

void Session::limit_standard(int workers)
{
    if (workers < 1)
        throw Error(ErrorCode::bad_argument, 1, "a limit of " + std::to_string(workers) + " workers given, must be at least 1");
    const Machine machine = choose_machine(choose({}, "TRENCADIS_MACHINE", ""));
    const int chosen = static_cast<int>(choose_cores({}, machine).size());
    workers = std::min(workers, static_cast<int>(machine.cores.size()));
    StandardSessions& all = standard_sessions();
    std::lock_guard lock(all.mutex);
    all.limit = workers == chosen ? 0 : workers;
}

int Session::standard_workers()
{
    StandardSessions& all = standard_sessions();
    std::lock_guard lock(all.mutex);
    const auto made = all.by_limit.find(all.limit);
    if (made != all.by_limit.end() && made->second) return made->second->workers();
    if (!find_entry("engine", engine_entries(), choose_engine({})).capabilities.parallel) return 1;
    return all.limit ? all.limit : static_cast<int>(choose_cores({}, choose_machine(choose({}, "TRENCADIS_MACHINE", ""))).size());
}

const KernelProvider& Session::standard_kernels() { return load_kernels(choose_kernels({})); }

} // namespace trencadis
