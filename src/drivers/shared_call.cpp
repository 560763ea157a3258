#include "drivers/shared_call.hpp"

#include "algorithms/forms/owners.hpp"
#include "drivers/routine.hpp"
#include "kernels/tiles/copy_part.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace trencadis {
namespace {

std::string text(const TileOwners& owners)
{
    if (owners.rule == TileOwners::Rule::given) return "given";
    if (owners.rule == TileOwners::Rule::symmetric) return "symmetric " + std::to_string(owners.processes());
    return std::to_string(owners.grid_rows) + 'x' + std::to_string(owners.grid_cols) + " from " +
           std::to_string(owners.first_row) + ',' + std::to_string(owners.first_col);
}
/// Numbers that differ read differently.
std::string text(double number)
{
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}
[[noreturn]] void refuse(int argument, const std::string& message) { throw Error(ErrorCode::bad_argument, argument, message); }

Place place_of(std::span<const SharedOperand> operands, Index nb)
{
    std::vector<TileOwners> owners;
    for (const SharedOperand& operand : operands) owners.push_back(operand.owners);
    return Place(names_of_processes, true).held_by(owners, nb);
}

/// So many tiles each process has.
std::vector<Index> tiles_of(const SharedOperand& A, int processes)
{
    std::vector<Index> tiles(std::size_t(processes), 0);
    const Index rows = (A.rows + A.mb - 1) / A.mb, cols = (A.cols + A.nb - 1) / A.nb;
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) {
            const int owner = A.owners(i, j);
            if (owner < 0 || owner >= processes) return {};
            ++tiles[std::size_t(owner)];
        }
    return tiles;
}

} // namespace

std::string text(const SharedOperand& A)
{
    return std::to_string(A.rows) + " x " + std::to_string(A.cols) + " in tiles " + std::to_string(A.mb) + " x " +
           std::to_string(A.nb) + " (" + text(A.owners) + ")";
}

std::string compared(const SharedOperand& A)
{
    if (A.owners.rule != TileOwners::Rule::given) return text(A);
    std::uint64_t hash = 14695981039346656037u; // FNV-1a, as all processes have it
    for (Index j = 0; j < A.cols; j += A.nb)
        for (Index i = 0; i < A.rows; i += A.mb) hash = (hash ^ std::uint16_t(A.owners(i / A.mb, j / A.nb))) * 1099511628211u;
    return text(A) + " by table " + std::to_string(hash);
}

void require_owners(Crew& crew, const SharedOperand& A, int argument, bool all)
{
    constexpr Index largest = std::numeric_limits<std::int32_t>::max();
    const int size = distributed::processes(crew).size();
    if (A.rows < 0 || A.cols < 0) refuse(argument, "a matrix is " + text(A) + "; extents must be 0 or more");
    if (A.mb < 1 || A.nb < 1 || A.mb > largest || A.nb > largest)
        refuse(argument, "a matrix is " + text(A) + "; tiles have 1 x 1 or more");
    if (A.owners.grid_rows < 1 || A.owners.grid_cols < 1 || A.owners.first_row < 0 || A.owners.first_col < 0)
        refuse(argument, "the owners of a matrix are " + text(A.owners) + ", which is no grid");
    const std::vector<Index> tiles = tiles_of(A, size);
    if (tiles.empty() || (all && A.owners.rule != TileOwners::Rule::given && A.owners.processes() != size))
        refuse(argument, "the owners of a matrix are " + text(A.owners) + ", and there are " + std::to_string(size) +
                             (size == 1 ? " process" : " processes") + "; the grid must have as many");
    if (const auto none = std::ranges::find(tiles, 0); all && none != tiles.end())
        refuse(argument, "a matrix " + text(A) + " leaves process " + std::to_string(none - tiles.begin()) +
                             " without a tile; take a smaller tile size, or fewer processes");
}

void say_refused(Crew& crew, std::string_view routine, const Error& error)
{
    if (Processes* const all = crew.processes()) all->agree(std::string(routine) + ", which it refuses: " + error.what());
}

SharedCall::SharedCall(Crew& crew, std::string_view routine, const Form& form, const Problem& problem, int precision,
                       std::span<const SharedOperand> operands)
    : crew_(crew), processes_(distributed::processes(crew)), routine_(routine), form_(form), problem_(problem),
      precision_(precision), place_(place_of(operands, problem.nb)), residence_{processes_.rank(), processes_.size(), {}, {}}
{
    checked(crew, routine, [&] {
        call_ = description();
        for (const SharedOperand& operand : operands) {
            call_ += ", " + compared(operand);
            residence_.matrices.push_back({{}, operand.rows, operand.cols, operand.mb, operand.nb, operand.at});
        }
        form.lay[precision](layout_, place_, problem_);
        check_layout();
    });
}

std::string SharedCall::description() const
{
    std::string call = std::string(routine_) + " in form '" + std::string(form_.name) + "' and precision " + "sdcz"[precision_];
    const auto say = [&](const char* name, int value) { call += std::string(" ") + name + ' ' + std::to_string(value); };
    say("uplo", int(problem_.uplo));
    say("side", int(problem_.side));
    say("op", int(problem_.op));
    say("op_b", int(problem_.op_b));
    say("diag", int(problem_.diag));
    for (const double part : {problem_.alpha.real(), problem_.alpha.imag(), problem_.beta.real(), problem_.beta.imag()})
        call += ' ' + text(part);
    return call;
}

/// The form's operands have the tiles of the caller's.
void SharedCall::check_layout() const
{
    const std::span<const HeldMatrix> held = place_.held();
    for (std::size_t i = 0; i < residence_.matrices.size() && i < held.size(); ++i) {
        const ResidentMatrix& matrix = residence_.matrices[i];
        if (held[i].row_tiles != (matrix.rows + matrix.mb - 1) / matrix.mb ||
            held[i].col_tiles != (matrix.cols + matrix.nb - 1) / matrix.nb)
            refuse(0, "form '" + std::string(form_.name) + "' cuts its operands otherwise than these tiles; " + call_);
    }
}

void SharedCall::reads_vector(const void* values)
{
    const Place::Vector& vector = place_.vectors().front();
    const void* const copies = place_.names<char>(Index(vector.bytes), processes_.size());
    residence_.vectors.push_back({const_cast<void*>(values), vector.bytes, copies, vector.data});
}

void SharedCall::writes_vector(void* values)
{
    const Place::Vector& vector = place_.vectors().front();
    const void* const copies = place_.names<char>(Index(vector.bytes), processes_.size());
    residence_.vectors.push_back({values, vector.bytes, copies});
    writes_vector_ = true;
}

/// Every piece of the form's vector to each process.
void SharedCall::collect(const std::map<const void*, Datum>& beside, Flow& flow) const
{
    const Place::Vector& vector = place_.vectors().front();
    const char* const begin = static_cast<const char*>(vector.data);
    for (auto piece = beside.lower_bound(begin); piece != beside.end() && piece->first < begin + vector.bytes; ++piece)
        for (int process = 0; process < processes_.size(); ++process) {
            Datum to = piece->second.owned_by(std::int16_t(process));
            const std::size_t offset = std::size_t(static_cast<const char*>(piece->first) - begin);
            to.address =
                static_cast<const char*>(residence_.vectors.front().names) + std::size_t(process) * vector.bytes + offset;
            task::copy_part(flow, {piece->second}, {to}, to.rows, to.cols);
        }
}

void SharedCall::submit(Flow& flow)
{
    OwnedFlow owned(flow, place_.held());
    layout_->submit(owned);
    if (writes_vector_) collect(owned.beside(), flow);
}

Index run_resident(Crew& crew, const ResidentCall& call, const Residence& residence, const std::function<void(Flow&)>& submit,
                   const RoutineOptions& options)
try {
    const std::vector<bool> last = checked(crew, call.routine, [&] {
        LastReads reads;
        submit(reads);
        return reads.all();
    });
    distributed::processes(crew).agree(call.compared);
    const auto body = [&](Flow& flow) {
        ResidentFlow resident(flow, residence, last, call.form);
        submit(resident);
    };
    return crew.run_shared(body, options.interrupted, [&](const Datum& name) { return residence.at_home(name); });
} catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "no memory left for the tasks of this call");
}

Index SharedCall::run(const RoutineOptions& options)
{
    for (std::size_t i = 0; i < residence_.matrices.size(); ++i) residence_.matrices[i].names = place_.held()[i];
    return run_resident(
        crew_, {routine_, form_.name, call_}, residence_, [this](Flow& flow) { submit(flow); }, options);
}

} // namespace trencadis
