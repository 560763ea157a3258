#pragma once
#include "algorithms/forms/form.hpp"
#include "drivers/routine.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace trencadis {

/// The form that a call takes: the one that it asks for, which check_options has found, or the first whose kernels the crew has.
/// Throws Error{bad_argument} when the caller asked for one that stands for our own kernels and the crew's are somebody else's.
const Form& form_for(const Crew& crew, forms::Forms all, const RoutineOptions& options);
/// `devices`: they are to have tasks of it.
const Form& form_for(const Crew& crew, forms::Forms all, const RoutineOptions& options, bool devices);
/// Are the kernels our own that a form stands for? The diagonal tiles of a factorization are anybody's.
bool can_run(const Crew& crew, const Form& form);

/// The first form that runs on anybody's kernels, without images.
const Form& plain_form(forms::Forms all);
/// That of arrays which lie on devices: one whose tasks these devices have kernels for, else the plain one.
const Form& form_of_arrays(const Crew& crew, forms::Forms all, int precision);

/// A call whose operands are the caller's.
class LaidOut {
public:
    struct Scalars { ///< of the operands
        int precision;
        std::size_t bytes;
    };
    template <Scalar T> static constexpr Scalars scalars{layout_of_precision<T>, sizeof(T)};
    using Operands = std::span<const Place::Operand>;

    /// In the first of those that can be had, see lay_out.
    LaidOut(const Crew& crew, forms::Forms all, const RoutineOptions& options, Problem problem, Scalars of, Operands operands);
    LaidOut(const Crew& crew, const Form& form, const RoutineOptions& options, Problem problem, Scalars of, Operands operands);
    /// Where some operands lie on a device: in a form that names their tiles, and all devices take part.
    struct OnDevices {};
    LaidOut(OnDevices, const Crew& crew, forms::Forms all, const RoutineOptions& options, Problem problem, Scalars of,
            Operands operands);

    /// The outcome. `here`: by the calling thread alone. A product that needs nothing of what was in its result is computed once
    /// more, by cores, where a device has taken values with it.
    Index run(Crew& crew, const RoutineOptions& options, bool here = false) const;

    /// Would devices take part in a call that leaves form and tiles open?
    static bool takes_devices(const Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem,
                              Scalars of, Operands operands);

    /// Crew::expected_there of it.
    Seconds expected_there(const Crew& crew) const
    {
        return crew.expected_there([this](Flow& flow) { layout_->submit(flow); });
    }

    /// One of those that were weighed where devices could take part.
    struct Weighed {
        const Form* form;
        Index nb; ///< 0: as the form cuts
        Crew::Forecast expected;
        bool taken = false;
    };
    /// How a call whose caller leaves form and tiles open would be laid out, and what it would be weighed against, the form of
    /// cores with their tiles first. Nothing is run, and no memory is named. Empty: the crew has no devices, or the routine's
    /// calls have no layout of their own.
    static std::vector<Weighed> weighed(const Crew& crew, std::string_view routine, const Problem& problem, int precision);

private:
    /// What is to be laid out.
    struct Wanted {
        const Crew& crew;
        const RoutineOptions& options;
        const Problem& problem;
        Scalars of;
        Operands operands; ///< none: names alone
    };
    LaidOut() = default;
    void lay(const Wanted& call, const Form& form, bool devices, Index nb = 0);
    void lay_first(const Wanted& call, forms::Forms all, bool devices);
    Weighed foresee(const Crew& crew, Seconds alone) const;
    void lay_best(const Wanted& call, forms::Forms all, std::vector<Weighed>* tell);
    void lay_there(const Wanted& call, forms::Forms all);
    bool lay_again(const Wanted& call, forms::Forms all, const Crew::PlanKey& key);
    static Crew::PlanKey key_of(const Wanted& call, forms::Forms all);
    void lay_square(const Wanted& call, const Form& form);
    template <class Lay> static bool with_room_there(const Wanted& call, const Lay& lay);

    LayoutRoom layout_;
    const Form* form_ = nullptr; ///< in which it is, with tiles of nb_
    Index nb_ = 0;
    std::uint64_t devices_ = 0; ///< that take part
    bool anew_ = false;         ///< what is written was not read, and all matrices are the host's
};

/// Lays a call out: `problem` has the extents, the rest follows from the options and the crew. `form`: one, or those of a
/// routine; then, where there is no memory for the images of the first and the caller left the choice, the first is taken that
/// needs none.
template <Scalar T, class Forms>
LaidOut lay_out(const Crew& crew, const Forms& form, const RoutineOptions& options, const Problem& problem,
                std::initializer_list<Place::Operand> operands)
{
    return LaidOut(crew, form, options, problem, LaidOut::scalars<T>, LaidOut::Operands(operands.begin(), operands.size()));
}

/// The same call as its caller computes it alone: in the same tiles as they lie in memory, of which he would use images a few
/// times each. Real numbers get the same bits by both forms where no tile is narrower than eight (sums of one or two columns are
/// found otherwise); complex products are packed in any case.
struct OfOneCore {
    RoutineOptions options;
    Problem problem;
    bool in_place = false; ///< tiles of which another form would have images
};
OfOneCore of_one_core(const Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem,
                      LaidOut::Scalars of);

/// Lays a call out and runs it, `here`: by its caller alone.
template <Scalar T>
Index run_laid_out(Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem,
                   std::initializer_list<Place::Operand> operands, bool here)
{
    if (!here) return lay_out<T>(crew, all, options, problem, operands).run(crew, options);
    const OfOneCore one = of_one_core(crew, all, options, problem, LaidOut::scalars<T>);
    return lay_out<T>(crew, all, one.options, one.problem, operands).run(crew, one.options, true);
}

/// Is a product of so many flops for devices? Then it is laid out, whoever has time: tiles that fit into a device may have other
/// bits than what cores share or a caller computes alone.
template <Scalar T>
bool is_for_devices(const Crew& crew, forms::Forms all, Flops flops, const RoutineOptions& options, const Problem& problem,
                    std::initializer_list<Place::Operand> operands)
{
    constexpr Flops least = 5e5; // asked of nobody before the rest, since it says no to most calls
    if (options.nb != 0 || !options.variant.empty()) return false; // it is laid out in any case
    return flops > least && crew.has_devices() && flops > limits_of(crew).ready &&
           LaidOut::takes_devices(crew, all, options, problem, LaidOut::scalars<T>, {operands.begin(), operands.size()});
}

/// A call with operands that lie on a device, in its turn. Returns its outcome.
template <Scalar T>
Index run_on_devices(Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem,
                     std::initializer_list<Place::Operand> operands)
{
    std::vector<const void*> matrices;
    for (const Place::Operand& operand : operands) matrices.push_back(operand.data);
    const std::unique_ptr<Crew::Turn> turn = crew.turn_with(matrices, options.interrupted);
    const LaidOut laid(LaidOut::OnDevices{}, crew, all, options, problem, LaidOut::scalars<T>,
                       {operands.begin(), operands.size()});
    return laid.run(crew, options);
}

} // namespace trencadis
