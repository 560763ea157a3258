#include "choices/chooser.hpp"

#include "algorithms/routines.hpp"
#include "base/error.hpp"
#include "base/registry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

namespace trencadis::choices {
namespace {

constexpr std::string_view words[] = {"rule", "time", "energy", "energy-delay"};

/// Beyond so many octaves from what was measured nothing is known.
constexpr double farthest = 1.0;
/// What a plan must be better than the rule to be taken: less is within the scatter of any calibration.
constexpr double worth_it = 0.975;
/// And by so much more for each octave from the nearest size that was measured: of plans near the rule three of four change
/// by less, as a logarithm of their ratio to it, from one size of a calibration to another (potrf 0.08, getrf 0.10, geqrf 0.08,
/// gemm 0.13).
constexpr double change_by_octave = 0.1;
/// How much a busy neighbour counts. A choice is the same with one and without.
constexpr double weight_of_busy = 0.3;
/// And how much at most a plan may gain or lose by it, as a logarithm: which call a neighbour's turn falls into is chance, and
/// measured ratios beside one reach two between plans that are as good. So it is worth 3 % of a quiet call's time.
constexpr double most_of_busy = 0.03;

template <class T, class Which> T& at(std::vector<T>& all, const Which& which, T&& otherwise)
{
    const auto there = std::ranges::find_if(all, which);
    return there != all.end() ? *there : all.emplace_back(std::move(otherwise));
}

double octaves(Index a, Index b)
{
    return a == b ? 0 : std::abs(std::log2(double(std::max<Index>(a, 1)) / double(std::max<Index>(b, 1))));
}

/// In octaves.
double distance(const Call& one, const Call& other)
{
    return std::hypot(octaves(one.m, other.m), octaves(one.n, other.n), octaves(one.k, other.k));
}

/// The logarithm of what the objective asks for, and of its time; none where that was not measured.
struct Amounts {
    double quiet, busy, time;
    bool has_busy;
};
std::optional<Amounts> amounts(const Row& row, Objective objective)
{
    const double amount = objective == Objective::energy         ? row.joules
                          : objective == Objective::energy_delay ? row.joules * row.seconds
                                                                 : row.seconds;
    if (!(amount > 0)) return {};
    const bool has_busy = objective == Objective::time && row.busy > 0;
    return Amounts{std::log(amount), has_busy ? std::log(row.busy) : 0, std::log(row.seconds), has_busy};
}
double advantage(const Amounts& its, const Amounts& rules)
{
    const double quiet = its.quiet - rules.quiet;
    if (!its.has_busy || !rules.has_busy) return quiet;
    const double dearer_beside_one = its.busy - rules.busy - quiet;
    return quiet + std::clamp(weight_of_busy * dearer_beside_one, -most_of_busy, most_of_busy);
}

/// Does the rule leave it to the calling thread? It leaps there from one way to another, and what it took on one side says
/// nothing about the other.
bool is_the_callers(const Call& call, int workers, bool ours)
{
    return call.k == 0 && flops_of(call) <= direct_limits(workers, ours, work_of(call)).ready;
}

} // namespace

Objective objective_called(std::string_view word)
{
    const auto at = std::ranges::find(words, word);
    if (at == std::end(words)) throw Error(ErrorCode::bad_argument, unknown_name("objective", word, words));
    return Objective(at - std::begin(words));
}
std::string_view word_of(Objective objective) { return words[int(objective)]; }

/// What was measured of a routine in a precision.
struct Chooser::Model {
    struct One {
        Plan plan;
        Tiles tiles;
        Amounts amounts;
    };
    struct Size {
        Call call; ///< its routine's name is the model's
        bool is_the_callers;
        std::vector<One> all;
        double scatter = 0; ///< by how much the rule differs from itself: see `count_twins`

        /// What was measured of a plan, which may have another word here: narrow tiles come to the same.
        template <class Self> static auto find(Self& size, const Plan& plan, int workers) -> decltype(&size.all.front().amounts)
        {
            const Tiles tiles = tiles_of(plan, size.call, workers);
            for (auto& one : size.all)
                if (one.plan.by == plan.by && one.plan.form == plan.form && one.tiles.nb == tiles.nb &&
                    one.tiles.grain == tiles.grain)
                    return &one.amounts;
            return nullptr;
        }
        const Amounts* of(const Plan& plan, int workers) const { return find(*this, plan, workers); }
        /// Of what the rule would be here for a call on the same side of its leap.
        const Amounts* of_rule(bool callers, int workers, const Form* first) const
        {
            if (callers == is_the_callers) return of({}, workers);
            return of(same_as_rule(callers, first), workers);
        }
        static Plan same_as_rule(bool callers, const Form* first)
        {
            return callers ? Plan{.by = Plan::By::caller} : Plan{Plan::By::tasks, first, 0};
        }
        /// The rule of a square factorization is another of the plans by another word, so it was measured twice. It took the
        /// mean; by how much the two differ is chance, and so is as much of anybody else's lead.
        void count_twins(int workers)
        {
            if (call.m != call.n || call.k != 0) return;
            const Form* const first = &find_routine(call.routine).forms().front();
            Amounts* const rules = find(*this, {}, workers);
            Amounts* const twins = find(*this, same_as_rule(is_the_callers, first), workers);
            if (!rules || !twins) return;
            scatter = std::abs(advantage(*twins, *rules));
            const double busy = rules->has_busy == twins->has_busy ? std::midpoint(rules->busy, twins->busy)
                                                                   : (rules->has_busy ? rules : twins)->busy;
            *rules = *twins = {std::midpoint(rules->quiet, twins->quiet), busy, std::midpoint(rules->time, twins->time),
                               rules->has_busy || twins->has_busy};
        }
    };
    std::string_view routine;
    int precision;
    std::vector<Size> sizes;
};

struct Chooser::Known {
    Call call;
    Plan plan;
};

Chooser::Chooser(const std::vector<Row>& rows, int workers, bool ours, Objective objective, Breadth breadth)
    : workers_(workers), ours_(ours), breadth_(breadth)
{
    if (objective == Objective::rule) return;
    for (const Row& row : rows) {
        const auto precision = precision_letters.find(row.precision);
        const std::optional<Plan> plan = plan_called(row.routine, row.plan);
        const std::optional<Amounts> its = amounts(row, objective);
        if (row.workers != workers || !plan || !its || precision == std::string_view::npos) continue;
        const Call call{find_routine(row.routine).name, int(precision), row.m, row.n, row.k};
        Model& model = at(
            models_, [&](const Model& one) { return one.routine == call.routine && one.precision == call.precision; },
            Model{call.routine, call.precision, {}});
        Model::Size& size = at(
            model.sizes, [&](const Model::Size& one) { return one.call == call; },
            Model::Size{call, is_the_callers(call, workers, ours), {}});
        size.all.push_back({*plan, tiles_of(*plan, call, workers), *its});
    }
    for (Model& model : models_) std::erase_if(model.sizes, [&](const Model::Size& size) { return !size.of({}, workers); });
    std::erase_if(models_, [](const Model& model) { return model.sizes.empty(); });
    for (Model& model : models_)
        for (Model::Size& size : model.sizes) size.count_twins(workers);
}

Chooser::~Chooser()
{
    for (const std::atomic<const Known*>& place : known_) delete place.load(std::memory_order_relaxed);
}

const Chooser::Model* Chooser::model_of(const Call& call) const
{
    for (const Model& model : models_)
        if (model.precision == call.precision && model.routine == call.routine) return &model;
    return nullptr;
}

namespace {

/// A size that was measured, as it counts for a call.
struct Witness {
    const Call* size;
    double octaves; ///< to the call
    double against, rate, scatter;
};

/// Between two sizes that the call lies between, in proportion. Elsewhere all sizes count, each by the inverse of its distance to
/// the fourth.
std::vector<double> weights_of(const std::vector<Witness>& all)
{
    constexpr double aside = 1.02, at_hand = 0.01;
    std::vector<double> weights(all.size(), 0);
    const Witness* ends[2] = {};
    for (const Witness& one : all)
        for (const Witness& other : all) {
            const double around = one.octaves + other.octaves, apart = distance(*one.size, *other.size);
            const bool closer = !ends[0] || around < ends[0]->octaves + ends[1]->octaves;
            if (&one < &other && apart > 0 && around <= aside * apart && closer) ends[0] = &one, ends[1] = &other;
        }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double octaves = all[i].octaves;
        if (!ends[0]) weights[i] = std::pow(octaves * octaves + at_hand * at_hand, -2);
        else if (&all[i] == ends[0]) weights[i] = ends[1]->octaves;
        else if (&all[i] == ends[1]) weights[i] = ends[0]->octaves;
    }
    return weights;
}

} // namespace

/// Sizes across the leap of the rule are left out where one on this side is near: what the form beyond is worth changes fastest
/// there.
Expected Chooser::expect(const Model& model, const Plan& plan, const Call& call) const
{
    Expected expected{.plan = plan, .nearest = std::numeric_limits<double>::infinity()};
    const bool callers = is_the_callers(call, workers_, ours_);
    const Form* const first = &find_routine(call.routine).forms().front();
    const auto is_here = [&](const Model::Size& size) {
        return size.is_the_callers == callers && distance(size.call, call) <= farthest;
    };
    const bool on_this_side = std::ranges::any_of(model.sizes, is_here);
    std::vector<Witness> all;
    for (const Model::Size& size : model.sizes) {
        const double octaves = distance(size.call, call);
        if (octaves > 2 * farthest || (on_this_side && size.is_the_callers != callers)) continue;
        const Amounts* const rules = size.of_rule(callers, workers_, first);
        const Amounts* const its = plan.by == Plan::By::rule ? rules : size.of(plan, workers_);
        if (!its || !rules) continue;
        all.push_back({&size.call, octaves, advantage(*its, *rules), std::log(flops_of(size.call)) - its->time, size.scatter});
        expected.nearest = std::min(expected.nearest, octaves);
    }
    if (all.empty()) return expected;
    const std::vector<double> weights = weights_of(all);
    const auto mean = [&](double Witness::*what) {
        double sum = 0, total = 0;
        for (std::size_t i = 0; i < all.size(); ++i) sum += weights[i] * (all[i].*what), total += weights[i];
        return std::exp(sum / total);
    };
    expected.against = mean(&Witness::against);
    expected.seconds = flops_of(call) / mean(&Witness::rate);
    expected.scatter = mean(&Witness::scatter);
    return expected;
}

std::vector<Expected> Chooser::consider(const Call& call) const
{
    std::vector<Expected> all;
    const Model* const model = model_of(call);
    if (!model) {
        all.emplace_back().chosen = true;
        return all;
    }
    for (const Plan& plan : plans_for(call, workers_, ours_, breadth_)) {
        const Expected expected = expect(*model, plan, call);
        // One that was not even tried at the nearest size was far behind around it.
        if (all.empty() || (expected.nearest <= farthest && expected.nearest <= all.front().nearest)) all.push_back(expected);
    }
    std::ranges::stable_sort(all, {}, &Expected::against);
    for (Expected& one : all) one.enough = std::min(worth_it * std::exp(-change_by_octave * one.nearest), 1 / one.scatter);
    const bool rule_first = all.front().against > all.front().enough;
    const auto chosen = rule_first ? std::ranges::find(all, Plan{}, &Expected::plan) : all.begin();
    chosen->chosen = true;
    std::rotate(all.begin(), chosen, chosen + 1);
    return all;
}

Plan Chooser::decide(const Call& call) const { return consider(call).front().plan; }

Plan Chooser::choose(const Call& call) const noexcept
try {
    const Model* const model = model_of(call);
    if (!model) return {};
    std::size_t place = std::size_t(call.m) * 0x9e3779b97f4a7c15u ^ std::size_t(call.n) * 0xc2b2ae3d27d4eb4fu ^
                        std::size_t(call.k) * 0x165667b19e3779f9u ^ std::size_t(model - models_.data()) * 0x27d4eb2f165667c5u;
    place ^= place >> 32;
    constexpr int tries = 8;
    for (int i = 0; i < tries; ++i) {
        std::atomic<const Known*>& known = known_[(place + std::size_t(i)) % places];
        const Known* there = known.load(std::memory_order_acquire);
        if (!there) {
            const Plan plan = decide(call);
            auto made = std::make_unique<Known>(Known{{model->routine, call.precision, call.m, call.n, call.k}, plan});
            if (known.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) made.release();
            return plan; // of two that decide at once both say the same
        }
        if (there->call == call) return there->plan;
    }
    return decide(call);
} catch (...) { // no memory
    return {};
}

} // namespace trencadis::choices
