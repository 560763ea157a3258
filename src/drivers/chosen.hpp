#pragma once
#include "choices/plan.hpp"
#include "drivers/crew.hpp"
#include "drivers/linear_algebra.hpp"

#include <cstdint>
#include <optional>

namespace trencadis {

/// How a call goes: as its caller asks, or, where that leaves tile size and form open, by the crew's plan for it.
class Chosen {
public:
    Chosen(Crew& crew, const choices::Call& call, const RoutineOptions& asked);
    /// The call is over. One that fails is of no time that others would take.
    ~Chosen();
    Chosen(const Chosen&) = delete;
    Chosen& operator=(const Chosen&) = delete;

    const RoutineOptions& options() const { return own_ ? *own_ : asked_; }
    /// On the calling thread, without tasks; others help where that pays at the moment.
    bool by_caller() const { return by_caller_; }
    /// For how many workers a product is cut up; 0: as many as there are.
    int grain() const { return grain_; }
    /// As if the caller were the only worker (lone_crew.hpp), since the plan says so.
    bool alone() const { return alone_; }
    /// All of it is the caller's, since other calls keep the cores busy.
    bool here() const { return here_; }

private:
    Crew& crew_;
    const RoutineOptions& asked_;
    std::int64_t began_ = 0; ///< 0: nobody asks
    choices::Call call_;     ///< where somebody does, and so the plan
    choices::Plan plan_;
    std::optional<RoutineOptions> own_;
    bool by_caller_ = false;
    bool alone_ = false;
    int grain_ = 0;
    bool here_ = false;
};

} // namespace trencadis
