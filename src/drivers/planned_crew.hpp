#pragma once
#include "choices/plan.hpp"
#include "drivers/crew.hpp"

namespace trencadis {

/// A crew all of whose calls go by one plan, for those who measure it.
class PlannedCrew final : public Crew {
public:
    /// The crew outlives it.
    PlannedCrew(Crew& crew, const choices::Plan& plan)
        : Crew(crew.kernels(), crew.workers(), crew.same_sums()), crew_(crew), plan_(plan)
    {
    }

    choices::Plan plan(const choices::Call&) const override { return plan_; }

    Index run(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted) override
    {
        return crew_.run(body, interrupted);
    }
    void call_is_over() override { crew_.call_is_over(); }
    bool can_share(Flops flops) override { return crew_.can_share(flops); }
    bool shares_calls() const override { return crew_.shares_calls(); }
    void note_short(Flops flops) override { crew_.note_short(flops); }
    bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops) override
    {
        return crew_.share_out(chunks, work, flops);
    }
    std::int64_t line_ns() const override { return crew_.line_ns(); }
    double flops_per_ns() const override { return crew_.flops_per_ns(); }
    bool is_wary() const override { return crew_.is_wary(); }
    bool is_even() const override { return crew_.is_even(); }
    Outlook outlook(Flops flops) override { return crew_.outlook(flops); }
    std::vector<Node> nodes() const override { return crew_.nodes(); }
    bool binds_nodes() const override { return crew_.binds_nodes(); }
    bool overlaid() const override { return crew_.overlaid(); }
    std::string name() const override { return crew_.name(); }
    bool has_devices() const override { return crew_.has_devices(); }
    Bytes device_bytes() const override { return crew_.device_bytes(); }
    Forecast devices_for(const std::function<void(Flow&)>& submit, Seconds alone) const override
    {
        return crew_.devices_for(submit, alone);
    }
    Seconds expected_there(const std::function<void(Flow&)>& submit) const override { return crew_.expected_there(submit); }
    std::optional<TakenPlan> plan_of(const PlanKey& key) const override { return crew_.plan_of(key); }
    void keep_plan(const PlanKey& key, const TakenPlan& plan) const override { crew_.keep_plan(key, plan); }
    Index run_with(std::uint64_t devices, const std::function<void(Flow&)>& body,
                   const std::function<bool()>& interrupted) override
    {
        return crew_.run_with(devices, body, interrupted);
    }
    bool keeps_copies() const override { return crew_.keeps_copies(); }
    void will_write(const void* data, Bytes bytes) override { crew_.will_write(data, bytes); }
    bool counts_node_bytes() const override { return crew_.counts_node_bytes(); }
    std::vector<int> nodes_of_pages(const void* data, std::size_t pages) const override
    {
        return crew_.nodes_of_pages(data, pages);
    }
    void add_node_bytes(const std::vector<NodeBytes>& rows) override { crew_.add_node_bytes(rows); }

private:
    Crew& crew_;
    const choices::Plan plan_;
};

} // namespace trencadis
