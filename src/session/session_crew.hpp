#pragma once
#include "choices/chooser.hpp"
#include "drivers/crew.hpp"
#include "engines/host_pages.hpp"
#include "session/crowd.hpp"
#include "session/crowd_pace.hpp"
#include "session/last_calls.hpp"
#include "session/session.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace trencadis {

class CallSharing;

/// A session as routines see it. Whether workers take part in a short call is found out here, from when calls came and who of the
/// engine's workers is awake.
class SessionCrew final : public Crew {
public:
    /// Of a session whose parts are all there; `sharing`: its engine's, null where that shares no calls.
    /// `chooser`: null where calls go by rule; `last_calls`: where nobody keeps their times.
    SessionCrew(Session& session, CallSharing* sharing, const choices::Chooser* chooser, LastCalls* last_calls);

    Index run(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted) override;
    bool is_crowded(Flops flops) override;
    void call_is_over() override;
    Index run_here(const std::function<void(Flow&)>& body) override;
    choices::Plan plan(const choices::Call& call) const override { return chooser_ ? chooser_->choose(call) : choices::Plan(); }
    std::int64_t note_call(const choices::Call& call, const choices::Plan& plan, bool alone, Flops flops) override;
    void note_end(const choices::Call& call, const choices::Plan& plan, bool alone, std::int64_t began) override;
    bool can_share(Flops flops) override;
    bool shares_calls() const override { return plain_; }
    void note_short(Flops flops) override { is_crowded_without_tasks(flops, now_ns()); }
    bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops) override;
    bool is_wary() const override;
    bool is_even() const override { return even_; }
    std::int64_t line_ns() const override;
    double flops_per_ns() const override;
    Outlook outlook(Flops flops) override;

    std::vector<Node> nodes() const override;
    bool binds_nodes() const override { return session_.binds_nodes(); }
    bool overlaid() const override { return session_.overlaid(); }
    std::string name() const override;
    bool has_devices() const override { return !session_.options().devices.empty(); }
    bool minds_memory() const override { return session_.minds_memory(); }
    bool has_arrays() const override { return session_.has_arrays(); }
    bool lies_on_device(const void* data) const override
    {
        const int device = session_.device_of(data);
        if (device >= 0) session_.require_there(device);
        return device >= 0;
    }
    std::unique_ptr<Turn> turn_with(const std::vector<const void*>& matrices, const std::function<bool()>& interrupted) override
    {
        return session_.turn_with(matrices, interrupted);
    }
    Bytes device_bytes() const override { return session_.device_bytes(); }
    std::vector<const DeviceKernels*> device_kernels() const override { return session_.device_kernels(); }
    Forecast devices_for(const std::function<void(Flow&)>& submit, Seconds alone) const override;
    Seconds expected_there(const std::function<void(Flow&)>& submit) const override { return session_.expected_there(submit); }
    std::optional<TakenPlan> plan_of(const PlanKey& key) const override { return session_.plan_of(key); }
    void keep_plan(const PlanKey& key, const TakenPlan& plan) const override { session_.keep_plan(key, plan); }
    Index run_with(std::uint64_t devices, const std::function<void(Flow&)>& body,
                   const std::function<bool()>& interrupted) override;
    void note_form(const Form& form, Index nb) const override;
    FormTaken taken(const Form& form) const override;
    void forget_forms();
    bool keeps_copies() const override { return session_.keeps(); }
    void will_write(const void* data, Bytes bytes) override { session_.touch(data, bytes); }
    bool counts_node_bytes() const override { return session_.counts_node_bytes(); }
    std::vector<int> nodes_of_pages(const void* data, std::size_t pages) const override
    {
        return session_.nodes_of_pages(data, pages);
    }
    void add_node_bytes(const std::vector<NodeBytes>& rows) override { session_.add_node_bytes(rows); }
    Processes* processes() override { return session_.processes(); }
    Index run_shared(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted,
                     const std::function<Datum(const Datum&)>& at_home) override
    {
        return session_.run_shared(body, interrupted, at_home);
    }

private:
    std::int64_t alone_ns(Flops flops) const;
    bool may_leave_crowds() const;
    bool is_crowded_without_tasks(Flops flops, std::int64_t now);

    Session& session_;
    CallSharing* const sharing_;
    const choices::Chooser* const chooser_;
    LastCalls* const last_calls_;
    Crowd crowd_;
    CrowdPace pace_; ///< of its calls of medium length with tasks
    const bool plain_, leaves_crowds_, even_;
    const int made_after_; ///< so many forks: in a process forked since, the workers are not there
    /// Written by any calling thread, relaxed: what follows from them is a guess.
    std::atomic<std::int64_t> last_call_ns_{0}, last_short_ns_{0}, last_rouse_ns_{0};

    mutable std::mutex forms_mutex_;
    mutable std::map<const Form*, FormTaken> forms_; ///< under it
    mutable std::int64_t laid_out_ = 0;              ///< calls; under it
};

} // namespace trencadis
