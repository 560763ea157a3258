#include "engines/starpu/tenancy.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/lasting.hpp"
#include "base/module.hpp"
#include "base/registry.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>

namespace trencadis {
namespace {

constexpr Module starpu{"libtrencadis_starpu.so", "trc_starpu_v2",  "no engine 'starpu'", "StarPU",
                        "libstarpu-dev",          "libstarpu-1.3-9"};

constexpr Module starpu_mpi{"libtrencadis_starpu_mpi.so",
                            "trc_starpu_mpi_v4",
                            "no engine 'starpu-mpi'",
                            "StarPU-MPI",
                            "libstarpu-dev libopenmpi-dev openmpi-bin",
                            "libstarpumpi-1.3-3 openmpi-bin"};
constinit Lasting<StarpuMessages> messages;

/// StarPU in this process, and who has it. Everything is under the lock, which a fork waits for: a child finds StarPU as a
/// whole, started or not, but none of its workers.
struct House {
    ProcessLock lock;
    StarpuRuntime* const runtime = reinterpret_cast<StarpuRuntime* (*)()>(starpu.load())();
    StarpuSettings settings;
    bool started = false;
    int started_after = 0; ///< forks
    int tenants = 0, open = 0;

    struct Spare {
        Datum datum;
        StarpuRuntime::Handle handle;
    };
    static constexpr std::size_t most_spares = 10'000; ///< some 20 MB
    std::mutex spares_lock;                            ///< several flows take and give back; stop is alone
    std::unordered_multimap<const void*, Spare> spares;

    void start(const StarpuSettings& wanted, const StarpuGroup* group)
    {
        if (started && settings == wanted) return;
        stop();
        runtime->start(wanted);
        try {
            if (wanted.messages) starpu_messages().start(*group);
        } catch (...) {
            runtime->resume(); // its end would wait for workers that sleep
            runtime->stop();
            throw;
        }
        awake = false;
        started = true;
        started_after = forks_so_far();
        settings = wanted;
    }
    void stop()
    {
        if (!started) return;
        wake(true); // its end would wait for workers that sleep
        if (settings.messages) starpu_messages().stop();
        for (const auto& [address, spare] : spares) runtime->leave(spare.handle);
        spares.clear();
        runtime->stop();
        started = false;
    }
    /// StarPU's workers spin when they have nothing to do, so they sleep unless there are tasks. Whoever finds that they should
    /// be awake, or asleep, looks again under the lock: of two that do one comes later and knows of both.
    std::atomic<std::int64_t> tasks{0}; ///< submitted and not ended
    std::mutex sleep_lock;
    bool awake = false;

    void wake(bool anyway = false)
    {
        const std::lock_guard lock(sleep_lock);
        if (awake || (tasks.load() == 0 && !anyway)) return;
        runtime->resume();
        awake = true;
    }
    void rest()
    {
        const std::lock_guard lock(sleep_lock);
        if (!awake || tasks.load() > 0) return;
        runtime->pause();
        awake = false;
    }

    bool forked() const { return started && started_after != forks_so_far(); }
};

constinit Lasting<House> house;

bool same_shape(const Datum& a, const Datum& b)
{
    return a.ld == b.ld && a.rows == b.rows && a.cols == b.cols && a.element == b.element;
}

std::string of_workers(const StarpuSettings& settings)
{
    return std::to_string(settings.cores.size()) + " workers and scheduler '" + settings.policy + "'";
}

void check(const StarpuSettings& settings, const StarpuCaps& caps)
{
    if (static_cast<int>(settings.cores.size()) > caps.workers)
        throw Error(ErrorCode::bad_argument, "engine 'starpu' has at most " + std::to_string(caps.workers) + " workers, and " +
                                                 std::to_string(settings.cores.size()) + " were asked for: StarPU " +
                                                 caps.version + " was built for no more (STARPU_MAXCPUS)");
}

} // namespace

std::string why_no_starpu() { return starpu.why_not(); }
std::string why_no_starpu_mpi()
{
    const std::string reason = starpu_mpi.why_not();
    return reason.empty() ? why_no_starpu() : reason;
}
StarpuMessages& starpu_messages()
{
    return messages.get([] { return reinterpret_cast<StarpuMessages* (*)()>(starpu_mpi.load())(); });
}

StarpuCaps StarpuTenancy::caps() { return house.get().runtime->caps(); }

std::vector<std::string> StarpuTenancy::policies()
{
    std::vector<std::string> known = house.get().runtime->policies();
    const char* const asked = environment("STARPU_SCHED");
    const std::string wanted = asked && *asked ? asked : "lws";
    const auto place = std::ranges::find(known, wanted);
    if (place == known.end())
        throw Error(ErrorCode::bad_argument, unknown_name("scheduler of StarPU in STARPU_SCHED", wanted,
                                                          std::vector<std::string_view>(known.begin(), known.end())));
    std::rotate(known.begin(), place, place + 1);
    return known;
}

StarpuTenancy::StarpuTenancy(StarpuSettings settings, const StarpuGroup* group) : settings_(std::move(settings)), group_(group)
{
    House& here = house.get();
    const std::lock_guard lock(here.lock);
    check(settings_, here.runtime->caps());
    if (!here.forked() && here.open == 0) here.start(settings_, group_); // otherwise at its first flow
    ++here.tenants;
}

StarpuTenancy::~StarpuTenancy()
{
    House& here = house.get();
    const std::lock_guard lock(here.lock);
    if (--here.tenants == 0 && !here.forked()) here.stop();
}

StarpuRuntime& StarpuTenancy::begin()
{
    House& here = house.get();
    const std::lock_guard lock(here.lock);
    if (here.forked())
        throw Error(ErrorCode::environment, "StarPU was started before a fork, and its workers are not in this process; take "
                                            "another engine, or end the sessions with engine 'starpu' before the fork");
    if (here.open > 0 && here.settings != settings_)
        throw Error(ErrorCode::environment, "StarPU has one set of workers in a process, and it is in use with " +
                                                of_workers(here.settings) + " while " + of_workers(settings_) +
                                                " are asked for; end that flow, or use the same");
    here.start(settings_, group_);
    ++here.open;
    return *here.runtime;
}

void StarpuTenancy::end()
{
    House& here = house.get();
    const std::lock_guard lock(here.lock);
    --here.open;
}

void StarpuTenancy::task_begins() { house.get().tasks.fetch_add(1); }
void StarpuTenancy::task_ends()
{
    House& here = house.get();
    if (here.tasks.fetch_sub(1) == 1) here.rest();
}
void StarpuTenancy::wake() { house.get().wake(); }
void StarpuTenancy::wake_for_ready_task()
{
    if (!starpu_messages().later([] { house.get().wake(); })) wake();
}

StarpuRuntime::Handle StarpuTenancy::take(const Datum& datum)
{
    House& here = house.get();
    const std::lock_guard lock(here.spares_lock);
    const auto [first, last] = here.spares.equal_range(datum.address);
    const auto fits = std::find_if(first, last, [&](const auto& entry) { return same_shape(entry.second.datum, datum); });
    if (fits == last) return here.runtime->enter(datum);
    const StarpuRuntime::Handle handle = fits->second.handle;
    here.spares.erase(fits);
    return handle;
}

void StarpuTenancy::give_back(const Datum& datum, StarpuRuntime::Handle handle) noexcept
{
    House& here = house.get();
    const std::lock_guard lock(here.spares_lock);
    try {
        if (here.spares.size() < House::most_spares) return (void)here.spares.insert({datum.address, {datum, handle}});
    } catch (const std::bad_alloc&) { // it is registered anew next time
    }
    here.runtime->leave(handle);
}

} // namespace trencadis
