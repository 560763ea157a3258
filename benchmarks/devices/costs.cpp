// What marks, copies and kernels of a device cost, and whether copies go on while it computes.
//
//   build/bin/device_costs WORDS [--n 128,256,512] [--repeat 9]
//
// WORDS as `--devices` takes them (docs/devices.md). Matrices are n x n, in double precision. Prints one JSON object per line:
// the median and the least of `repeat` times in seconds.
//
//   mark     from enqueuing an empty mark to its completion
//   in, out  a copy and its mark, from and to memory that is page-locked or not
//   gemm, trsm, syrk  one call and its mark; `in_a_row`: ten calls and one mark, a tenth of it
//   overlap  as many gemms and as many copies in as take about as long, at once: the time over the longer of both alone
#include "base/error.hpp"
#include "devices/backend.hpp"
#include "kernels/providers/device_kernels.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace trencadis;
using devices::Device;
using devices::Queue;

struct Choice {
    std::string words;
    std::vector<Index> orders{128, 256, 512};
    int repeat = 9;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void require(const devices::Status& status)
{
    if (!status.ok()) throw Error(ErrorCode::environment, std::string(devices::word_of(status.fault)) + ": " + status.what);
}

class Costs {
public:
    Costs(Device& device, Index n, int repeat)
        : device_(device), kernels_(kernels_on(device.kernels(), load_kernels("native"))), n_(n), repeat_(repeat),
          bytes_(8 * std::size_t(n * n)), plain_(std::size_t(n * n), 1.0)
    {
        for (double*& block : blocks_) {
            devices::Block fresh = nullptr;
            require(device.allocate(bytes_, fresh));
            block = static_cast<double*>(fresh);
        }
        require(device.allocate_host(bytes_, locked_));
        std::fill_n(static_cast<double*>(locked_), n * n, 1.0);
        for (double* const block : blocks_) require(device.copy_in({plain_.data(), bytes_}, {block, bytes_}, {bytes_}));
        const std::vector<double> zeros(plain_.size(), 0.0); // a solve by it changes nothing
        require(device.copy_in({const_cast<double*>(zeros.data()), bytes_}, {blocks_[4], bytes_}, {bytes_}));
        end(Queue::in);
    }
    ~Costs()
    {
        for (double* const block : blocks_) (void)device_.release(block);
        (void)device_.release_host(locked_);
    }
    Costs(const Costs&) = delete;
    Costs& operator=(const Costs&) = delete;

    void run()
    {
        report("mark", "", 0, 1, [&] { end(Queue::in); });
        for (const bool locked : {false, true}) {
            void* const host = locked ? locked_ : plain_.data();
            report("in", locked ? "page-locked" : "pageable", 0, 1, [&] { copy_in(host), end(Queue::in); });
            report("out", locked ? "page-locked" : "pageable", 0, 1, [&] { copy_out(host), end(Queue::out); });
        }
        const double cube = double(n_) * double(n_) * double(n_);
        if (!kernels_->computes<double>()) return;
        kernel("gemm", 2 * cube, [&] { gemm(); });
        kernel("syrk", cube, [&] { on().syrk(Uplo::lower, Op::none, n_, n_, -1, blocks_[0], n_, 1, blocks_[3], n_); });
        kernel("trsm", cube,
               [&] { on().trsm(Side::right, Uplo::lower, Op::trans, Diag::unit, n_, n_, 1, blocks_[4], n_, blocks_[3], n_); });
        overlap();
    }

private:
    const DeviceRoutines<double>& on() const { return kernels_->routines<double>(); }
    void end(Queue queue) { require(device_.wait(device_.mark(queue))); }
    void copy_in(void* host) { require(device_.copy_in({host, bytes_}, {blocks_[3], bytes_}, {bytes_})); }
    void copy_out(void* host) { require(device_.copy_out({blocks_[3], bytes_}, {host, bytes_}, {bytes_})); }
    void gemm() { on().gemm(Op::none, Op::trans, n_, n_, n_, -1, blocks_[0], n_, blocks_[1], n_, 1, blocks_[2], n_); }

    std::vector<double> times(const std::function<void()>& body, double parts = 1) const
    {
        std::vector<double> seconds;
        body(); // compiled, warm
        for (int r = 0; r < repeat_; ++r) {
            const double begin = now();
            body();
            seconds.push_back((now() - begin) / parts);
        }
        std::ranges::sort(seconds);
        return seconds;
    }
    void report(const char* what, const char* how, double flops, double parts, const std::function<void()>& body) const
    {
        const std::vector<double> seconds = times(body, parts);
        const double median = seconds[seconds.size() / 2];
        std::printf("{\"device\": \"%s\", \"n\": %lld, \"what\": \"%s\", \"how\": \"%s\", \"median\": %.3g, \"least\": %.3g, "
                    "\"gflops\": %.4g}\n",
                    device_.name().c_str(), static_cast<long long>(n_), what, how, median, seconds.front(),
                    flops / median * 1e-9);
    }
    void kernel(const char* what, double flops, const std::function<void()>& body)
    {
        report(what, "one", flops, 1, [&] { body(), end(Queue::kernels); });
        report(what, "in_a_row", flops, 10, [&] {
            for (int i = 0; i < 10; ++i) body();
            end(Queue::kernels);
        });
    }
    void overlap()
    {
        const auto median = [&](const std::function<void()>& body) { return times(body)[std::size_t(repeat_ / 2)]; };
        const auto computing = [&](int count) {
            for (int i = 0; i < count; ++i) gemm();
        };
        const auto copying = [&](int count) {
            for (int i = 0; i < count; ++i) copy_in(locked_);
        };
        const double copy = median([&] { copying(1), end(Queue::in); }),
                     product = median([&] { computing(1), end(Queue::kernels); });
        const int products = std::max(10, int(copy / product * 10)), copies = std::max(10, int(product / copy * 10));
        const double c = median([&] { copying(copies), end(Queue::in); }),
                     k = median([&] { computing(products), end(Queue::kernels); });
        const double both = median([&] { computing(products), copying(copies), end(Queue::in), end(Queue::kernels); });
        std::printf(
            "{\"device\": \"%s\", \"n\": %lld, \"what\": \"overlap\", \"copies\": %.3g, \"kernels\": %.3g, \"both\": %.3g, "
            "\"of_the_longer\": %.3g}\n",
            device_.name().c_str(), static_cast<long long>(n_), c, k, both, both / std::max(c, k));
    }

    Device& device_;
    const std::unique_ptr<const DeviceKernels> kernels_;
    const Index n_;
    const int repeat_;
    const std::size_t bytes_;
    double* blocks_[5] = {}; ///< the fourth is copied to and solved in, the fifth a triangle
    void* locked_ = nullptr;
    std::vector<double> plain_;
};

/// False: it is none.
bool read_orders(const char* text, std::vector<Index>& orders)
{
    orders.clear();
    for (const char* const end = text + std::strlen(text); text < end; ++text) {
        Index order = 0;
        const auto [next, error] = std::from_chars(text, end, order);
        if (error != std::errc() || order < 1 || order > 32768 || (next != end && *next != ',')) return false;
        orders.push_back(order);
        text = next;
    }
    return !orders.empty();
}

bool read_arguments(int count, char** arguments, Choice& choice)
{
    if (count < 2 || count % 2 != 0) return false;
    choice.words = arguments[1];
    for (int i = 2; i < count; i += 2) {
        const std::string key = arguments[i];
        if (key == "--n" && read_orders(arguments[i + 1], choice.orders)) continue;
        if (key != "--repeat" || (choice.repeat = std::atoi(arguments[i + 1])) < 1) return false;
    }
    return true;
}

} // namespace

int main(int count, char** arguments)
{
    Choice choice;
    if (!read_arguments(count, arguments, choice))
        return std::fputs("usage: device_costs WORDS [--n 128,256,512] [--repeat 9]\n", stderr), 2;
    try {
        for (const auto& device : devices::open_devices(choice.words))
            for (const Index n : choice.orders) Costs(*device, n, choice.repeat).run();
    } catch (const std::exception& failure) {
        return std::fprintf(stderr, "device_costs: %s\n", failure.what()), 2;
    }
    return 0;
}
