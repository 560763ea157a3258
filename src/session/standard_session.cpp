#include "base/error.hpp"
#include "base/large_stack.hpp"
#include "base/lasting.hpp"
#include "devices/backend.hpp"
#include "engines/engine.hpp"
#include "graph/executor.hpp"
#include "session/choices.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <atomic>
#include <map>

namespace trencadis {
namespace {

/// The standard sessions by number of workers, 0: the environment's choice. Idle workers sleep, so that a program which moves
/// between two limits pays for their start once. Changed under first_uses().
struct StandardSessions {
    int limit = 0;
    bool without_devices = false; ///< from now on
    std::map<int, std::unique_ptr<Session>> by_limit;
    std::map<int, std::unique_ptr<Session>> beside; ///< likewise, without devices while those of `by_limit` have some
    std::atomic<Session*> current{nullptr};         ///< of `limit`; null: not made yet
    std::unique_ptr<Session> made_alone;
    std::atomic<Session*> alone{nullptr}; ///< that one, which has no workers
};
StandardSessions& standard_sessions()
{
    static constinit Lasting<StandardSessions> sessions;
    return sessions.get();
}

/// One that has more than one worker can be limited.
bool engine_is_parallel() { return find_entry("engine", engine_entries(), choose_engine({})).capabilities.parallel; }

/// The one of `limit`. That of a process that forked is left as it is, for good: its workers are not here, and others may just
/// be asking whose it is.
Session& made_of(std::map<int, std::unique_ptr<Session>>& by_limit, int limit, bool devices)
{
    std::unique_ptr<Session>& session = by_limit[limit];
    if (session && session->made_before_fork()) keep_for_good(session.release());
    if (!session) {
        SessionOptions options;
        if (engine_is_parallel()) options.worker_count = limit;
        if (!devices) options.devices = no_devices;
        session = std::make_unique<Session>(options);
    }
    return *session;
}

std::string machine_word() { return choose({}, "TRENCADIS_MACHINE", ""); }

/// Of the devices that the environment names: not under first_uses(), for which a fork by any thread would wait as long.
void start_drivers()
{
    const EngineEntry& engine = find_entry("engine", engine_entries(), choose_engine({}));
    if (!engine.capabilities.devices || !machine_word().empty() || choose_reproducible({})) return;
    if (const std::string words = choose_devices({}, true); !words.empty()) devices::start_drivers(words);
}

} // namespace

Session& Session::standard()
{
    StandardSessions& all = standard_sessions();
    Session* const current = all.current.load(std::memory_order_acquire);
    if (current && !current->made_before_fork()) [[likely]]
        return *current;
    Session* made = nullptr;
    on_a_large_stack([&] { // the machine is read through libraries that want one
        bool without_devices = false;
        {
            const std::lock_guard lock(first_uses());
            without_devices = all.without_devices;
        }
        if (!without_devices) start_drivers();
        const std::lock_guard lock(first_uses());
        made = &made_of(all.by_limit, all.limit, !all.without_devices);
        all.current.store(made, std::memory_order_release);
    });
    return *made;
}

Session& Session::standard_without_devices()
{
    StandardSessions& all = standard_sessions();
    Session* made = nullptr;
    on_a_large_stack([&] {
        const std::lock_guard lock(first_uses());
        const auto there = all.by_limit.find(all.limit);
        const Session* const known = there == all.by_limit.end() ? nullptr : there->second.get();
        if (!known || known->made_before_fork()) all.without_devices = true;
        else if (!known->options().devices.empty()) made = &made_of(all.beside, all.limit, false);
    });
    return made ? *made : standard();
}

bool Session::has_standard()
{
    const Session* const current = standard_sessions().current.load(std::memory_order_acquire);
    return current && !current->made_before_fork();
}

bool Session::is_worth_standard(Flops flops)
{
    constexpr Flops over_at_once = 5e5, worth_making_one = 2e6;
    constexpr int repeated = 1000;
    static std::atomic<int> between{0}; // about: what is counted twice or missed does not matter
    if (flops <= over_at_once) return false;
    if (flops > worth_making_one) return true;
    const int so_far = between.load(std::memory_order_relaxed);
    if (so_far == repeated) return true;
    between.store(so_far + 1, std::memory_order_relaxed);
    return false;
}

Session& Session::standard(Flops flops)
{
    if (has_standard() || is_worth_standard(flops)) return standard();
    StandardSessions& all = standard_sessions();
    Session* const known = all.alone.load(std::memory_order_acquire);
    if (known && !known->made_before_fork()) [[likely]]
        return *known;
    if (choose_engine({}) != "native" || !machine_word().empty())
        return standard(); // somebody looks at what is carried out, and how
    Session* made = nullptr;
    on_a_large_stack([&] {
        const std::lock_guard lock(first_uses());
        if (all.made_alone && all.made_alone->made_before_fork()) keep_for_good(all.made_alone.release());
        if (!all.made_alone) {
            SessionOptions options;
            options.engine = "sequential";
            all.made_alone = std::make_unique<Session>(options);
        }
        made = all.made_alone.get();
        all.alone.store(made, std::memory_order_release);
    });
    return *made;
}

void Session::limit_standard(int workers)
{
    if (workers < 1)
        throw Error(ErrorCode::bad_argument, 1, "a limit of " + std::to_string(workers) + " workers given, must be at least 1");
    const Machine machine = choose_machine(machine_word());
    const int chosen = static_cast<int>(choose_cores({}, machine).size());
    workers = std::min(workers, static_cast<int>(machine.cores.size()));
    StandardSessions& all = standard_sessions();
    Session* left = nullptr; // devices' memory is limited for all of them: the next one is to find what this one does not need
    {
        const std::lock_guard lock(first_uses());
        const auto last = all.by_limit.find(all.limit);
        all.limit = workers == chosen ? 0 : workers;
        const auto made = all.by_limit.find(all.limit);
        all.current.store(made == all.by_limit.end() ? nullptr : made->second.get(), std::memory_order_release);
        if (last != all.by_limit.end() && last != made) left = last->second.get();
    }
    if (left && !Executor::here()) left->give_up_idle_memory();
}

int Session::standard_workers()
{
    StandardSessions& all = standard_sessions();
    const std::lock_guard lock(first_uses());
    const auto made = all.by_limit.find(all.limit);
    if (made != all.by_limit.end() && made->second) return made->second->workers();
    if (!engine_is_parallel()) return 1;
    return all.limit ? all.limit : static_cast<int>(choose_cores({}, choose_machine(machine_word())).size());
}

const KernelProvider& Session::standard_kernels() { return load_kernels(choose_kernels({})); }

} // namespace trencadis
