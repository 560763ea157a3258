#pragma once
#include "engines/engine.hpp"
#include "threads/thread_handle.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace trencadis {

/// The system may give a core to another process while its owner, a worker, is in the middle of a task, or has joined somebody's
/// task or call; then everybody who needs what that makes waits for that core, too. A helper, a worker with nothing to do, gives
/// its own core meanwhile: it has the owner's thread run there and sleeps. The owner goes on at the instruction where it was, and
/// goes home before it looks for its next task (docs/decisions/0052-held-up-workers-are-relieved.md).
///
/// The worker loop tells who has a worker (`has`) and when it has joined something (`Joined`), asks when it looks for a task
/// (`is_away`, `go_home`) and when it is idle (`Watch`). A caller that waits for those who have joined its call helps, too
/// (`help_members`).
class Relief {
public:
    static constexpr std::int64_t forever = std::int64_t{1} << 62;

    /// One worker's part, as an owner and as a helper; a member of the worker.
    class Post {
    public:
        std::int64_t given() const { return given_.load(std::memory_order_relaxed); } ///< times that it gave its core

    private:
        friend Relief;
        /// Where the owner's thread is. Invariant: at_home -> being_moved -> away by a helper, away -> at_home by the thread
        /// itself. So only one at a time says where it runs, and nobody else's move comes after its own.
        enum class Whereabouts { at_home, being_moved, away, fixed };
        /// What a helper last saw of an owner.
        struct Observation {
            ThreadHandle thread;
            std::int64_t cpu_ns = -1; ///< of its thread
            std::int64_t since_ns = 0;
        };

        int core_ = -1; ///< negative: it neither helps nor is helped
        int node_ = any_node;
        const std::atomic<std::int64_t>* runs_ = nullptr; ///< not 0 while it runs a task
        std::atomic<bool> joined_{false};                 ///< is inside what somebody else has opened
        std::atomic<pid_t> thread_{0};                    ///< of the unit that holds the worker; 0: one that must not be moved
        std::atomic<clockid_t> clock_{0};
        std::atomic<std::int64_t> held_up_ns_{0}; ///< when a helper last saw it waiting for its core; 0: not lately
        std::atomic<Whereabouts> whereabouts_{Whereabouts::at_home};
        std::atomic<std::int64_t> given_{0}; ///< written by the holder

        // The holder's own.
        std::int64_t gave_ns_ = -forever; ///< when it last gave its core
        std::vector<Observation> seen_;   ///< of the other workers, by number
        std::size_t looked_at_ = 0;       ///< the last one
    };

    /// While it lives the worker is inside a task or call of somebody else's.
    class Joined {
    public:
        explicit Joined(Post& owner) : owner_(owner) { owner_.joined_.store(true, std::memory_order_relaxed); }
        ~Joined() { owner_.joined_.store(false, std::memory_order_relaxed); }
        Joined(const Joined&) = delete;
        Joined& operator=(const Joined&) = delete;

    private:
        Post& owner_;
    };

    /// One time that a worker has nothing to do.
    class Watch {
    public:
        Watch(Relief& relief, Post& helper) : relief_(relief), helper_(helper), watches_(relief.helps(helper)) {}
        /// When the helper has found nothing: helps somebody who is held up, if it is time to look.
        void look();
        /// May the helper stay awake, as it has for so long? Who spins does not look: one that had to give its core lately sleeps
        /// soon instead, where somebody is at work.
        bool may_spin(std::int64_t awake_ns, std::int64_t now) const;
        /// How long to sleep at most. One that has begun a task may not be seen yet: nobody sleeps for long before it has looked
        /// twice.
        std::int64_t nap_ns() const;
        /// It did, or was woken. Of many that watch, each looks the less often.
        void slept(bool woken, int idle);

    private:
        Relief& relief_;
        Post& helper_;
        bool watches_;
        bool rested_ = false; ///< slept for as long as it wanted
        std::int64_t nap_ns_ = shortest_nap_ns;
    };

    /// `units_stay`: on the thread where they began; others cannot be followed.
    Relief(Relieving when, bool units_stay) : when_(when), units_stay_(units_stay) {}
    /// Before anybody works. `runs_since_ns` is not 0 while the worker runs a task. Owners are helped by workers of their `node`
    /// only.
    void add(Post& post, const WorkerPlace& place, int node, const std::atomic<std::int64_t>& runs_since_ns);

    bool is_on() const { return when_ != Relieving::never && posts_.size() > 1; }

    /// The helper, whose place the caller has, waits for those who have joined its call. Has it given its core to one of them?
    /// Then the caller sleeps. To be asked again after `look_ns`.
    bool help_members(Post& helper);
    static constexpr std::int64_t look_ns = 25'000; ///< longer than a thread stands still for an interrupt

    // The worker's holder.
    /// This thread has the worker from now on; none: one that must not be moved, since it is the program's own.
    void has(Post& owner, const ThreadHandle& thread) const;
    /// Is it on a helper's core?
    bool is_away(const Post& owner) const
    {
        return owner.whereabouts_.load(std::memory_order_relaxed) == Post::Whereabouts::away && is_mine(owner);
    }
    /// The helper's core is its own again.
    void go_home(Post& owner) const;
    /// From now on nobody moves its thread, which is about to end.
    void stay(Post& owner) const;

private:
    /// Between looks at what the others run: soon at first, for the end of a call is where one that is held up costs most. Not
    /// while it spins: a look makes the kernel settle the account of the core it looks at, which then changes threads earlier.
    static constexpr std::int64_t shortest_nap_ns = 50'000, longest_nap_ns = 5'000'000;

    static bool is_mine(const Post& owner);
    bool helps(Post& helper) const;
    bool is_held_up(Post& owner) const;
    static bool is_at_work(const Post& post);
    bool somebody_works(const Post& but) const;
    bool help_somebody(Post& helper, std::size_t looks);
    bool stands_still(Post& helper, std::size_t number) const;
    bool give_core(Post& helper, Post& owner) const;

    const Relieving when_;
    const bool units_stay_;
    std::vector<Post*> posts_;
};

} // namespace trencadis
