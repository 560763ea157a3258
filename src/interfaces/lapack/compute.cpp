#include "interfaces/lapack/compute.hpp"

#include "algorithms/tile_size.hpp"
#include "base/environment.hpp"
#include "base/lasting.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace trencadis::face {
namespace {

Settings read_settings()
{
    Settings read;
    const char* const verbose = environment("TRENCADIS_VERBOSE");
    read.verbose = verbose && *verbose && std::strcmp(verbose, "0") != 0;
    const char* const tile = environment("TRENCADIS_TILE");
    if (!tile || !*tile) return read;
    char* end = nullptr;
    const long long size = std::strtoll(tile, &end, 10);
    if (*end || size < 1 || size > 1 << 20)
        std::fprintf(stderr, "trencadis: TRENCADIS_TILE is '%s', must be a tile size, 1 to 1048576; not used\n", tile);
    else read.tile = size;
    return read;
}

/// Says `what` the first time that it is asked to.
void say_once(std::atomic<bool>& said, const char* what, const char* reason)
{
    if (!said.exchange(true)) std::fprintf(stderr, "trencadis: %s: %s\n", what, reason);
}

void say_without_devices(const Error& reason)
{
    static std::atomic<bool> said{false};
    say_once(said, "no devices, cores compute without", reason.what());
}

constexpr const char* no_workers = "no workers, the calling thread computes alone";

/// "512x512x512": rows, columns, depth, and right-hand sides where they are several.
std::string shape_of(const Extents& size)
{
    std::string shape;
    for (const double extent : {size.m, size.n, size.k, size.nrhs == 1 ? 0 : size.nrhs})
        if (extent > 0) shape.append(shape.empty() ? "" : "x").append(std::to_string(Index(extent)));
    return shape.empty() ? "0" : shape;
}

} // namespace

const Settings& settings()
{
    static constinit Lasting<const Settings> read;
    return read.get([] { return new Settings(read_settings()); });
}

bool wants_session(Flops flops)
{
    constexpr Flops over_at_once = 5e5;
    if (flops <= over_at_once) return false;
    return Session::has_standard() || Session::is_worth_standard(flops);
}

Session* session_or_null()
{
    static std::atomic<bool> impossible{false};
    if (impossible.load(std::memory_order_relaxed)) return nullptr;
    try {
        try {
            return &Session::standard();
        } catch (const Error& failure) {
            const char* const devices = environment("TRENCADIS_DEVICES");
            if (!devices || !*devices) throw;
            Session& session = Session::standard_without_devices(); // what else may be wrong is said by it
            say_without_devices(failure);
            return &session;
        }
    } catch (const std::exception& failure) {
        say_once(impossible, no_workers, failure.what());
        return nullptr;
    }
}

Session* session_without_devices(const Error& reason)
{
    static std::atomic<bool> impossible{false};
    if (impossible.load(std::memory_order_relaxed)) return nullptr;
    try {
        Session& session = Session::standard_without_devices();
        say_without_devices(reason);
        return &session;
    } catch (const std::exception& failure) {
        say_once(impossible, no_workers, failure.what());
        return nullptr;
    }
}

const KernelProvider& direct_kernels()
{
    static constinit Lasting<const KernelProvider> chosen;
    return chosen.get([] {
        try {
            return &Session::standard_kernels();
        } catch (const Error& failure) {
            return &own_kernels_because(failure);
        }
    });
}

const KernelProvider& own_kernels_because(const Error& reason)
{
    static std::atomic<bool> said{false};
    say_once(said, "kernels 'native' instead of those chosen", reason.what());
    return load_kernels("native");
}

void say_half_done(const char* routine, bool is_told, const char* reason)
{
    if (is_told)
        std::fprintf(stderr, "trencadis: %s is half done, INFO = %d, and its result NaN: %s\n", routine, int(half_done), reason);
    else std::fprintf(stderr, "trencadis: %s is half done, and its result NaN: %s\n", routine, reason);
}

bool chosen_kernels_take(Index largest)
{
    return largest <= std::numeric_limits<std::int32_t>::max() || direct_kernels().name() == "native";
}

bool computes_quietly() { return !settings().verbose && !settings().cuts_everything() && direct_kernels().name() == "native"; }

thread_local constinit int TellsOfNoMemory::depth_ = 0;

bool is_no_memory(const std::exception& failure)
{
    if (dynamic_cast<const std::bad_alloc*>(&failure)) return true;
    const auto* const error = dynamic_cast<const Error*>(&failure);
    return error && error->code() == ErrorCode::out_of_memory;
}

void give_up(const std::string& routine, const char* reason) noexcept
{
    std::fprintf(stderr, "trencadis: %s cannot be computed: %s\n", routine.c_str(), reason);
    std::abort();
}

void fail(const char* routine, const std::exception& failure)
{
    if (TellsOfNoMemory::any() && is_no_memory(failure)) throw NoMemoryForWork();
    give_up(routine, failure.what());
}

void Narrator::begin(const Extents& size)
{
    size_ = size;
    begin_ = std::chrono::steady_clock::now();
}

Narrator::~Narrator()
{
    if (!settings().verbose) return;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    std::fprintf(stderr, "trencadis: %s %s %s %.6f s\n", routine_, shape_of(size_).c_str(), tasks_ ? "on tasks" : "directly",
                 taken.count());
}

} // namespace trencadis::face
