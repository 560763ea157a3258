#include "algorithms/graphs.hpp"
#include "algorithms/routines.hpp"
#include "algorithms/testing/waves.hpp"
#include "graph/owner_computes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace trencadis {
namespace {

using namespace testing;

constexpr Index n = 157, nb = 48, tallest = 4 * n;

/// More right sides than one task solves for.
Problem problem_of(const Form& form)
{
    return {.m = form.tall_rows ? tallest : n, .n = n, .k = n, .nb = nb, .inner = 20, .nrhs = 20, .rhs_nb = 20};
}
std::map<std::string, Index> tasks_at(Place place, const Form& form, int precision)
{
    Waves waves;
    TaskFlow flow(waves, whole_graph);
    LayoutRoom layout;
    form.lay[precision](layout, place, problem_of(form));
    layout->submit(flow);
    flow.wait();
    return waves.tasks;
}

TEST(Forms, LaidOutInMemoryHaveTheGraphThatIsSimulated)
{
    std::array<std::vector<std::complex<double>>, 4> memory; // any operand of any routine
    std::array<Place::Operand, 4> operands;
    for (std::size_t i = 0; i < memory.size(); ++i) {
        memory[i].resize(tallest * n);
        operands[i] = {memory[i].data(), tallest};
    }
    int compared = 0;
    for (const RoutineEntry& routine : routine_entries())
        for (const Form& form : routine.forms()) {
            if (!form.has_graph() || routine.name == "tasks") continue; // which has names alone
            SCOPED_TRACE(std::string(routine.name) + " " + std::string(form.name));
            for (const int precision : {0, 1, 2, 3}) {
                void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{1} << 47);
                const auto simulated = tasks_at(Place(nowhere), form, precision);
                EXPECT_FALSE(simulated.empty());
                EXPECT_EQ(tasks_at(Place(std::span<const Place::Operand>(operands)), form, precision), simulated);
                ++compared;
            }
        }
    EXPECT_GT(compared, 100);
}

/// Would compute, were it given anything.
class Computing final : public Executor {
public:
    void ready(Task*) override { ADD_FAILURE() << "a task of a graph that has no memory"; }
    void drain(TaskFlow&, std::int64_t) override {}
    void wake_owner(TaskFlow&) override {}
};

TEST(Forms, AsNamesAloneAreRefusedByWhoeverComputes)
{
    for (const std::string_view routine : graph_routines())
        for (const std::string_view variant : graph_variants(routine)) {
            SCOPED_TRACE(std::string(routine) + " " + std::string(variant));
            Computing executor;
            TaskFlow flow(executor);
            try {
                submit_graph(flow, routine, variant, {.n = n, .nb = nb, .nrhs = 3}, nullptr);
                ADD_FAILURE() << "nothing was refused";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::bad_argument);
                EXPECT_NE(std::string(error.what()).find("no memory behind it"), std::string::npos) << error.what();
            }
        }
}

/// Keeps what each task names.
class Accesses final : public Flow {
public:
    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }
    std::vector<std::vector<Access>> tasks;

private:
    void take(const Codelet&, const Arguments&, std::span<const Access> accesses, const TaskOptions&) override
    {
        tasks.emplace_back(accesses.begin(), accesses.end());
    }
};

constexpr TileOwners grid{2, 3};

/// Who holds the tile that begins there, of all that the place has handed out.
std::map<const void*, std::int16_t> tile_owners(std::span<const HeldMatrix> matrices)
{
    std::map<const void*, std::int16_t> owners;
    for (const HeldMatrix& matrix : matrices)
        for (Index i = 0; i < matrix.row_tiles; ++i)
            for (Index j = 0; j < matrix.col_tiles; ++j)
                owners[static_cast<const char*>(matrix.data) + i * matrix.row_stride + j * matrix.col_stride] =
                    std::int16_t(i % 2 * 3 + j % 3);
    return owners;
}

/// What is known of an address: where an operand's data begin inside a tile, and what tasks before have named.
std::optional<std::int16_t> known_owner(std::span<const HeldMatrix> matrices, const std::map<const void*, std::int16_t>& beside,
                                        const void* address)
{
    for (const HeldMatrix& matrix : matrices)
        if (const auto owner = matrix.owner_of(address)) return owner;
    const auto at = beside.find(address);
    return at == beside.end() ? std::nullopt : std::optional(at->second);
}

/// Operands have the owners of their tiles; what is written is the executor's, but for operands; a value beside them stays where
/// it was written last.
void expect_owners(const Form& form, Place place)
{
    LayoutRoom layout;
    form.lay[1](layout, place, problem_of(form));
    const std::map<const void*, std::int16_t> of_tiles = tile_owners(place.held());
    Accesses owned;
    OwnedFlow flow(owned, place.held());
    layout->submit(flow);
    std::map<const void*, std::int16_t> beside;
    std::set<std::int16_t> seen;
    for (const std::vector<Access>& task : owned.tasks) {
        const std::int16_t executor = executor_of(task);
        for (const Access& access : task) {
            const Datum& datum = access.datum;
            seen.insert(datum.owner);
            if (const auto tile = of_tiles.find(datum.address); tile != of_tiles.end()) {
                EXPECT_EQ(datum.owner, tile->second);
                continue;
            }
            if (known_owner(place.held(), {}, datum.address)) continue; // in the middle of a tile
            const auto known = beside.find(datum.address);
            if (is_writing(access.mode)) {
                EXPECT_EQ(datum.owner, executor) << "packing is where the tile is";
            } else if (known != beside.end()) {
                EXPECT_EQ(datum.owner, known->second);
            }
            beside[datum.address] = datum.owner;
        }
    }
    EXPECT_GE(seen.size(), 2u) << "the processes that hold something";
}

TEST(Forms, LaidOutForSeveralProcessesHaveDataWithTheOwnersOfTheirTiles)
{
    std::vector<std::vector<double>> memory(4, std::vector<double>(tallest * n));
    std::vector<Place::Operand> operands;
    for (const std::vector<double>& one : memory) operands.push_back({one.data(), tallest});
    void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{1} << 46);
    for (const RoutineEntry& routine : routine_entries())
        for (const Form& form : routine.forms()) {
            if (!form.has_graph() || routine.name == "tasks") continue; // names without tiles
            SCOPED_TRACE(std::string(routine.name) + " " + std::string(form.name));
            expect_owners(form, Place(nowhere).held_by(grid, nb));
            expect_owners(form, Place(std::span<const Place::Operand>(operands)).held_by(grid, nb));
        }
}

TEST(Forms, SayWhatTheyAre)
{
    for (const RoutineEntry& routine : routine_entries()) {
        const forms::Forms all = routine.forms();
        for (const Form& form : all) {
            SCOPED_TRACE(std::string(routine.name) + " " + std::string(form.name));
            EXPECT_TRUE(form.own.empty() || form.packs_images) << "the images are what others' kernels do not know";
            EXPECT_TRUE(form.tall_rows == nullptr || form.tall_rows(10) >= 20);
            for (const Form& other : all) EXPECT_TRUE(&other == &form || other.name != form.name);
        }
        const bool runs_anywhere = std::any_of(all.begin(), all.end(), [](const Form& f) { return f.called && f.own.empty(); });
        EXPECT_TRUE(runs_anywhere) << routine.name << " could not be called with others' kernels";
    }
}

} // namespace
} // namespace trencadis
