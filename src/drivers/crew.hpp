#pragma once
#include "base/node_bytes.hpp"
#include "base/types.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trencadis {

class DeviceKernels;
class Flow;
struct Datum;
struct Form;
class KernelProvider;
class Processes;
class Team;
namespace choices {
struct Call;
struct Plan;
} // namespace choices

/// Those who carry out a routine, as far as routines see them: what kernels they have, how many they are, and how to give them
/// work. A session is one (it converts); tests bring small ones. All functions may be called from several threads at once.
class Crew {
public:
    virtual ~Crew() = default;
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    const KernelProvider& kernels() const { return *kernels_; }
    int workers() const { return workers_; }      ///< cores
    bool same_sums() const { return same_sums_; } ///< are sums cut alike on every machine (base/same_sums.hpp)?

    /// How a call goes whose caller leaves tile size and form open: the same each time.
    virtual choices::Plan plan(const choices::Call& call) const;
    /// How it does go: by that plan, and all of it by its caller (`alone`) or not. Returns when it began, for note_end; 0: nobody
    /// wants to hear how long it takes.
    virtual std::int64_t note_call(const choices::Call&, const choices::Plan&, bool /*alone*/, Flops) { return 0; }
    virtual void note_end(const choices::Call&, const choices::Plan&, bool /*alone*/, std::int64_t /*began*/) {}

    /// Runs `body` as a task that submits to the given flow; returns the flow's outcome when all of it has finished, rethrows.
    /// `interrupted` is polled on the calling thread about every 50 ms; when it answers true the run is cancelled, and
    /// Error{cancelled} is thrown once the running tasks have ended.
    virtual Index run(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted) = 0;

    /// Should a call of so many flops be computed by its caller alone, since other calls keep the cores busy? A guess.
    virtual bool is_crowded(Flops) { return false; }
    /// The calling thread's, whether or not it was asked about.
    virtual void call_is_over() {}
    /// As `run`, all of it on the calling thread: the same tasks, and so the same results.
    virtual Index run_here(const std::function<void(Flow&)>& body);

    /// Would workers take part in a short call, without tasks? Those who are awake would, and some that sleep are woken where it
    /// pays. A guess. Where such calls follow one another closely, as many as can help are woken for the next ones. `flops`: in
    /// double precision; of single precision half as many, which take as long.
    virtual bool can_share(Flops flops) = 0;
    /// Are calls shared at all, or are tasks to be seen, or is there nobody to share them without? The same each time.
    virtual bool shares_calls() const { return true; }
    /// A short call of so many flops begins, which may or may not ask to be shared.
    virtual void note_short(Flops) {}
    /// Carries out an operation of so many chunks, and flops, by the caller and them. False: nothing was done.
    virtual bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops) = 0;
    /// Are cores being taken away, so that a single task might be held up?
    virtual bool is_wary() const = 0;
    /// Is each worker as fast as any other, as far as is known, so that equal parts of a call take equally long?
    virtual bool is_even() const { return true; }
    /// What it takes a core to get a cache line that another has written last. A guess.
    virtual std::int64_t line_ns() const { return 15; }
    /// What a core computes in a nanosecond, about: half of its multiply-add peak.
    virtual double flops_per_ns() const { return 63; }

    /// How a short call of so many flops would be carried out now; a guess.
    enum class Outlook {
        busy,   ///< nobody has time for it but the caller, or to wake others takes longer than they would save
        asleep, ///< workers would have to be woken
        ready,  ///< they are awake, or calls follow one another so closely that they should be
    };
    virtual Outlook outlook(Flops flops) = 0;

    /// The workers on one memory node.
    struct Node {
        int number;
        int workers;
        double speed; ///< in whole cores: slowed ones count with their fraction
        bool bound;   ///< memory can be bound to it
    };
    // Of crews on one memory node the following stay as they are here.
    virtual std::vector<Node> nodes() const { return {{0, workers_, double(workers_), false}}; }
    virtual bool binds_nodes() const
    {
        return false;
    } ///< tasks can be kept to the workers of a node; false also when there is one node
    virtual bool overlaid() const
    {
        return false;
    } ///< nodes are those of a described machine, so that images count as being on theirs
    virtual std::string name() const { return "this crew"; } ///< in messages
    /// Do devices take part? Then tasks name tiles, not images for the kernels of cores.
    virtual bool has_devices() const { return false; }
    std::uint64_t all_devices() const { return has_devices() ? ~std::uint64_t(0) : 0; } ///< as devices_for has them
    /// Is there anything that calls must ask where their matrices lie for: copies that are kept, arrays on devices?
    virtual bool minds_memory() const { return keeps_copies() || has_arrays(); }
    /// Do matrices lie on devices (session's adopt)? Only tasks may look at those: calls ask before they do.
    virtual bool has_arrays() const { return false; }
    virtual bool lies_on_device(const void* /*data*/) const { return false; } ///< throws Error{environment} where it was lost
    /// What a call has while it runs.
    struct Turn {
        virtual ~Turn() = default;
    };
    /// That of a call with these matrices, some of which lie on devices: it waits for earlier calls with matrices in the same
    /// arrays. `interrupted` is polled meanwhile as in `run`, with the same error. Null: nobody has to wait.
    virtual std::unique_ptr<Turn> turn_with(const std::vector<const void*>& /*matrices*/,
                                            const std::function<bool()>& /*interrupted*/)
    {
        return nullptr;
    }
    /// Memory of the smallest one; 0: there is none.
    virtual Bytes device_bytes() const { return 0; }
    /// What each of them computes with.
    virtual std::vector<const DeviceKernels*> device_kernels() const { return {}; }
    /// What is expected of a call laid out for devices.
    struct Forecast {
        std::uint64_t devices = 0;    ///< that take part, by their number from 0, one bit each; 0: it goes as without
        Seconds with = 0;             ///< with them; 0: not known, since they take part always
        Seconds alone = not_foreseen; ///< by cores alone
    };
    static constexpr Seconds not_foreseen = std::numeric_limits<Seconds>::infinity();
    /// Of one whose tasks `submit` submits: the same each time. `alone`: what cores alone would take with other tiles. Nothing is
    /// run; who has no devices is not asked.
    virtual Forecast devices_for(const std::function<void(Flow&)>& /*submit*/, Seconds /*alone*/) const { return {}; }
    /// What a call whose matrices lie on devices (lies_on_device), or some of them, is expected to take with all devices; 0: not
    /// known, since they take part always. Nothing is run.
    virtual Seconds expected_there(const std::function<void(Flow&)>& /*submit*/) const { return 0; }
    /// What was chosen for a call that devices can take part in, so that one like it need not be weighed again.
    struct PlanKey {
        const void* forms = nullptr; ///< the routine's
        int precision = 0;
        Index m = 0, n = 0, k = 0, right_sides = 0;
        Bytes room = 0;          ///< of the smallest device
        std::uint64_t homes = 0; ///< one bit for each operand that lies on a device
        bool right = false;      ///< side of the matrix that has m rows or n
        auto operator<=>(const PlanKey&) const = default;
    };
    struct TakenPlan {
        const Form* form;
        Index nb;
        std::uint64_t devices; ///< 0: it goes as without
    };
    virtual std::optional<TakenPlan> plan_of(const PlanKey&) const { return {}; }
    virtual void keep_plan(const PlanKey&, const TakenPlan&) const {}
    /// As `run`, with these devices alone.
    virtual Index run_with(std::uint64_t /*devices*/, const std::function<void(Flow&)>& body,
                           const std::function<bool()>& interrupted)
    {
        return run(body, interrupted);
    }
    /// In which form a call was laid out, with tiles of nb (0: as the form cuts): where devices could take part that follows from
    /// each call.
    virtual void note_form(const Form& /*form*/, Index /*nb*/) const {}
    struct FormTaken {
        std::int64_t when = 0; ///< of two the later one has more; 0: no call was laid out in it
        Index nb = 0;
    };
    /// By the last call that was laid out in this form, since statistics are counted.
    virtual FormTaken taken(const Form& /*form*/) const { return {}; }
    /// Do copies of callers' data outlast calls (session's keep)? Then it is told what a call is about to write.
    virtual bool keeps_copies() const { return false; }
    virtual void will_write(const void* /*data, null: any*/, Bytes /*bytes*/) {}
    /// Do products count what each node reads and writes? Then they say where pages lie, and give it to add_node_bytes.
    virtual bool counts_node_bytes() const { return false; }
    virtual std::vector<int> nodes_of_pages(const void*, std::size_t) const { return {}; }
    virtual void add_node_bytes(const std::vector<NodeBytes>&) {}

    /// Those that work together, of which this process is one; null: it works alone.
    virtual Processes* processes() { return nullptr; }
    /// As `run`, by all of them with the same tasks, whose data have owners (graph/owner_computes.hpp) and names; `at_home` says
    /// where one that this process owns is in its memory (what is nowhere yet stays a name), none: names are addresses. Throws
    /// Error{bad_argument} where there are none.
    virtual Index run_shared(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted,
                             const std::function<Datum(const Datum& name)>& at_home);

protected:
    /// The kernels outlive the crew.
    Crew(const KernelProvider& kernels, int workers, bool same_sums = false)
        : kernels_(&kernels), workers_(workers), same_sums_(same_sums)
    {
    }

private:
    const KernelProvider* const kernels_;
    const int workers_;
    const bool same_sums_;
};

} // namespace trencadis
