#pragma once
#include "choices/plan.hpp"
#include "drivers/crew.hpp"
#include "drivers/linear_algebra.hpp"

#include <functional>
#include <memory>

namespace trencadis {

/// A call on operands of its own, to be timed in one plan after another: for calibrations.
class TimedPlans {
public:
    /// Of choices::chosen_routines, in any precision; the crew outlives it. Throws Error{bad_argument} for another routine, and
    /// Error{out_of_memory}.
    TimedPlans(Crew& crew, const choices::Call& call);
    ~TimedPlans();
    TimedPlans(const TimedPlans&) = delete;
    TimedPlans& operator=(const TimedPlans&) = delete;

    /// What the call takes in that plan, its operands restored before. `interrupted`: see RoutineOptions.
    Seconds time(const choices::Plan& plan, const std::function<bool()>& interrupted = {});

    struct Operands {
        virtual ~Operands() = default;
        virtual void restore() = 0;
        virtual void compute(Crew& crew, const RoutineOptions& options) = 0;
    };

private:
    Crew& crew_;
    std::unique_ptr<Operands> operands_;
};

} // namespace trencadis
