#pragma once
#include "drivers/crew.hpp"
#include "session/session.hpp"

namespace trencadis {

/// A session as routines see it.
class SessionCrew final : public Crew {
public:
    /// Of a session whose parts are all there.
    explicit SessionCrew(Session& session) : Crew(session.kernels(), session.workers()), session_(session) {}

    Index run(const std::function<void(Flow&)>& body, const std::function<bool()>& interrupted) override
    {
        return session_.run(body, interrupted);
    }
    bool can_share(Flops flops) override { return session_.can_share(flops); }
    bool share_out(Index chunks, const std::function<void(Team&)>& work) override { return session_.share_out(chunks, work); }
    bool is_wary() const override { return session_.is_wary(); }
    Outlook outlook() override { return session_.outlook(); }

    std::vector<Node> nodes() const override;
    bool binds_nodes() const override { return session_.binds_nodes(); }
    bool overlaid() const override { return session_.overlaid(); }
    std::string name() const override;
    bool counts_node_bytes() const override { return session_.counts_node_bytes(); }
    std::vector<int> nodes_of_pages(const void* data, std::size_t pages) const override
    {
        return session_.nodes_of_pages(data, pages);
    }
    void add_node_bytes(const std::vector<NodeBytes>& rows) override { session_.add_node_bytes(rows); }

private:
    Session& session_;
};

} // namespace trencadis
