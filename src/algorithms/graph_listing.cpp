#include "algorithms/graph_listing.hpp"

#include "algorithms/forms/names.hpp"
#include "algorithms/signature_names.hpp"
#include "base/error.hpp"
#include "graph/task_context.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace trencadis {
namespace {

// Aligned as those who lay a form out promise, and not null, which no datum is.
void* const first_name = reinterpret_cast<void*>(std::uintptr_t{64});

bool is_vector(std::string_view argument)
{
    constexpr std::array<std::string_view, 3> known{"ipiv", "jpvt", "tau"};
    return std::find(known.begin(), known.end(), argument) != known.end();
}

std::string range(Index first, Index last) // from 1
{
    return first == last ? std::to_string(first + 1) : std::to_string(first + 1) + ':' + std::to_string(last + 1);
}

/// What the data of one graph are called.
class DataNames {
public:
    DataNames(std::string_view routine, const Place& place, const GraphShape& shape)
        : matrices_(place.held().begin(), place.held().end()), vectors_(place.vectors()), nb_(std::max<Index>(shape.nb, 1))
    {
        if (routine == "tasks") // its tiles are addresses without elements
            matrices_.push_back({first_name, shape.n, shape.n, shape.n, 1, shape.n, {}, shape.n * shape.n});
        for (const SignatureNames& signature : signature_names()) {
            if (signature.routine != routine) continue;
            for (const std::string_view argument : signature.arguments)
                if (is_vector(argument)) vector_names_.push_back(argument);
                else if (std::isupper(static_cast<unsigned char>(argument.front()))) matrix_names_.push_back(argument);
        }
    }

    std::string of(const Datum& datum)
    {
        for (std::size_t m = 0; m < matrices_.size(); ++m)
            if (const auto at = matrices_[m].tile_of(datum.address)) return called(matrix_names_, m, 'A') + piece(m, *at, datum);
        for (std::size_t v = 0; v < vectors_.size(); ++v)
            if (const Index offset = distance(vectors_[v].data, datum.address); offset >= 0 && offset < Index(vectors_[v].bytes))
                return called(vector_names_, v, 'v') + '(' + std::to_string(offset / vectors_[v].element / nb_ + 1) + ')';
        const std::size_t number = beside_.try_emplace(datum.address, beside_.size() + 1).first->second;
        return "work " + std::to_string(number);
    }

private:
    static Index distance(const void* from, const void* to)
    {
        return Index(reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from));
    }
    static std::string called(const std::vector<std::string_view>& names, std::size_t number, char first)
    {
        return number < names.size() ? std::string(names[number]) : std::string(1, char(first + int(number)));
    }
    /// Tiles that it is made of, or the part of a tile.
    std::string piece(std::size_t m, HeldMatrix::At at, const Datum& datum) const
    {
        const HeldMatrix& matrix = matrices_[m];
        const Index element = std::max<Index>(datum.element, 1), ld = std::max<Index>(datum.ld, 1);
        const Index inside = distance(matrix.address_of(at), datum.address) / element;
        const Index row = inside % ld, col = inside / ld;
        const Index rows = std::max<Index>(datum.rows, 1), cols = std::max<Index>(datum.cols, 1);
        // Tiles lie in the matrix's columns, or one after the other in a column of tiles.
        const bool apart = matrix.column == matrix.col_stride;
        const Index mb = std::max<Index>(matrix.row_stride / element / (apart ? nb_ : 1), 1);
        const bool whole = fills(rows, mb, at.i, matrix.row_tiles) && fills(cols, nb_, at.j, matrix.col_tiles);
        if (datum.element == 0 || (inside == 0 && whole))
            return '(' + range(at.i, last(at.i, rows, mb, matrix.row_tiles)) + ',' +
                   range(at.j, last(at.j, cols, nb_, matrix.col_tiles)) + ')';
        return '(' + range(at.i, at.i) + ',' + range(at.j, at.j) + ")[" + range(row, row + rows - 1) + ',' +
               range(col, col + cols - 1) + ']';
    }
    static Index last(Index first, Index extent, Index tile, Index count)
    {
        return std::min(first + (extent + tile - 1) / tile, count) - 1;
    }
    /// Is it the whole of a tile or more, in one direction? The last tiles may be smaller than the others.
    static bool fills(Index extent, Index tile, Index at, Index count) { return extent >= tile || at == count - 1; }

    std::vector<HeldMatrix> matrices_;
    std::span<const Place::Vector> vectors_;
    Index nb_;
    std::vector<std::string_view> matrix_names_, vector_names_;
    std::map<const void*, std::size_t> beside_;
};

/// Lists what is submitted to it, and what tasks submit that submit.
class ListingFlow final : public Flow {
public:
    ListingFlow(GraphListing& listing, DataNames& names, std::int64_t most, std::int64_t inside = -1,
                const ListingFlow* parent = nullptr)
        : listing_(listing), names_(names), most_(most), inside_(inside), parent_(parent)
    {
    }

    void wait() override { waits_ = !own_.empty() && own_.back() != barrier_; }
    void cancel() override {}
    bool cancelled() const override { return false; }
    const Flow* parent() const override { return parent_; }

private:
    /// The tasks that have a datum together, and those before them.
    struct History {
        AccessMode mode = AccessMode::write;
        std::vector<std::int64_t> group, before;
    };

    /// Of a task that only submits others.
    class Context final : public TaskContext {
    public:
        Context(Team& team, ListingFlow& flow, std::span<const Access> accesses, Flow& children)
            : TaskContext(team, 0), flow_(flow), accesses_(accesses), children_(children)
        {
        }
        Operand operand(int access) const override
        {
            const Datum& datum = accesses_[std::size_t(access)].datum;
            return {const_cast<void*>(datum.address), datum.ld, datum.rows, datum.cols, true};
        }
        const Kernels* kernels() const override { return nullptr; }
        Info& outcome() override { return flow_.outcome(); }
        const Flow* own_flow() const override { return &flow_; }
        Flow& flow() override { return children_; }
        void* part(int) override { throw Error(ErrorCode::bad_argument, "a task that submits others has no private parts"); }

    private:
        ListingFlow& flow_;
        std::span<const Access> accesses_;
        Flow& children_;
    };

    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        if (std::exchange(waits_, false)) note_barrier();
        const std::int64_t number = add(options.label ? options.label : codelet.name, codelet.variant);
        std::vector<std::byte> args(arguments.bytes + alignof(std::max_align_t));
        void* at = args.data();
        std::size_t room = args.size();
        std::align(alignof(std::max_align_t), arguments.bytes, at, room);
        arguments.move(at, arguments.data);
        if (codelet.flops) task(number).flops = codelet.flops(at);
        for (const Access& access : accesses) task(number).uses.push_back({access.mode, names_.of(access.datum)});
        connect(number, accesses);
        if (codelet.submits) {
            SharedWork work;
            Team team(work);
            ListingFlow children(listing_, names_, most_, number, this);
            Context context(team, *this, accesses, children);
            codelet.core(at, context);
        }
        if (codelet.destroy) codelet.destroy(at);
    }
    std::int64_t add(const char* kernel, const char* variant)
    {
        const auto number = std::int64_t(listing_.tasks.size());
        if (number >= most_)
            throw Error(ErrorCode::bad_argument,
                        "the graph has more than " + std::to_string(most_) + " tasks; choose a smaller n, or a larger nb");
        ListedTask& task = listing_.tasks.emplace_back();
        task.kernel = kernel, task.variant = variant, task.inside = inside_;
        own_.push_back(number);
        return number;
    }
    ListedTask& task(std::int64_t number) { return listing_.tasks[std::size_t(number)]; }

    void connect(std::int64_t number, std::span<const Access> accesses)
    {
        std::vector<std::int64_t>& after = task(number).after;
        for (const auto& [address, mode] : strongest(accesses)) {
            History& history = data_[address];
            if (!is_shared(mode) || mode != history.mode) history.before = std::exchange(history.group, {});
            history.mode = mode;
            after.insert(after.end(), history.before.begin(), history.before.end());
            history.group.push_back(number);
        }
        if (after.empty() && barrier_ >= 0) after.push_back(barrier_);
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        for (const std::int64_t before : after) has_successor_.insert_or_assign(before, true);
    }
    /// Two accesses of a task to one datum are the stronger of the two: alone, unless they are of one mode.
    static std::map<const void*, AccessMode> strongest(std::span<const Access> accesses)
    {
        std::map<const void*, AccessMode> found;
        for (const Access& access : accesses) {
            const auto [at, fresh] = found.try_emplace(access.datum.address, access.mode);
            if (!fresh && at->second != access.mode) at->second = AccessMode::readwrite;
        }
        return found;
    }
    /// As a task behind all that nobody waits for yet.
    void note_barrier()
    {
        std::vector<std::int64_t> ends;
        for (const std::int64_t one : own_)
            if (!has_successor_.contains(one)) ends.push_back(one);
        barrier_ = add("wait", "");
        task(barrier_).after = std::move(ends);
        for (const std::int64_t before : task(barrier_).after) has_successor_.insert_or_assign(before, true);
        data_.clear();
    }

    GraphListing& listing_;
    DataNames& names_;
    const std::int64_t most_, inside_;
    const ListingFlow* const parent_;
    bool waits_ = false;
    std::int64_t barrier_ = -1;
    std::vector<std::int64_t> own_; ///< of this flow, not of those inside its tasks
    std::unordered_map<const void*, History> data_;
    std::unordered_map<std::int64_t, bool> has_successor_;
};

/// Chains go through the tasks inside a task: those begin when it does, and who waits for it waits for them.
void measure(GraphListing& listing)
{
    std::vector<std::int64_t> ends(listing.tasks.size(), 0), all_end(ends); // of the task itself, and with those inside
    std::map<std::int64_t, std::int64_t> of_depth;
    for (std::size_t t = 0; t < ends.size(); ++t) {
        const ListedTask& task = listing.tasks[t];
        const bool computes = task.kernel != "wait";
        std::int64_t begin = task.inside < 0 ? 0 : ends[std::size_t(task.inside)];
        for (const std::int64_t before : task.after) begin = std::max(begin, all_end[std::size_t(before)]);
        ends[t] = all_end[t] = begin + computes;
        for (std::int64_t up = task.inside; up >= 0; up = listing.tasks[std::size_t(up)].inside)
            all_end[std::size_t(up)] = std::max(all_end[std::size_t(up)], ends[t]);
        listing.depth = std::max(listing.depth, ends[t]);
        if (computes) listing.width = std::max(listing.width, ++of_depth[begin]);
    }
}

} // namespace

GraphListing list_graph(std::string_view routine, std::string_view variant, const GraphShape& shape, std::int64_t most)
{
    const Form& form = graph_form(routine, variant);
    const Problem problem = graph_problem(routine, form, shape);
    Place place = Place(first_name).held_by(TileOwners{}, std::max<Index>(problem.nb, 1));
    LayoutRoom layout;
    form.lay[graph_precision(shape.precision)](layout, place, problem);
    GraphListing listing;
    DataNames names(routine, place, shape);
    ListingFlow flow(listing, names, most);
    NamesFlow named(flow);
    layout->submit(named);
    measure(listing);
    return listing;
}

std::string_view name_of(AccessMode mode)
{
    switch (mode) {
    case AccessMode::read: return "read";
    case AccessMode::write: return "write";
    case AccessMode::readwrite: return "readwrite";
    case AccessMode::concurrent_write: return "concurrent_write";
    case AccessMode::commute: return "commute";
    case AccessMode::reduce: return "reduce";
    }
    return "";
}

} // namespace trencadis
