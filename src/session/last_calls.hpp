#pragma once
#include "choices/calibration.hpp"
#include "choices/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <vector>

namespace trencadis {

/// What the last calls took whose plans may be chosen, in a file of the cache folder: for `trencadis explain`, which has it
/// beside what was expected. A kind of call is its routine, precision, sizes, plan and number of workers.
class LastCalls {
public:
    static constexpr std::size_t of_a_kind = 5, most = 400; ///< rows that are kept; what is older goes
    static constexpr Flops least = 1e6;                     ///< of shorter calls two looks at the clock would be felt

    LastCalls(std::filesystem::path file, choices::Owner owner) : file_(std::move(file)), owner_(std::move(owner)) {}
    LastCalls(const LastCalls&) = delete;
    LastCalls& operator=(const LastCalls&) = delete;
    ~LastCalls() { write(); }

    /// One is over. Any thread; of two at once one may be left out. Written now and then, since a session that serves a whole
    /// program may never end; errno stays as it is.
    void note(const choices::Call& call, const choices::Plan& plan, int workers, Seconds took, std::int64_t now_ns) noexcept;

    /// The oldest first; none where the file is not there or somebody else's.
    static std::vector<choices::Row> read(const std::filesystem::path& file, const choices::Owner& owner)
    {
        return choices::Calibration::read(file, owner).rows;
    }

private:
    struct Noted {
        choices::Call call;
        choices::Plan plan;
        int workers;
        Seconds took;
    };
    void write() noexcept;

    const std::filesystem::path file_;
    const choices::Owner owner_;
    std::mutex mutex_;
    std::vector<Noted> noted_;  ///< not written yet; under it
    std::int64_t write_at_ = 0; ///< under it; 0: nothing was noted so far
};

} // namespace trencadis
