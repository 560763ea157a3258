#pragma once
#include "choices/calibration.hpp"
#include "choices/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace trencadis {

/// What the last calls took whose plans may be chosen, in a file of the cache folder: for `trencadis explain`, which has it
/// beside what was expected. A kind of call is its routine, precision, sizes, plan and number of workers.
class LastCalls {
public:
    static constexpr std::size_t of_a_kind = 5, most = 400; ///< rows that are kept; what is older goes
    static constexpr Flops least = 1e6;                     ///< of shorter calls two looks at the clock would be felt

    LastCalls(std::filesystem::path file, choices::Owner owner);
    LastCalls(const LastCalls&) = delete;
    LastCalls& operator=(const LastCalls&) = delete;
    ~LastCalls();

    /// One is over. Any thread; of two at once one may be left out. Written now and then, since a session that serves a whole
    /// program may never end; errno stays as it is.
    void note(const choices::Call& call, const choices::Plan& plan, int workers, Seconds took, std::int64_t now_ns) noexcept;

    /// Where the process ends, of those that live on: what is not written yet, behind what processes that ended before have
    /// left beside the file. By calls of the system alone, since a program may end in a signal handler: no memory is taken and
    /// no lock waited for. Not in a process that forked since.
    static void leave_at_the_end() noexcept;

    /// The oldest first; none where the file is not there or somebody else's.
    static std::vector<choices::Row> read(const std::filesystem::path& file, const choices::Owner& owner);

private:
    struct Noted {
        choices::Call call;
        choices::Plan plan;
        int workers;
        Seconds took;
        std::string word; ///< of the plan
    };
    void write() noexcept;
    void begin() noexcept;
    void leave() noexcept;

    const std::filesystem::path file_, left_; ///< the second one: what ended processes have left, a line for each call
    const choices::Owner owner_;
    const std::string mark_; ///< of the owner, in those lines
    const int made_after_;   ///< so many forks, by the process
    const int process_;      ///< that one
    int place_ = -1;         ///< among those that live; -1: there was none left
    std::mutex mutex_;
    std::vector<Noted> noted_;  ///< not written yet; under it
    std::int64_t write_at_ = 0; ///< under it; 0: nothing was noted so far
    bool is_left_ = false;      ///< under it: what was noted is, at the process's end; to give its memory back might wait
};

} // namespace trencadis
