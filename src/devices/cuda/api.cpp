#include "devices/cuda/api.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "devices/driven/as_guest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <dlfcn.h>
#include <iterator>
#include <link.h>
#include <span>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace trencadis::devices::cuda {
namespace {

constexpr const char* driver_names[] = {"libcuda.so.1"};
constexpr const char* solver_names[] = {"libcusolver.so.12", "libcusolver.so.11"};
constexpr const char* blas_names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};

[[noreturn]] void missing(const std::string& why) { throw Error(ErrorCode::missing_backend, why); }

/// Those that the environment names, then where the system looks, then where NVIDIA's own packages put libraries.
std::vector<std::string> folders()
{
    std::vector<std::string> all;
    const char* const own = environment("TRENCADIS_CUDA");
    std::istringstream named(own ? own : "");
    for (std::string folder; std::getline(named, folder, ':');)
        if (!folder.empty()) all.push_back(folder + '/');
    all.insert(all.end(), {"", "/usr/local/cuda/lib64/"});
    return all;
}

/// The first one that there is. Null: `why` none is; one that is there and cannot be opened is not passed over.
void* try_to_open(std::span<const char* const> names, std::string& why)
{
    for (const std::string& folder : folders())
        for (const char* const name : names) {
            const std::string path = folder + name;
            if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
            const char* const said = dlerror();
            const bool is_there = !folder.empty() && access(path.c_str(), F_OK) == 0;
            if (why.empty() || is_there) why = said;
            if (is_there) return nullptr;
        }
    return nullptr;
}

void* open(std::span<const char* const> names, const char* comes_with)
{
    std::string why;
    if (void* const library = try_to_open(names, why)) return library;
    missing(fmt::format("{}; it comes with {}", why, comes_with));
}

template <class Function> void find(void* library, const char* symbol, Function& function)
{
    function = reinterpret_cast<Function>(dlsym(library, symbol));
    if (function) return;
    link_map* its = nullptr;
    const bool has_name = dlinfo(library, RTLD_DI_LINKMAP, &its) == 0;
    missing(fmt::format("{} has no {}, it is too old", has_name ? its->l_name : "the library", symbol));
}

void find_routines(void* library, char precision, BlasRoutines& routines)
{
    const auto of = [&](const char* name, auto& function) {
        find(library, fmt::format("cublas{}{}_v2", precision, name).c_str(), function);
    };
    of("gemm", routines.gemm);
    of("syrk", routines.syrk);
    of("trsm", routines.trsm);
    if (precision == 'C' || precision == 'Z') of("herk", routines.herk);
}

/// Without it, or with one that is too old, cores factor.
void find_solver(Api& api)
{
    std::string why;
    void* const solver = try_to_open(solver_names, why);
    if (!solver) return;
    try {
#define TRC_FIND(symbol, ...) find(solver, #symbol, api.symbol);
        TRC_CUSOLVER(TRC_FIND)
#undef TRC_FIND
        const auto find_all = [&](const char* name, auto routine) {
            const std::pair<char, SolverRoutines*> all[] = {
                {'S', &api.solver_s}, {'D', &api.solver_d}, {'C', &api.solver_c}, {'Z', &api.solver_z}};
            for (const auto& [precision, routines] : all)
                find(solver, fmt::format("cusolverDn{}{}", precision, name).c_str(), routines->*routine);
        };
        find_all("potrf_bufferSize", &SolverRoutines::potrf_room);
        find_all("potrf", &SolverRoutines::potrf);
        api.has_solver = true;
        find_all("getrf_bufferSize", &SolverRoutines::getrf_room);
        find_all("getrf", &SolverRoutines::getrf);
        find_all("laswp", &SolverRoutines::laswp);
        api.has_lu = true;
    } catch (const Error&) { // it has no such routines, or none behind those that were found
    }
}

Api load()
{
    const AsGuest guest;
    Api api;
    void* const driver = open(driver_names, "NVIDIA's driver");
#define TRC_FIND(symbol, ...) find(driver, #symbol, api.symbol);
    TRC_CUDA_DRIVER(TRC_FIND)
#undef TRC_FIND
    void* const blas =
        open(blas_names, "NVIDIA's CUDA toolkit, and as a wheel, nvidia-cublas-cu12; TRENCADIS_CUDA names the folders "
                         "that it, cuSOLVER and the driver lie in where the system does not find them, with a ':' between two");
#define TRC_FIND(symbol, ...) find(blas, #symbol, api.symbol);
    TRC_CUBLAS(TRC_FIND)
#undef TRC_FIND
    find_routines(blas, 'S', api.s);
    find_routines(blas, 'D', api.d);
    find_routines(blas, 'C', api.c);
    find_routines(blas, 'Z', api.z);
    find_solver(api);
    return api;
}

struct Code {
    int number;
    const char* name;
    bool loss = false;
};
constexpr Code codes[] = {
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, "CUDA_ERROR_DEINITIALIZED", true},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", true},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", true},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", true},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", true},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", true},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", true},
    {710, "CUDA_ERROR_ASSERT", true},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", true},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", true},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", true},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", true},
    {718, "CUDA_ERROR_INVALID_PC", true},
    {719, "CUDA_ERROR_LAUNCH_FAILED", true},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {999, "CUDA_ERROR_UNKNOWN", true},
};
constexpr Code blas_codes[] = {
    {1, "CUBLAS_STATUS_NOT_INITIALIZED"}, {3, "CUBLAS_STATUS_ALLOC_FAILED"},   {7, "CUBLAS_STATUS_INVALID_VALUE"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH"},   {11, "CUBLAS_STATUS_MAPPING_ERROR"}, {13, "CUBLAS_STATUS_EXECUTION_FAILED"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR"}, {15, "CUBLAS_STATUS_NOT_SUPPORTED"},
};

constexpr Code solver_codes[] = {
    {1, "CUSOLVER_STATUS_NOT_INITIALIZED"}, {2, "CUSOLVER_STATUS_ALLOC_FAILED"},     {3, "CUSOLVER_STATUS_INVALID_VALUE"},
    {4, "CUSOLVER_STATUS_ARCH_MISMATCH"},   {6, "CUSOLVER_STATUS_EXECUTION_FAILED"}, {7, "CUSOLVER_STATUS_INTERNAL_ERROR"},
};

const Code* find_code(std::span<const Code> known, int number)
{
    const auto found = std::ranges::find(known, number, &Code::number);
    return found == known.end() ? nullptr : &*found;
}

} // namespace

const Api& load_api()
{
    static const Api api = load(); // again after a failure
    return api;
}

std::string name_of(Result code)
{
    const Code* const found = find_code(codes, code);
    return found ? found->name : fmt::format("CUDA's code {}", code);
}

std::string name_of_blas(BlasStatus code)
{
    const Code* const found = find_code(blas_codes, code);
    return found ? found->name : fmt::format("cuBLAS's code {}", code);
}

std::string name_of_solver(SolverStatus code)
{
    const Code* const found = find_code(solver_codes, code);
    return found ? found->name : fmt::format("cuSOLVER's code {}", code);
}

bool is_loss(Result code)
{
    const Code* const found = find_code(codes, code);
    return found && found->loss;
}

} // namespace trencadis::devices::cuda
