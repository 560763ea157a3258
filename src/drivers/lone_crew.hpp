#pragma once
#include "drivers/crew.hpp"

namespace trencadis {

/// The calling thread of a call of another crew, as a crew of one worker: nobody helps it, and nobody is woken.
class LoneCrew final : public Crew {
public:
    /// In a call of that crew, which has checked the arguments and told what is written.
    explicit LoneCrew(Crew& crew) : Crew(crew.kernels(), 1, crew.same_sums()), crew_(crew) {}

    Index run(const std::function<void(Flow&)>& body, const std::function<bool()>&) override { return crew_.run_here(body); }
    Index run_here(const std::function<void(Flow&)>& body) override { return crew_.run_here(body); }
    bool can_share(Flops) override { return false; }
    bool share_out(Index, const std::function<void(Team&)>&, Flops) override { return false; }
    bool is_wary() const override { return false; }
    Outlook outlook(Flops) override { return Outlook::busy; }
    double flops_per_ns() const override { return crew_.flops_per_ns(); }
    std::string name() const override { return crew_.name(); }

private:
    Crew& crew_;
};

} // namespace trencadis
