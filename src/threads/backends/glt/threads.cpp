#include "base/error.hpp"
#include "base/lasting.hpp"
#include "threads/backends/glt/host.hpp"
#include "threads/backends/glt/plugin.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <sched.h>
#include <unistd.h>

namespace trencadis {
namespace {

/// The running libraries, one instance of each; sessions share it, each with threads of its own. It goes on, asleep, when no
/// session uses it: starting one takes up to 40 ms.
struct Hosts {
    struct Slot {
        std::unique_ptr<GltHost> host;
        pid_t process = 0; ///< that started it
    };
    ProcessLock mutex;
    std::map<const glt_table*, Slot> slots;

    static Hosts& all()
    {
        static constinit Lasting<Hosts> hosts;
        return hosts.get();
    }
    std::vector<GltPlace*> lease(const glt_table& table, int count);
    void give_back(GltPlace& place);
};

int allowed_cores()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::vector<GltPlace*> Hosts::lease(const glt_table& table, int count)
{
    std::lock_guard lock(mutex);
    Slot& slot = slots[&table];
    if (slot.host && slot.process != getpid())
        throw Error(ErrorCode::environment,
                    std::string("thread back end '") + table.name +
                        "' was running when this process was forked, and its threads are not here; use threads 'native'");
    if (slot.host && slot.host->leased() == 0 && static_cast<int>(slot.host->places().size()) < count) slot.host.reset();
    if (!slot.host) {
        // A library that runs takes no more threads: some are kept for other sessions, asleep.
        slot.host = std::make_unique<GltHost>(table, count + std::max(16, 2 * allowed_cores()));
        slot.process = getpid();
    }
    std::vector<GltPlace*> places;
    for (const auto& place : slot.host->places())
        if (!place->leased && static_cast<int>(places.size()) < count) places.push_back(place.get());
    if (static_cast<int>(places.size()) < count)
        throw Error(ErrorCode::environment, std::string("thread back end '") + table.name + "' has " +
                                                std::to_string(places.size()) +
                                                " threads left beside those of other sessions, and " + std::to_string(count) +
                                                " are needed; end a session, or use threads 'native'");
    for (GltPlace* place : places) place->leased = true;
    return places;
}

void Hosts::give_back(GltPlace& place)
{
    std::lock_guard lock(mutex);
    place.leased = false;
}

class GltSeat final : public Seat {
public:
    explicit GltSeat(GltPlace& place) : place_(place) {}
    ~GltSeat() override
    {
        place_.drop_units();
        Hosts::all().give_back(place_);
    }
    WorkUnit& make_unit(std::function<WorkUnit*()> body) override { return place_.make_unit(std::move(body)); }
    void give(WorkUnit& unit) override { place_.give(static_cast<GltUnit&>(unit)); }
    void pass(WorkUnit& self, WorkUnit& next) override { place_.pass(static_cast<GltUnit&>(self), static_cast<GltUnit&>(next)); }

private:
    GltPlace& place_;
};

class GltThreads final : public Threads {
public:
    explicit GltThreads(const glt_table& table) : table_(table) {}
    std::vector<std::unique_ptr<Seat>> make_seats(const std::vector<int>& cpus) override
    {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        sched_getaffinity(0, sizeof mine, &mine);
        std::vector<std::unique_ptr<Seat>> seats;
        const std::vector<GltPlace*> places = Hosts::all().lease(table_, static_cast<int>(cpus.size()));
        for (std::size_t i = 0; i < cpus.size(); ++i) {
            seats.push_back(std::make_unique<GltSeat>(*places[i]));
            places[i]->pin(cpus[i], mine);
        }
        return seats;
    }
    bool keeps_units() const override { return table_.can(GLT_CAN_PLACE) != GLT_CANNOT; }

private:
    const glt_table& table_;
};

} // namespace

std::unique_ptr<Threads> make_glt_threads(const glt_table& table) { return std::make_unique<GltThreads>(table); }

} // namespace trencadis
