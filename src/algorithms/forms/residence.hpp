#pragma once
#include "graph/forwarding_flow.hpp"
#include "matrix/tile_matrix.hpp"

#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Flows of several processes: each submits the same tasks on the same names (Place), and has its own part of the operands in its
/// memory.
namespace trencadis {

struct LocalPlace {
    void* data;
    Index ld;
};
/// An operand of which this process holds tiles.
struct ResidentMatrix {
    HeldMatrix names;
    Index rows, cols, mb, nb;
    std::function<LocalPlace(Index i, Index j)> at; ///< of those
};
/// A vector of which every process has a memory of its own.
struct ResidentVector {
    void* data;
    std::size_t bytes;
    const void* names; ///< of the values of each process, one after the other
    /// A form's own names of values that are the same for all: a task takes those of the process that runs it. Null: there are
    /// none.
    const void* same = nullptr;
};
struct Residence {
    int rank, processes;
    std::vector<ResidentMatrix> matrices;
    std::vector<ResidentVector> vectors;

    /// Where a datum is that this process owns; what a form has beside its operands is nowhere yet, and stays a name.
    Datum at_home(const Datum& name) const;
};

/// Which accesses are the last ones to a value, of a flow whose tasks go nowhere: by the number of the access, from the first
/// task on.
class LastReads final : public Flow {
public:
    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }
    /// When all tasks were submitted.
    std::vector<bool> all() const;

private:
    void take(const Codelet&, const Arguments&, std::span<const Access> accesses, const TaskOptions&) override;

    std::size_t accesses_ = 0;
    std::unordered_map<const void*, std::size_t> reads_; ///< of values that nobody has overwritten
    std::vector<std::size_t> last_;
};

/// Passes tasks with owners on to another flow, with the last reads marked.
class ResidentFlow final : public ForwardingFlow {
public:
    /// All must outlive it. `last`: see LastReads. `form`: for messages.
    ResidentFlow(Flow& flow, const Residence& residence, const std::vector<bool>& last, std::string_view form)
        : ForwardingFlow(flow), residence_(residence), last_(last), form_(form)
    {
    }

private:
    /// Throws Error{bad_argument} where a task takes something else of an operand than one of its tiles.
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override;
    void require_tile(const Datum& datum) const;
    /// Of values that are the same for all.
    Datum chosen(const Datum& datum, std::int16_t executor) const;

    const Residence& residence_;
    const std::vector<bool>& last_;
    const std::string_view form_;
    std::size_t accesses_ = 0;
    std::vector<Access> passed_;
};

} // namespace trencadis
