#include "session/device_survey.hpp"

#include "base/error.hpp"
#include "devices/backend.hpp"
#include "kernels/providers/device_kernels.hpp"
#include "session/survey_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

using devices::Device;
using devices::Queue;
using devices::Status;

constexpr std::size_t smallest_copy = 8;
constexpr Index smallest_product = 64;

void require(const Device& device, const Status& status)
{
    if (status.ok()) return;
    throw Error(ErrorCode::environment, fmt::format("device '{}': {} while it was measured: {}", device.name(),
                                                    devices::word_of(status.fault), status.what));
}

/// A block of a device's memory.
class Buffer {
public:
    Buffer(Device& device, std::size_t bytes) : device_(device) { require(device, device.allocate(bytes, block)); }
    ~Buffer() { (void)device_.release(block); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    devices::Block block = nullptr;

private:
    Device& device_;
};

/// Page-locked where it can be.
class Staging {
public:
    Staging(Device& device, std::size_t bytes) : device_(device)
    {
        if (device.allocate_host(bytes, locked_).ok()) return;
        locked_ = nullptr;
        plain_.resize(bytes);
    }
    ~Staging()
    {
        if (locked_) (void)device_.release_host(locked_);
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    void* at() { return locked_ ? locked_ : plain_.data(); }

private:
    Device& device_;
    void* locked_ = nullptr;
    std::vector<char> plain_;
};

/// What was enqueued has ended when this goes, also where what came behind it has failed: before the memory of its copies goes.
class Ending {
public:
    explicit Ending(Device& device) : device_(device) {}
    ~Ending()
    {
        for (const Queue queue : {Queue::in, Queue::kernels, Queue::out}) (void)device_.wait(device_.mark(queue));
    }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

private:
    Device& device_;
};

template <class Enqueue> Seconds seconds_of(Device& device, Queue queue, Enqueue&& enqueue)
{
    const auto begin = std::chrono::steady_clock::now();
    enqueue();
    require(device, device.wait(device.mark(queue)));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Of copies that are doubled until one takes long enough without the latency. Before, some that are as good as empty.
void measure_copies(Device& device, DeviceReport& report)
{
    const auto most = static_cast<std::size_t>(std::min(device.bytes() / 2, 64.0 * (1 << 20)));
    Buffer there(device, most);
    Staging here(device, most);
    const Ending ending(device);
    std::fill_n(static_cast<char*>(here.at()), most, 0);
    for (int times = 0; times < 12; ++times) { // of five each was held up on a loaded host, and 20 ms were kept as the latency
        const Seconds took = seconds_of(device, Queue::in, [&] {
            require(device, device.copy_in({here.at(), smallest_copy}, {there.block, smallest_copy}, {smallest_copy}));
        });
        report.latency = times == 0 ? took : std::min(report.latency, took);
    }
    for (const Queue queue : {Queue::in, Queue::out})
        report.bytes_per_second[queue == Queue::in ? 0 : 1] = rate_of_copies(most, report.latency, [&](std::size_t bytes) {
            return seconds_of(device, queue, [&] {
                const devices::HostPlace host{here.at(), bytes};
                const devices::DevicePlace place{there.block, bytes};
                require(device,
                        queue == Queue::in ? device.copy_in(host, place, {bytes}) : device.copy_out(place, host, {bytes}));
            });
        });
}

/// Matrices on the device: n x `columns` of ones, and n x n for results.
class Operands {
public:
    Operands(Device& device, const DeviceRoutines<double>& on, Index n, Index columns)
        : device_(device), on_(on), n_(n), ones_(device, bytes_of(n * columns)), result_(device, bytes_of(n * n)), ending_(device)
    {
        constexpr Index most = Index{1} << 19;
        const Index at_a_time = std::clamp<Index>(most / n, 1, columns);
        Staging staging(device, bytes_of(n * at_a_time));
        std::fill_n(static_cast<double*>(staging.at()), n * at_a_time, 1.0);
        for (Index j = 0; j < columns; j += at_a_time) {
            const std::size_t bytes = bytes_of(n * std::min(at_a_time, columns - j));
            require(device, device.copy_in({staging.at(), bytes}, {ones() + n * j, bytes}, {bytes}));
        }
        require(device, device.wait(device.mark(Queue::in)));
    }
    double* ones() const { return static_cast<double*>(ones_.block); }
    double* result() const { return static_cast<double*>(result_.block); }
    /// The result of ones.
    void fill() const
    {
        on_.gemm(Op::none, Op::trans, n_, n_, 1, 1, ones(), n_, ones(), n_, 0, result(), n_);
        require(device_, device_.wait(device_.mark(Queue::kernels)));
    }
    /// The result of ones, with a diagonal that dominates.
    void make_definite() const
    {
        fill();
        std::vector<double> diagonal(std::size_t(n_), 2 * double(n_));
        require(device_, device_.copy_in({diagonal.data(), bytes_of(1)}, {result_.block, bytes_of(n_ + 1)},
                                         {bytes_of(1), std::size_t(n_)}));
        require(device_, device_.wait(device_.mark(Queue::in)));
    }

private:
    static std::size_t bytes_of(Index elements) { return std::size_t(elements) * sizeof(double); }
    Device& device_;
    const DeviceRoutines<double>& on_;
    const Index n_;
    const Buffer ones_, result_;
    const Ending ending_;
};

/// Of the matrices that a device has room for while it is measured.
Index largest_order(const Device& device, Index asked)
{
    return std::min<Index>(asked, static_cast<Index>(std::sqrt(double(device.bytes()) / (3 * sizeof(double)))));
}

/// One kind of kernel on squares.
struct Measured {
    double flops_of_cube;
    Index largest;
    Seconds enough;
    bool reads_square; ///< else a column of ones is enough
};

/// From small to large ones, until one takes long enough: more than once, since the first one of a size may be compiled or
/// loaded, and short ones some times, the shortest of which counts.
template <class Prepare, class Compute>
std::vector<MeasuredProduct> rates_on(Device& device, const DeviceRoutines<double>& on, const Measured& kind,
                                      const Prepare& prepare, const Compute& compute)
{
    constexpr Seconds is_short = 5e-4;
    std::vector<MeasuredProduct> rates;
    const Index most = largest_order(device, kind.largest);
    for (Index n = std::min<Index>(most, smallest_product); n > 0; n = std::min(2 * n, most)) {
        const Operands operands(device, on, n, kind.reads_square ? n : 1);
        const Flops flops = kind.flops_of_cube * double(n) * double(n) * double(n);
        const auto times = [](Seconds shortest) { return shortest < is_short ? 4 : 3; };
        const Seconds took = time_of_kernel(flops, rates.empty() ? 0 : rates.back().rate, 1, times, [&] {
            prepare(operands);
            return seconds_of(device, Queue::kernels, [&] { compute(operands, n); });
        });
        rates.push_back({flops, flops / took});
        if (took >= kind.enough || n == most) break;
    }
    return rates;
}

/// A device without double precision is not measured.
void measure_kernels(Device& device, const DeviceKernels& kernels, const SurveyBounds& bounds, DeviceReport& report)
{
    if (!kernels.computes<double>()) return;
    const DeviceRoutines<double>& on = kernels.routines<double>();
    const auto nothing = [](const Operands&) {};
    const auto filled = [](const Operands& x) { x.fill(); };
    report.products = rates_on(device, on, {2, bounds.largest, bounds.enough, true}, nothing, [&](const Operands& x, Index n) {
        on.gemm(Op::none, Op::none, n, n, n, 1, x.ones(), n, x.ones(), n, 0, x.result(), n);
    });
    if (report.products.empty()) return;
    const MeasuredProduct& last = report.products.back();
    report.flops_per_second = last.rate;
    const double half = double(bounds.largest / 2);
    const bool quick = last.flops >= 2 * half * half * half; // so those of half the size did not take long
    const Seconds enough = quick ? 4 * bounds.enough : bounds.enough;
    const Index largest_factor = quick ? bounds.largest_factor : std::min(bounds.largest / 4, bounds.largest_factor);
    if (quick) {
        report.updates = rates_on(device, on, {1, bounds.largest, enough, true}, nothing, [&](const Operands& x, Index n) {
            on.syrk(Uplo::lower, Op::none, n, n, 1, x.ones(), n, 0, x.result(), n);
        });
        report.solves = rates_on(device, on, {1, bounds.largest, enough, true}, filled, [&](const Operands& x, Index n) {
            on.trsm(Side::right, Uplo::lower, Op::trans, Diag::unit, n, n, 1, x.ones(), n, x.result(), n);
        });
    }
    const auto definite = [](const Operands& x) { x.make_definite(); };
    if (on.factors())
        report.factors = rates_on(device, on, {1.0 / 3, largest_factor, enough, false}, definite,
                                  [&](const Operands& x, Index n) { on.potrf(Uplo::lower, n, x.result(), n, [](Index) {}); });
    if (!on.factors_lu()) return;
    const Index largest_panel = std::min(bounds.largest, largest_factor);
    const Buffer pivots(device, std::size_t(largest_order(device, largest_panel)) * sizeof(std::int32_t));
    const Ending ending(device);
    report.panels = rates_on(device, on, {2.0 / 3, largest_panel, enough, false}, definite, [&](const Operands& x, Index n) {
        on.getrf(n, n, x.result(), n, static_cast<std::int32_t*>(pivots.block), [](Index) {});
    });
}

DeviceReport report_of(const Device& device, const devices::Backend& backend)
{
    return {device.name(), backend.name, device.model(), device.bytes(), backend.emulates};
}

} // namespace

std::vector<DeviceReport> survey_devices(const std::string& words, const KernelProvider& kernels, const SurveyBounds& bounds)
{
    const devices::DeviceList list = devices::open_devices(words);
    const devices::Backend& backend = find_entry("devices", device_entries(), devices::read_device_words(words).backend);
    std::vector<DeviceReport> rows;
    for (const auto& device : list) {
        const auto alike = std::ranges::find(rows, device->model(), &DeviceReport::model);
        if (alike != rows.end()) {
            DeviceReport same = *alike;
            same.name = device->name();
            rows.push_back(std::move(same));
            continue;
        }
        rows.push_back(report_of(*device, backend));
        measure_copies(*device, rows.back());
        measure_kernels(*device, *kernels_on(device->kernels(), kernels), bounds, rows.back());
    }
    return rows;
}

namespace {

/// From small to large ones, until one takes long enough: compute(n) after prepare(n), the best of some, since a neighbour that
/// comes by would be kept for good.
template <class Prepare, class Compute>
std::vector<MeasuredProduct> rates_of(double flops_of_cube, const Prepare& prepare, const Compute& compute)
{
    constexpr Index largest = 512;
    std::vector<MeasuredProduct> rates;
    Seconds best = 0;
    for (Index n = smallest_product; n <= largest && best < long_enough; n *= 2) {
        const Flops flops = flops_of_cube * double(n) * double(n) * double(n);
        best = time_of_kernel(
            flops, rates.empty() ? 0 : rates.back().rate, 0, [](Seconds) { return 4; },
            [&] {
                prepare(n);
                const auto begin = std::chrono::steady_clock::now();
                compute(n);
                return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            });
        rates.push_back({flops, flops / best});
    }
    return rates;
}

} // namespace

MeasuredCore measure_core(const KernelProvider& kernels)
{
    std::vector<double> ones, C;
    const auto prepare = [&](Index n) {
        ones.assign(std::size_t(n * n), 1);
        C.assign(std::size_t(n * n), 0.5); // of a factor: below a diagonal that dominates
        for (Index i = 0; i < n; ++i) C[std::size_t(i * (n + 1))] = double(n);
    };
    return {rates_of(2, prepare,
                     [&](Index n) {
                         kernels.gemm(Op::none, Op::none, n, n, n, 1.0, ones.data(), n, ones.data(), n, 0.0, C.data(), n);
                     }),
            rates_of(1.0 / 3, prepare, [&](Index n) { kernels.potrf(Uplo::lower, n, C.data(), n); })};
}

std::vector<DeviceReport> devices_here()
{
    std::vector<DeviceReport> rows;
    for (const devices::Backend* const backend : device_entries()) {
        if (backend->emulates || !backend->why_not().empty()) continue;
        try {
            for (const auto& device : backend->open({backend->name, "all"})) rows.push_back(report_of(*device, *backend));
        } catch (const Error&) { // `trencadis machine --devices` says why
        }
    }
    return rows;
}

} // namespace trencadis
