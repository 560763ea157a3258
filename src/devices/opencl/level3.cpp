#include "devices/opencl/level3.hpp"

#include "base/environment.hpp"
#include "devices/opencl/kernels.hpp"

#include <clblast.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <type_traits>

namespace trencadis::devices::opencl {
namespace {

constexpr Index solve_order = 32; ///< of the blocks on the diagonal

/// CLBlast 1.5.3 has a race in its cache of programs.
std::mutex& of_clblast()
{
    static std::mutex mutex;
    return mutex;
}

template <class T> constexpr bool is_complex = !std::is_floating_point_v<T>;
template <class T> struct RealOf {
    using type = T;
};
template <class T> struct RealOf<std::complex<T>> {
    using type = T;
};
template <class T> using Real = typename RealOf<T>::type;

template <class T> T as(std::complex<double> x)
{
    if constexpr (is_complex<T>) return T(Real<T>(x.real()), Real<T>(x.imag()));
    else return T(x.real());
}

/// Real matrices have no conjugates, and CLBlast is not asked what it makes of them.
template <class T> clblast::Transpose transpose(char op)
{
    if (op == 'N') return clblast::Transpose::kNo;
    return op == 'C' && is_complex<T> ? clblast::Transpose::kConjugate : clblast::Transpose::kYes;
}
clblast::Triangle triangle(char uplo) { return uplo == 'L' ? clblast::Triangle::kLower : clblast::Triangle::kUpper; }

constexpr auto by_columns = clblast::Layout::kColMajor;
constexpr const char* routine_words[] = {"gemm", "syrk", "herk", "trsm"};

std::string words_of(const Level3Call& call)
{
    const char* const routine = routine_words[static_cast<std::size_t>(call.routine)];
    return fmt::format("{}{} of {} x {} (x {})", call.precision, routine,
                       call.routine == Level3Call::Routine::gemm ? call.m : call.n, call.n, call.k);
}

} // namespace

bool has_double(cl_device_id device)
{
    cl_device_fp_config config = 0;
    return clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, nullptr) == CL_SUCCESS && config != 0;
}

Level3::Level3(cl_context context, cl_device_id device, std::string name)
    : context_(context), device_(device), name_(std::move(name)), has_double_(opencl::has_double(device))
{
}

/// What is compiled takes seconds at its first use on a machine; who asks what happens is told.
void Level3::announce(const Level3Call& call)
{
    if (!used_.emplace(call.routine, call.precision).second) return;
    const char* const verbose = environment("TRENCADIS_VERBOSE");
    if (!verbose || !*verbose || std::strcmp(verbose, "0") == 0) return;
    std::fprintf(stderr, "trencadis: %s makes %c%s ready, which takes seconds where its driver has not kept it from before\n",
                 name_.c_str(), call.precision, routine_words[static_cast<std::size_t>(call.routine)]);
}

Status Level3::own(char precision, Own*& kernels)
{
    kernels = &own_[precision];
    if (kernels->scale) return {};
    const bool twice = precision == 'd' || precision == 'z', complex = precision == 'c' || precision == 'z';
    const std::string options = fmt::format("-DREAL={0} -DREAL2={0}2 -DORDER={1}{2}{3}", twice ? "double" : "float", solve_order,
                                            twice ? " -DDOUBLE" : "", complex ? " -DCOMPLEX" : "");
    cl_int code = CL_SUCCESS;
    const char* source = kernel_source;
    kernels->program = Program(clCreateProgramWithSource(context_, 1, &source, nullptr, &code));
    if (code == CL_SUCCESS) code = clBuildProgram(kernels->program.get(), 1, &device_, options.c_str(), nullptr, nullptr);
    if (code == CL_SUCCESS) kernels->solve = Kernel(clCreateKernel(kernels->program.get(), "solve", &code));
    if (code == CL_SUCCESS) kernels->scale = Kernel(clCreateKernel(kernels->program.get(), "scale", &code));
    return status_of(code, Fault::kernel, "the compilation of its kernels");
}

/// One call in its precision.
template <class T> struct Level3::Work {
    cl_command_queue queue;
    const std::function<void(cl_event)>& told;
    Own& kernels;
    const Level3Call& call;

    /// Matrices lie at a place counted in elements.
    struct Place {
        cl_mem memory = nullptr;
        Index offset = 0, ld = 1;
        Place at(Index i, Index j) const { return {memory, offset + i + j * ld, ld}; }
    };
    static Place place(const Spot& spot, Index ld)
    {
        return {reinterpret_cast<cl_mem>(spot.memory), Index(spot.offset / sizeof(T)), ld}; // NOLINT(performance-no-int-to-ptr)
    }

    int done(int code, cl_event event) const
    {
        if (event) told(event);
        return code;
    }

    int scale(const Place& C, Index m, Index n, T beta, int part, bool hermitian) const
    {
        const std::size_t group[] = {16, 4};
        const std::size_t all[] = {(std::size_t(m) + 15) / 16 * 16, (std::size_t(n) + 3) / 4 * 4};
        return launch(kernels.scale.get(), 2, all, group, int(m), int(n), beta, part, int(hermitian), C.memory, cl_long(C.offset),
                      cl_long(C.ld));
    }
    template <class... Args>
    int launch(cl_kernel kernel, cl_uint dimensions, const std::size_t* all, const std::size_t* group, const Args&... args) const
    {
        cl_uint number = 0;
        int code = CL_SUCCESS;
        const auto set = [&](const auto& value) {
            const int its = clSetKernelArg(kernel, number++, sizeof value, &value);
            if (code == CL_SUCCESS) code = its;
        };
        (set(args), ...);
        cl_event event = nullptr;
        if (code == CL_SUCCESS) code = clEnqueueNDRangeKernel(queue, kernel, dimensions, nullptr, all, group, 0, nullptr, &event);
        return done(code, event);
    }

    int product(char op_a, char op_b, Index m, Index n, Index k, T alpha, Place A, Place B, T beta, Place C) const
    {
        cl_command_queue its = queue;
        cl_event event = nullptr;
        const std::lock_guard lock(of_clblast());
        const auto code =
            clblast::Gemm<T>(by_columns, transpose<T>(op_a), transpose<T>(op_b), std::size_t(m), std::size_t(n), std::size_t(k),
                             alpha, A.memory, std::size_t(A.offset), std::size_t(A.ld), B.memory, std::size_t(B.offset),
                             std::size_t(B.ld), beta, C.memory, std::size_t(C.offset), std::size_t(C.ld), &its, &event);
        return done(static_cast<int>(code), event);
    }

    int gemm(const Spots& at) const
    {
        const T alpha = as<T>(call.alpha), beta = as<T>(call.beta);
        const Place C = place(at.C, call.ldc);
        if (call.m == 0 || call.n == 0) return CL_SUCCESS;
        if (call.k == 0 || alpha == T(0)) return scale(C, call.m, call.n, beta, 0, false);
        return product(call.op_a, call.op_b, call.m, call.n, call.k, alpha, place(at.A, call.lda), place(at.B, call.ldb), beta,
                       C);
    }

    int rank_k(const Spots& at) const
    {
        const bool hermitian = call.routine == Level3Call::Routine::herk;
        const Place A = place(at.A, call.lda), C = place(at.C, call.ldc);
        if (call.n == 0) return CL_SUCCESS;
        if (call.k == 0 || call.alpha == 0.0)
            return scale(C, call.n, call.n, as<T>(call.beta), call.uplo == 'L' ? 1 : 2, hermitian);
        const std::size_t n(call.n), k(call.k), a(A.offset), lda(A.ld), c(C.offset), ldc(C.ld);
        cl_command_queue its = queue;
        cl_event event = nullptr;
        const std::lock_guard lock(of_clblast());
        clblast::StatusCode code{};
        if constexpr (is_complex<T>)
            if (hermitian) {
                const auto alpha = Real<T>(call.alpha.real()), beta = Real<T>(call.beta.real());
                code = clblast::Herk<Real<T>>(by_columns, triangle(call.uplo), transpose<T>(call.op_a), n, k, alpha, A.memory, a,
                                              lda, beta, C.memory, c, ldc, &its, &event);
                return done(static_cast<int>(code), event);
            }
        code = clblast::Syrk<T>(by_columns, triangle(call.uplo), transpose<T>(call.op_a), n, k, as<T>(call.alpha), A.memory, a,
                                lda, as<T>(call.beta), C.memory, c, ldc, &its, &event);
        return done(static_cast<int>(code), event);
    }

    // trsm: the triangle as the unknowns see it, M x = b, is lower where `forward`. Its first half, then what it takes from the
    // second, then that one.
    bool left() const { return call.side == 'L'; }
    bool forward() const { return (call.uplo == 'L') == ((call.op_a == 'N') == left()); }

    int diagonal(const Place& A, const Place& B, Index order, Index lanes, T alpha) const
    {
        const bool as_stored = (call.op_a == 'N') == left();
        const cl_long down = as_stored ? 1 : A.ld, right = as_stored ? A.ld : 1;
        constexpr std::size_t group = 32;
        const std::size_t all = (std::size_t(lanes) + group - 1) / group * group;
        const cl_long step = left() ? 1 : B.ld, lane = left() ? B.ld : 1;
        return launch(kernels.solve.get(), 1, &all, &group, int(order), int(lanes), alpha, A.memory, cl_long(A.offset), down,
                      right, int(call.op_a == 'C'), int(call.diag == 'U'), int(forward()), B.memory, cl_long(B.offset), step,
                      lane);
    }

    int solve(const Place& A, const Place& B, Index order, Index lanes, T alpha) const
    {
        if (order <= solve_order) return diagonal(A, B, order, lanes, alpha);
        const Index blocks = (order + solve_order - 1) / solve_order, cut = blocks / 2 * solve_order;
        struct Half {
            Index begin, order;
        } first{0, cut}, second{cut, order - cut};
        if (!forward()) std::swap(first, second);
        const auto of = [&](const Half& half) { return left() ? B.at(half.begin, 0) : B.at(0, half.begin); };
        // The block of op(A) between them, as stored.
        const bool below = call.uplo == 'L';
        const Place between = below ? A.at(cut, 0) : A.at(0, cut);
        int code = solve(A.at(first.begin, first.begin), of(first), first.order, lanes, alpha);
        if (code == CL_SUCCESS && left())
            code = product(call.op_a, 'N', second.order, lanes, first.order, T(-1), between, of(first), alpha, of(second));
        else if (code == CL_SUCCESS)
            code = product('N', call.op_a, lanes, second.order, first.order, T(-1), of(first), between, alpha, of(second));
        if (code != CL_SUCCESS) return code;
        return solve(A.at(second.begin, second.begin), of(second), second.order, lanes, T(1));
    }

    int trsm(const Spots& at) const
    {
        const Place B = place(at.C, call.ldc);
        const T alpha = as<T>(call.alpha);
        if (call.m == 0 || call.n == 0) return CL_SUCCESS;
        if (alpha == T(0)) return scale(B, call.m, call.n, alpha, 0, false);
        return solve(place(at.A, call.lda), B, left() ? call.m : call.n, left() ? call.n : call.m, alpha);
    }

    int run(const Spots& at) const
    {
        switch (call.routine) {
        case Level3Call::Routine::gemm: return gemm(at);
        case Level3Call::Routine::trsm: return trsm(at);
        case Level3Call::Routine::syrk:
        case Level3Call::Routine::herk:
        case Level3Call::Routine::potrf:
        case Level3Call::Routine::getrf:
        case Level3Call::Routine::laswp: break; // CLBlast has none of the last three, and nobody asks for them
        }
        return rank_k(at);
    }
};

Status Level3::enqueue(cl_command_queue queue, const Level3Call& call, const Spots& at, const std::function<void(cl_event)>& told)
{
    announce(call);
    Own* kernels = nullptr;
    if (Status status = own(call.precision, kernels); !status.ok()) return status;
    int code = CL_SUCCESS;
    switch (call.precision) {
    case 's': code = Work<float>{queue, told, *kernels, call}.run(at); break;
    case 'd': code = Work<double>{queue, told, *kernels, call}.run(at); break;
    case 'c': code = Work<std::complex<float>>{queue, told, *kernels, call}.run(at); break;
    default: code = Work<std::complex<double>>{queue, told, *kernels, call}.run(at);
    }
    return status_of(code, Fault::kernel, words_of(call));
}

} // namespace trencadis::devices::opencl
