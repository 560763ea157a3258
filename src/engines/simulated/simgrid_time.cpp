// The module libtrencadis_simgrid.so: virtual time by SimGrid's S4U (Casanova, Giersch, Legrand, Quinson, Suter 2014).
#include "base/sanitized.hpp"
#include "engines/simulated/virtual_time.hpp"

#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include <cstdio>
#include <exception>
#include <malloc.h>
#include <string>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

namespace s4u = simgrid::s4u;

/// Work is counted in nanoseconds at full speed: SimGrid rounds amounts at 1e-5 of a unit and times at 1e-9 s.
constexpr double work_per_second = 1e9;

/// A stack with a page behind it that traps is two mappings, of which Linux gives a process 65,530: more hosts do without.
constexpr std::size_t many_hosts = 16000;

/// Thrown out of the simulator's loop when nothing can go on; the actors are left as they are.
struct Stuck {};

class SimGridTime final : public VirtualTime {
public:
    SimGridTime()
    {
        static char name[] = "trencadis", silent[] = "--log=root.app:file:/dev/null", quiet[] = "--log=root.thresh:critical";
        static char threads[] = "--cfg=contexts/factory:thread"; // is too late once there is an engine
        static char* arguments[] = {name, quiet, silent, sanitized ? threads : nullptr, nullptr};
        static int count = sanitized ? 4 : 3;
        engine_ = new s4u::Engine(&count, arguments); // never deleted: taking it down would unwind actors that are stuck
        for (const char* setting :
             {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0",
              "network/TCP-gamma:0", "network/crosstraffic:0", "contexts/stack-size:1024", "debug/clean-atexit:no"})
            set(setting);
        s4u::Engine::on_deadlock_cb([] { throw Stuck{}; });
    }

    void build(const VirtualPlatform& platform) override
    {
        if (platform.hosts.size() > many_hosts) do_without_guard_pages();
        if (platform.energy) sg_host_energy_plugin_init();
        if (platform.network) return build_cluster(platform);
        s4u::NetZone* zone = root_zone();
        for (const VirtualPlatform::Host& host : platform.hosts) hosts_.push_back(add_host(zone, host, platform.energy));
        for (int place = 0; place < platform.places; ++place)
            places_.push_back(add_host(zone, VirtualPlatform::Host{1, 0, 0}, platform.energy));
        std::vector<s4u::Link*> links;
        for (const VirtualPlatform::Link& link : platform.links)
            links.push_back(
                zone->create_link("link" + std::to_string(links.size()), link.bandwidth)->set_latency(link.latency)->seal());
        for (const VirtualPlatform::Route& route : platform.routes) {
            std::vector<s4u::LinkInRoute> way;
            for (const int link : route.links) way.emplace_back(links[link]);
            zone->add_route(places_[route.from]->get_netpoint(), places_[route.to]->get_netpoint(), nullptr, nullptr, way, false);
        }
        zone->seal();
    }

    /// Cores are places that no route leads to, hosts are places of the network: a table of all routes would need the square of
    /// their number.
    void build_cluster(const VirtualPlatform& platform)
    {
        s4u::NetZone* root = root_zone();
        s4u::NetZone* cores = s4u::create_star_zone("cores")->set_parent(root);
        for (const VirtualPlatform::Host& host : platform.hosts) hosts_.push_back(add_host(cores, host, platform.energy));
        cores->seal();
        const s4u::ClusterCallbacks callbacks([&](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long) {
            s4u::Host* const place = add_host(zone, VirtualPlatform::Host{1, 0, 0}, platform.energy);
            places_.push_back(place);
            return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(place->get_netpoint(),
                                                                                                       nullptr);
        });
        add_network(root, *platform.network, callbacks)->seal();
        root->seal();
    }

    /// Stacks are from calloc then, which leaves alone what the system has cleared, but only where each is a mapping of its own:
    /// 32,768 cores need 0.5 GB instead of 4.6.
    static void do_without_guard_pages()
    {
        set("contexts/guard-size:0");
#ifdef M_MMAP_THRESHOLD
        mallopt(M_MMAP_THRESHOLD, 1 << 18);
#endif
    }

    s4u::NetZone* root_zone()
    {
#if SIMGRID_VERSION >= 40000
        return engine_->get_netzone_root()->add_netzone_full("machine");
#else
        return s4u::create_full_zone("machine");
#endif
    }
    static s4u::NetZone* add_network(const s4u::NetZone* root, const Network& network, const s4u::ClusterCallbacks& callbacks)
    {
        const auto numbers = [](const std::vector<int>& list) { return std::vector<unsigned int>(list.begin(), list.end()); };
        const auto both = [](int count, int links) {
            return std::pair(static_cast<unsigned>(count), static_cast<unsigned>(links));
        };
        constexpr auto shared = s4u::Link::SharingPolicy::SPLITDUPLEX;
        if (network.kind == Network::Kind::fat_tree)
            return s4u::create_fatTree_zone("network", root,
                                            {static_cast<unsigned>(network.down.size()), numbers(network.down),
                                             numbers(network.up), numbers(network.parallel)},
                                            callbacks, network.bandwidth, network.latency, shared);
        return s4u::create_dragonfly_zone(
            "network", root,
            {both(network.groups, network.group_links), both(network.chassis, network.chassis_links),
             both(network.routers, network.router_links), static_cast<unsigned>(network.router_hosts)},
            callbacks, network.bandwidth, network.latency, shared);
    }

    Seconds now() const override { return s4u::Engine::get_clock(); }

    Actor start(std::function<void()> body) override
    {
        actors_.push_back(std::make_unique<State>());
        born_.emplace_back(static_cast<Actor>(actors_.size()) - 1, std::move(body));
        return born_.back().first;
    }
    Actor self() const override { return by_pid_[s4u::this_actor::get_pid()]; }

    void suspend() override
    {
        settle();
        State& state = *actors_[self()];
        if (!take_token(state)) {
            state.asleep = true;
            s4u::this_actor::suspend();
        }
    }
    void suspend_for(Seconds limit) override
    {
        settle();
        State& state = *actors_[self()];
        if (take_token(state)) return;
        if (!state.alarm) state.alarm = s4u::Semaphore::create(0);
        state.in_alarm = true;
        state.alarm->acquire_timeout(limit);
        state.in_alarm = false;
    }
    void resume(Actor actor) override
    {
        settle();
        State& state = *actors_[actor];
        if (state.asleep) {
            state.asleep = false;
            state.actor->resume();
        } else if (state.in_alarm) {
            state.in_alarm = false;
            state.alarm->release();
        } else state.token = true;
    }

    void compute(int host, Seconds work) override
    {
        settle();
        State& state = *actors_[self()];
        state.computing = true;
        state.interrupted = false;
        s4u::ExecPtr exec = s4u::this_actor::exec_init(work * work_per_second)->set_host(hosts_[host]);
        exec->start();
        state.exec = exec; // only now can it be cancelled
        try {
            if (state.interrupted) exec->cancel();
            else exec->wait();
        } catch (const simgrid::CancelException&) {
        }
        state.exec = nullptr;
        state.computing = false;
    }
    void interrupt(Actor actor) override
    {
        State& state = *actors_[actor];
        if (!state.computing || state.interrupted) return;
        state.interrupted = true;
        if (const s4u::ExecPtr exec = state.exec) exec->cancel(); // ours: the actor drops its own when it is told
    }
    void transfer(int from, int to, Bytes bytes, Seconds least) override
    {
        settle();
        const Seconds until = now() + least;
        s4u::Comm::sendto(places_[from], places_[to], static_cast<std::uint64_t>(bytes));
        if (now() < until) s4u::this_actor::sleep_until(until);
    }

    bool run() override
    {
        settle();
        try {
            engine_->run();
        } catch (const Stuck&) {
            return false;
        }
        return true;
    }
    Joules energy(int host) const override { return sg_host_get_consumed_energy(hosts_[host]); }

private:
    struct State {
        s4u::ActorPtr actor;
        s4u::ExecPtr exec;
        s4u::SemaphorePtr alarm;
        bool asleep = false, in_alarm = false, token = false; ///< of suspend
        bool computing = false, interrupted = false;
    };
    /// Gives life to what was started. Not in start(), because the simulator may run it before that returns.
    void settle()
    {
        for (auto& [id, body] : std::exchange(born_, {}))
            actors_[id]->actor = s4u::Actor::create("actor", hosts_.front(), [this, id = id, body = std::move(body)] {
                by_pid_.resize(std::max<std::size_t>(by_pid_.size(), s4u::this_actor::get_pid() + 1), -1);
                by_pid_[s4u::this_actor::get_pid()] = id;
                body();
            });
    }
    static bool take_token(State& state) { return std::exchange(state.token, false); }
    static void set(const char* setting) { s4u::Engine::set_config(setting); }
    s4u::Host* add_host(s4u::NetZone* zone, const VirtualPlatform::Host& host, bool energy)
    {
        s4u::Host* added = zone->create_host("host" + std::to_string(made_++), std::vector<double>{host.speed * work_per_second});
        const std::string busy = std::to_string(host.busy_w);
        if (energy) added->set_property("wattage_per_state", std::to_string(host.idle_w) + ":" + busy + ":" + busy);
        return added->seal();
    }

    s4u::Engine* engine_;
    int made_ = 0;
    std::vector<s4u::Host*> hosts_, places_;
    std::vector<std::unique_ptr<State>> actors_;
    std::vector<Actor> by_pid_;
    std::vector<std::pair<Actor, std::function<void()>>> born_;
};

} // namespace
} // namespace trencadis

extern "C" __attribute__((visibility("default"))) trencadis::VirtualTime* trc_virtual_time_v1()
{
    return new trencadis::SimGridTime;
}
