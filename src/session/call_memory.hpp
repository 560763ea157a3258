#pragma once
#include "engines/host_pages.hpp"
#include "graph/flow.hpp"

#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace trencadis {

/// What memory the tasks of a call use, found while an algorithm submits them; and how much of it would be moved at least, were
/// each datum moved once each way that it has to. Nothing is run.
class CallMemory final : public Flow {
public:
    /// `is_elsewhere`: lies there no memory of the host?
    explicit CallMemory(std::function<bool(const void*)> is_elsewhere) : is_elsewhere_(std::move(is_elsewhere)) {}
    /// Data that lie together are one span: those of one matrix, and of others in the same pages.
    std::vector<MemorySpan> spans() const;
    Bytes moved() const { return moved_; }

    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override;

    struct Range {
        const char *begin, *end;
    };
    const std::function<bool(const void*)> is_elsewhere_;
    std::unordered_set<const void*> seen_, written_;
    std::vector<Range> ranges_;
    Bytes moved_ = 0;
};

} // namespace trencadis
