#include "drivers/timed_plans.hpp"

#include "base/error.hpp"
#include "base/registry.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/planned_crew.hpp"
#include "matrix/work_memory.hpp"

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace trencadis {
namespace {

/// Column by column, with the leading dimension that such a matrix has by itself.
template <Scalar T> class Columns {
public:
    Columns(Index rows, Index cols) : rows_(rows), cols_(cols), memory_(std::size_t(rows * cols) * sizeof(T)) {}
    T* data() const { return static_cast<T*>(memory_.data()); }
    Index ld() const { return rows_; }

    /// In (-0.5, 0.5), and `diagonal` there if that is not 0.
    void fill(double diagonal = 0)
    {
        std::uint64_t state = 0x853c49e6748fea9bu; // any: the same each time
        T* const values = data();
        for (Index i = 0; i < rows_ * cols_; ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            values[i] = T(Real<T>(double(state >> 11) * 0x1p-53 - 0.5));
        }
        for (Index i = 0; diagonal != 0 && i < std::min(rows_, cols_); ++i) values[i * (rows_ + 1)] = T(Real<T>(diagonal));
    }
    void copy(const Columns& from) { std::copy_n(from.data(), rows_ * cols_, data()); }

private:
    const Index rows_, cols_;
    WorkMemory memory_;
};

template <Scalar T> struct Product final : TimedPlans::Operands {
    explicit Product(const choices::Call& call) : m(call.m), n(call.n), k(call.k), A(m, k), B(k, n), C(m, n)
    {
        A.fill();
        B.fill();
        C.fill();
    }
    void restore() override {} // C is written, not added to
    void compute(Crew& crew, const RoutineOptions& options) override
    {
        gemm(crew, Op::none, Op::none, m, n, k, T(1), A.data(), A.ld(), B.data(), B.ld(), T(0), C.data(), C.ld(), options);
    }
    const Index m, n, k;
    Columns<T> A, B, C;
};

template <Scalar T> struct Factorization final : TimedPlans::Operands {
    explicit Factorization(const choices::Call& call)
        : routine(call.routine), m(call.m), n(call.n), given(m, n), A(m, n), tau(std::size_t(std::min(m, n))), pivots(tau.size())
    {
        given.fill(routine == "potrf" ? double(n) : 0);
    }
    void restore() override { A.copy(given); }
    void compute(Crew& crew, const RoutineOptions& options) override
    {
        if (routine == "potrf") potrf(crew, Uplo::lower, n, A.data(), A.ld(), options);
        else if (routine == "getrf") getrf(crew, m, n, A.data(), A.ld(), pivots.data(), options);
        else geqrf(crew, m, n, A.data(), A.ld(), tau.data(), options);
    }
    const std::string routine;
    const Index m, n;
    Columns<T> given, A;
    std::vector<T> tau;
    std::vector<Index> pivots;
};

template <Scalar T> std::unique_ptr<TimedPlans::Operands> operands_of(const choices::Call& call)
{
    if (call.routine == "gemm") return std::make_unique<Product<T>>(call);
    return std::make_unique<Factorization<T>>(call);
}

std::unique_ptr<TimedPlans::Operands> make_operands(const choices::Call& call)
try {
    const std::vector<std::string_view> known = choices::chosen_routines();
    if (std::ranges::find(known, call.routine) == known.end())
        throw Error(ErrorCode::bad_argument, 1, unknown_name("routine whose calls are chosen", call.routine, known));
    if (call.m < 1 || call.n < 1 || call.k < 0 || (call.routine == "gemm") != (call.k > 0) ||
        (call.routine == "potrf" && call.m != call.n))
        throw Error(ErrorCode::bad_argument, 1,
                    "extents of a " + std::string(call.routine) + " cannot be " + std::to_string(call.m) + ", " +
                        std::to_string(call.n) + " and " + std::to_string(call.k));
    constexpr std::unique_ptr<TimedPlans::Operands> (*make[])(const choices::Call&) = {
        operands_of<float>, operands_of<double>, operands_of<std::complex<float>>, operands_of<std::complex<double>>};
    return make[call.precision](call);
} catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "no memory for the operands to be timed");
}

} // namespace

TimedPlans::TimedPlans(Crew& crew, const choices::Call& call) : crew_(crew), operands_(make_operands(call)) {}
TimedPlans::~TimedPlans() = default;

Seconds TimedPlans::time(const choices::Plan& plan, const std::function<bool()>& interrupted)
{
    using Clock = std::chrono::steady_clock;
    PlannedCrew crew(crew_, plan);
    operands_->restore();
    const Clock::time_point begin = Clock::now();
    operands_->compute(crew, {.nb = 0, .interrupted = interrupted, .variant = {}});
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

} // namespace trencadis
