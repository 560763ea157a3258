#include "algorithms/routines.hpp"
#include "algorithms/testing/waves.hpp"

#include <gtest/gtest.h>

#include <array>
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
