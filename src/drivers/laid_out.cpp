#include "drivers/laid_out.hpp"

#include "algorithms/cutting.hpp"
#include "algorithms/forms/device_skills.hpp"
#include "algorithms/graphs.hpp"
#include "algorithms/routines.hpp"
#include "algorithms/tile_size.hpp"
#include "base/device_error.hpp"
#include "choices/plan.hpp"
#include "drivers/device_room.hpp"
#include "kernels/providers/device_kernels.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace trencadis {
namespace {

/// Images are for our own kernels on cores; wherever they are, there is a form without.
bool leaves_devices_out(const Form& form) { return form.packs_images && !form.own.empty(); }

/// Has any device what the form asks of one?
bool suits_devices(const Crew& crew, const Form& form, int precision)
{
    return std::ranges::any_of(crew.device_kernels(),
                               [&](const DeviceKernels* its) { return form.asks_of_devices(*its, precision); });
}

bool can_run(const Crew& crew, const Form& form, bool devices)
{
    if (devices && leaves_devices_out(form)) return false;
    return std::all_of(form.own.begin(), form.own.end(), [&](KernelRoutine k) { return crew.kernels().native(k); });
}

void require_kernels(const Crew& crew, const Form& form, bool devices)
{
    if (can_run(crew, form, devices)) return;
    if (devices && leaves_devices_out(form))
        throw Error(ErrorCode::bad_argument, "variant '" + std::string(form.name) +
                                                 "' packs images for the kernels of cores, and devices take part in this "
                                                 "session; leave out the one or the other");
    std::string needed;
    for (const KernelRoutine k : form.own) needed.append(needed.empty() ? "" : ", ").append(kernel_routine_names[std::size_t(k)]);
    throw Error(ErrorCode::bad_argument, "variant '" + std::string(form.name) + "' needs the kernels 'native' for " + needed +
                                             "; this session's are '" + crew.kernels().name() + "'");
}

using Scalars = LaidOut::Scalars;

Cutters cutters(const Crew& crew, bool devices)
{
    if (!devices) return {crew.workers(), 0};
    return {crew.workers(), crew.device_bytes(), crew.has_arrays()};
}

/// `planned`: tiles where the caller asks for none; 0: as the form has them.
void fill_in(Problem& problem, const Form& form, const Crew& crew, const RoutineOptions& options, std::size_t element_bytes,
             bool devices, Index planned)
{
    if (problem.workers == 0) problem.workers = crew.workers();
    problem.nb = options.nb ? options.nb : form.cuts ? planned : 0;
    const Cutters by = cutters(crew, devices);
    if (form.cuts) return fit_devices(problem, form, by, options.nb > 0, element_bytes);
    Index nb = options.nb ? options.nb : planned;
    if (nb == 0) nb = form.tile(problem.m, problem.n, element_bytes, by.sharing());
    problem.nb = std::clamp<Index>(nb, 1, std::max<Index>({problem.m, problem.n, 1}));
    fit_devices(problem, form, by, options.nb > 0, element_bytes);
    problem.inner = default_inner(form, problem.nb);
    if (problem.rhs_nb == 0) problem.rhs_nb = rhs_tile(crew, problem.nb, problem.nrhs, options);
}

struct DevicePlan {
    const Form* form;
    Index nb;
};
/// A product's tiles are of all its extents, a factorization's of the order.
Index extent_of(const Form& form, const Problem& problem)
{
    return form.cuts ? std::max({problem.m, problem.n, problem.k}) : problem.n;
}
/// Forms with tiles that suit devices: equal ones, or one that is the whole matrix, which then is one product or the device's own
/// factorization; three of them fit into each device. `all_there`: what is one tile needs no room.
std::vector<DevicePlan> device_plans(const Crew& crew, forms::Forms all, const Problem& problem, Scalars of,
                                     bool all_there = false)
{
    constexpr Index quantum = 32;
    std::vector<DevicePlan> plans;
    for (const Form& form : all) {
        if (form.device_tiles.empty() || !form.lay[of.precision] || !can_run(crew, form, true)) continue;
        if (form.asks_of_devices && !suits_devices(crew, form, of.precision)) continue;
        const Index extent = extent_of(form, problem);
        Problem cut = problem;
        for (const Index about : form.device_tiles) {
            const Index nb = cut.nb = balanced(extent, about, quantum);
            if (nb >= extent || form.device_bytes(cut, of.bytes) > crew.device_bytes()) continue;
            if (plans.empty() || plans.back().form != &form || plans.back().nb != nb) plans.push_back({&form, nb});
        }
        cut.nb = extent;
        const bool may_be_whole = &form == &form_of_arrays(crew, all, of.precision);
        const bool fits =
            (all_there && extent >= std::max(problem.m, problem.n)) || form.device_bytes(cut, of.bytes) <= crew.device_bytes();
        if (may_be_whole && fits) plans.push_back({&form, extent});
    }
    return plans;
}

/// For devices that take part always, of which nothing was measured: the largest tiles of which there are enough in a row that
/// several tasks can go on at all times, or the smallest that suit devices. A form whose diagonal tiles cores share (those are
/// the later ones) where no device factors them. None: it is so small that it goes by the tiles of cores.
std::optional<DevicePlan> unmeasured_plan(const Crew& crew, forms::Forms all, const Problem& problem, Scalars of)
{
    constexpr Index enough = 8, least = 4;
    const bool first =
        std::ranges::any_of(crew.device_kernels(), [&](const DeviceKernels* its) { return factors(*its, of.precision); });
    std::optional<DevicePlan> best;
    Index worth = 0;
    for (const DevicePlan& plan : device_plans(crew, all, problem, of)) {
        const Index in_a_row = pieces(extent_of(*plan.form, problem), plan.nb);
        if (in_a_row < least) continue;
        const Index its = in_a_row >= enough ? plan.nb : -plan.nb;
        if (!best || its > worth || (its == worth && !first)) best = plan, worth = its;
    }
    return best;
}

/// Of a call whose matrices lie on devices, the largest tiles first; beside those, in the form that names tiles, the tiles that
/// suit cores. Each is at most so many tiles or columns wide, as far as there are such: to weigh tasks takes time, and tiles make
/// more of them.
std::vector<DevicePlan> plans_there(const Crew& crew, forms::Forms all, const Problem& problem, Scalars of, bool all_there)
{
    constexpr Index most_tiles = 16, most_columns = 64;
    std::vector<DevicePlan> plans = device_plans(crew, all, problem, of, all_there);
    const Form& plain = form_of_arrays(crew, all, of.precision);
    const Index order = std::max({problem.m, problem.n, problem.k, Index(1)});
    try {
        plans.push_back({&plain, tile_of(plain, order, of.bytes, cutters(crew, true))});
    } catch (const NoRoomThere&) {
        if (plans.empty() && !all_there) throw;
        if (plans.empty()) plans.push_back({&plain, order});
    }
    std::ranges::stable_sort(plans, std::greater(), &DevicePlan::nb);
    const Index least = pieces(order, plans.front().nb);
    std::erase_if(plans, [&](const DevicePlan& plan) {
        return pieces(order, plan.nb) > std::max(plan.form->by_columns ? most_columns : most_tiles, least);
    });
    return plans;
}

/// Columns that a task updates of a matrix which lies on a device: all that there are, so that the next panel and one task with
/// all other updates are in its queues. Several devices share them; and a copy of them beside a panel must fit into each.
Index together_on(const Crew& crew, const Problem& problem, std::size_t element_bytes)
{
    constexpr Index for_each = 4;
    const auto devices = Index(crew.device_kernels().size());
    const double room = crew.device_bytes() / (2 * double(element_bytes) * double(std::max<Index>(problem.m, 1)));
    return static_cast<Index>(std::min(double(devices > 1 ? problem.n / (for_each * devices) : problem.n), room));
}

} // namespace

bool can_run(const Crew& crew, const Form& form) { return can_run(crew, form, crew.has_devices()); }

const Form& form_for(const Crew& crew, forms::Forms all, const RoutineOptions& options)
{
    return form_for(crew, all, options, crew.has_devices());
}

const Form& form_for(const Crew& crew, forms::Forms all, const RoutineOptions& options, bool devices)
{
    const bool asked = !options.variant.empty();
    const auto form = std::find_if(all.begin(), all.end(), [&](const Form& one) {
        return one.called && (asked ? one.name == options.variant : can_run(crew, one, devices));
    });
    require_kernels(crew, *form, devices);
    return *form;
}

const Form& form_of_arrays(const Crew& crew, forms::Forms all, int precision)
{
    const auto form = std::ranges::find_if(
        all, [&](const Form& one) { return one.called && one.for_arrays && suits_devices(crew, one, precision); });
    return form != all.end() ? *form : plain_form(all);
}

const Form& plain_form(forms::Forms all)
{
    return *std::find_if(all.begin(), all.end(), [](const Form& form) { return form.called && form.own.empty(); });
}

namespace {

bool is_open(const RoutineOptions& options) { return options.variant.empty() && options.nb == 0; }

/// Do all matrices lie on the only device, so that its tasks find them where they are? (What has no columns are pivots.)
bool lie_all_there(const Crew& crew, LaidOut::Operands operands)
{
    return crew.device_kernels().size() == 1 && !operands.empty() && std::ranges::all_of(operands, [&](const auto& operand) {
               return operand.ld == 0 || crew.lies_on_device(operand.data);
           });
}

} // namespace

Crew::PlanKey LaidOut::key_of(const Wanted& call, forms::Forms all)
{
    const Problem& x = call.problem;
    Crew::PlanKey key{all.data(), call.of.precision, x.m, x.n, x.k, x.nrhs, call.crew.device_bytes(), 0, x.side == Side::right};
    std::uint64_t bit = 1;
    for (const Place::Operand& operand : call.operands) {
        if (call.crew.has_arrays() && call.crew.lies_on_device(operand.data)) key.homes |= bit;
        bit <<= 1;
    }
    return key;
}

void LaidOut::lay(const Wanted& call, const Form& form, bool devices, Index nb)
{
    Problem problem = call.problem;
    fill_in(problem, form, call.crew, call.options, call.of.bytes, devices, nb);
    Place place = call.operands.empty() ? Place(nullptr) : Place(call.operands);
    form.lay[call.of.precision](layout_, place, problem);
    form_ = &form;
    nb_ = problem.nb;
    anew_ = problem.beta == 0.0;
}

void LaidOut::lay_first(const Wanted& call, forms::Forms all, bool devices)
{
    for (const Form* form = &form_for(call.crew, all, call.options, devices);; form = &plain_form(all)) try {
            return lay(call, *form, devices);
        } catch (const Error& failure) {
            const bool may_be_another = (call.options.variant.empty() || call.options.or_another) && !form->own.empty();
            if (failure.code() != ErrorCode::out_of_memory || !may_be_another) throw;
        }
}

OfOneCore of_one_core(const Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem, Scalars of)
{
    constexpr Index least = 8;
    const Form& form = form_for(crew, all, options);
    const Index nb = options.nb ? options.nb : form.tile(problem.m, problem.n, of.bytes, crew.workers());
    const auto is_narrow = [&](Index extent) { return std::min(nb, extent) < least || (extent % nb > 0 && extent % nb < least); };
    if (!form.packs_images || of.precision >= 2 || is_narrow(problem.m) || is_narrow(problem.n)) return {options, problem};
    OfOneCore one{{.nb = nb, .interrupted = options.interrupted, .variant = std::string(plain_form(all).name)}, problem, true};
    if (problem.nrhs > 0 && problem.rhs_nb == 0) one.problem.rhs_nb = rhs_tile(crew, nb, problem.nrhs, options);
    return one;
}

LaidOut::Weighed LaidOut::foresee(const Crew& crew, Seconds alone) const
{
    return {form_, nb_, crew.devices_for([this](Flow& flow) { layout_->submit(flow); }, alone)};
}

/// Lays a call out whose matrices are the host's. False: arrays have left no room for that, and the caller leaves the call open,
/// which goes without devices then.
template <class Lay> bool LaidOut::with_room_there(const Wanted& call, const Lay& lay)
{
    try {
        lay();
        return true;
    } catch (const NoRoomThere&) {
        if (!is_open(call.options) || !call.crew.has_arrays()) throw;
        return false;
    }
}

LaidOut::LaidOut(const Crew& crew, const Form& form, const RoutineOptions& options, Problem problem, Scalars of,
                 Operands operands)
{
    const bool devices = crew.has_devices();
    const Wanted call{crew, options, problem, of, operands};
    if (devices && with_room_there(call, [&] { lay(call, form, true); }))
        devices_ = foresee(crew, Crew::not_foreseen).expected.devices;
    if (devices_ == 0) lay(call, form, false); // in the tiles of cores
    if (devices) crew.note_form(*form_, nb_);
}

/// Where devices could take part, it is laid out for them first: from those tasks follows whether they do. Where a caller leaves
/// form and tiles open, forms with tiles that suit devices are weighed against those that suit cores.
void LaidOut::lay_best(const Wanted& call, forms::Forms all, std::vector<Weighed>* tell)
{
    if (!with_room_there(call, [&] { lay_first(call, all, true); })) return lay_first(call, all, false);
    Weighed best = foresee(call.crew, Crew::not_foreseen);
    const Seconds alone = best.expected.alone;
    if (tell) tell->push_back(best);
    const bool always = best.expected.devices != 0 && best.expected.with == 0;
    // Among equals those that suit cores: what is expected is not better than that.
    constexpr double worth_it = 0.95;
    Seconds at_most = worth_it * best.expected.with;
    const bool open = call.options.variant.empty() && call.options.nb == 0, weighs = open && !always;
    if (const auto plan = open && always ? unmeasured_plan(call.crew, all, call.problem, call.of) : std::nullopt) {
        lay(call, *plan->form, true, plan->nb);
        best.form = form_, best.nb = nb_;
        if (tell) tell->push_back(best);
    }
    for (const DevicePlan& plan : weighs ? device_plans(call.crew, all, call.problem, call.of) : std::vector<DevicePlan>()) {
        lay(call, *plan.form, true, plan.nb);
        const Weighed other = foresee(call.crew, alone);
        if (tell) tell->push_back(other);
        if (other.expected.devices == 0) continue;
        if (best.expected.devices == 0 || other.expected.with < at_most) best = other, at_most = other.expected.with;
    }
    devices_ = best.expected.devices;
    if (devices_ == 0 && call.options.variant.empty()) lay_first(call, all, false);
    else if (form_ != best.form || nb_ != best.nb) lay(call, *best.form, true, best.nb);
}

LaidOut::LaidOut(const Crew& crew, forms::Forms all, const RoutineOptions& options, Problem problem, Scalars of,
                 Operands operands)
{
    const Wanted call{crew, options, problem, of, operands};
    if (!crew.has_devices()) {
        lay_first(call, all, false);
        return;
    }
    const Crew::PlanKey key = key_of(call, all);
    if (!lay_again(call, all, key)) {
        lay_best(call, all, nullptr);
        if (is_open(options)) crew.keep_plan(key, {form_, nb_, devices_});
    }
    crew.note_form(*form_, nb_);
}

bool LaidOut::takes_devices(const Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem, Scalars of,
                            Operands operands)
{
    const std::optional<Crew::TakenPlan> plan = crew.plan_of(key_of({crew, options, problem, of, operands}, all));
    return plan ? plan->devices != 0 : LaidOut(crew, all, options, problem, of, operands).devices_ != 0;
}

/// Of a call like one before.
bool LaidOut::lay_again(const Wanted& call, forms::Forms all, const Crew::PlanKey& key)
{
    if (!is_open(call.options)) return false;
    const std::optional<Crew::TakenPlan> plan = call.crew.plan_of(key);
    if (!plan) return false;
    if (plan->devices == 0) lay_first(call, all, false);
    else lay(call, *plan->form, true, plan->nb);
    devices_ = plan->devices;
    return true;
}

/// What is expected to be fastest with all devices, smaller tiles where they save three tenths: what more tasks cost, and cores
/// that have to be woken for some, is not in what is expected. Where nothing is, as in other calls of which nothing is.
void LaidOut::lay_there(const Wanted& call, forms::Forms all)
{
    constexpr double worth_it = 0.7;
    DevicePlan best{nullptr, 0};
    Seconds soonest = 0;
    const std::vector<DevicePlan> plans =
        plans_there(call.crew, all, call.problem, call.of, lie_all_there(call.crew, call.operands));
    if (plans.size() == 1 && plans.front().form->device_tiles.empty()) return lay_square(call, *plans.front().form);
    for (const DevicePlan& plan : plans) {
        lay(call, *plan.form, true, plan.nb);
        if (plans.size() == 1) return;
        const Seconds expected = expected_there(call.crew);
        if (expected == 0) break;
        if (best.form && expected >= worth_it * soonest) continue;
        soonest = expected;
        best = {form_, nb_};
    }
    const auto unmeasured = best.form ? std::nullopt : unmeasured_plan(call.crew, all, call.problem, call.of);
    if (unmeasured) lay(call, *unmeasured->form, true, unmeasured->nb);
    else if (!best.form) lay_square(call, form_of_arrays(call.crew, all, call.of.precision));
    else if (form_ != best.form || nb_ != best.nb) lay(call, *best.form, true, best.nb);
}

/// Tiles that nobody asked for are square, so that a matrix that is two operands of a product is cut in one way; where there is
/// no room for copies of any, and none are needed, they are the whole matrices.
void LaidOut::lay_square(const Wanted& call, const Form& form)
{
    const Problem& x = call.problem;
    const bool open = form.cuts && call.options.nb == 0;
    const Index order = std::max({x.m, x.n, x.k});
    try {
        lay(call, form, true, open ? tile_of(form, order, call.of.bytes, cutters(call.crew, true)) : 0);
    } catch (const NoRoomThere&) {
        if (call.options.nb > 0 || !lie_all_there(call.crew, call.operands)) throw;
        lay(call, form, true, order);
    }
}

LaidOut::LaidOut(OnDevices, const Crew& crew, forms::Forms all, const RoutineOptions& options, Problem problem, Scalars of,
                 Operands operands)
{
    problem.together = together_on(crew, problem, of.bytes);
    const Wanted call{crew, options, problem, of, operands};
    const bool alike = crew.device_kernels().size() == 1; // of several it matters on which one each matrix lies
    const Crew::PlanKey key = key_of(call, all);
    if (!is_open(options))
        lay_square(call, options.variant.empty() ? form_of_arrays(crew, all, of.precision) : form_for(crew, all, options, true));
    else if (!alike || !lay_again(call, all, key)) {
        lay_there(call, all);
        if (alike) crew.keep_plan(key, {form_, nb_, crew.all_devices()});
    }
    devices_ = crew.all_devices();
    anew_ = false;
    crew.note_form(*form_, nb_);
}

Index LaidOut::run(Crew& crew, const RoutineOptions& options, bool here) const
{
    const auto submit = [this](Flow& flow) { layout_->submit(flow); };
    if (here || devices_ == 0) return run_routine(crew, options, submit, here);
    return with_memory_for_tasks([&] {
        try {
            return crew.run_with(devices_, submit, options.interrupted);
        } catch (const Error& lost) {
            if (!anew_ || !is_of_devices(lost)) throw;
            return crew.run_with(0, submit, options.interrupted);
        }
    });
}

std::vector<LaidOut::Weighed> LaidOut::weighed(const Crew& crew, std::string_view routine, const Problem& problem, int precision)
{
    const Scalars of{precision, choices::element_bytes(precision)};
    std::vector<Weighed> all;
    const forms::Forms forms = find_routine(routine).forms();
    if (!crew.has_devices() || !form_for(crew, forms, {}, true).lay[of.precision]) return all;
    LaidOut laid;
    laid.lay_best({crew, {}, problem, of, {}}, forms, &all);
    for (Weighed& one : all) one.taken = laid.devices_ != 0 && one.form == laid.form_ && one.nb == laid.nb_;
    return all;
}

} // namespace trencadis
