// The same call gives the same bits, whoever has time to help: each call is made once, and then many times back to back (the
// workers are awake),
// with pauses (they sleep), beside busy threads on every core (they are taken away), and from several threads at once.
//
//   same_bits [calls=6] [sizes=64,150,300] [precisions=sdcz] [only=gemm] [shapes=square|all] [threads=3]
//
// without words the short form that `make test` runs; scripts/same_bits.sh runs all of it. It knows libraries by their Fortran
// symbols alone, so that
// LD_PRELOAD shows what others do.
#include "routines.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace bits {
namespace {

struct Wishes {
    int calls = 6, threads = 3;
    std::vector<int> sizes{7, 64, 150, 301, 440, 540};
    std::string precisions = "sdcz", only;
    bool all_shapes = false;
};

std::vector<int> numbers(const std::string& text)
{
    std::vector<int> found;
    for (std::size_t at = 0; at < text.size();
         at = text.find(',', at) == std::string::npos ? text.size() : text.find(',', at) + 1)
        found.push_back(std::max(1, std::atoi(text.c_str() + at)));
    return found;
}

Wishes read(int count, char** words)
{
    Wishes wishes;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i], name = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
        if (name == "calls") wishes.calls = numbers(value).at(0);
        else if (name == "sizes") wishes.sizes = numbers(value);
        else if (name == "precisions") wishes.precisions = value;
        else if (name == "only") wishes.only = value;
        else if (name == "shapes") wishes.all_shapes = value == "all";
        else if (name == "threads") wishes.threads = numbers(value).at(0);
        else {
            std::fprintf(stderr, "%s: calls=, sizes=, precisions=, only=, shapes= or threads= would be right\n", words[i]);
            std::exit(2);
        }
    }
    std::sort(wishes.sizes.begin(), wishes.sizes.end()); // the small ones first: before there are workers
    return wishes;
}

std::vector<Shape> shapes_of(const Wishes& wishes)
{
    std::vector<Shape> shapes;
    for (const int n : wishes.sizes) {
        const int few = n / 5 + 1;
        shapes.push_back({n, n, n});
        if (wishes.all_shapes) shapes.insert(shapes.end(), {{n, few, n}, {few, n, n}, {n, n, few}, {n, few, few}});
    }
    return shapes;
}

/// Threads that compute on every core, beside the callers and the workers there.
class Neighbours {
public:
    Neighbours()
    {
        for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu)
            threads_.emplace_back([this, cpu] {
                cpu_set_t own;
                CPU_ZERO(&own);
                CPU_SET(cpu, &own);
                pthread_setaffinity_np(pthread_self(), sizeof own, &own);
                while (!over_.load(std::memory_order_relaxed)) {}
            });
    }
    ~Neighbours()
    {
        over_ = true;
        for (std::thread& thread : threads_) thread.join();
    }

private:
    std::atomic<bool> over_{false};
    std::vector<std::thread> threads_;
};

/// What each call gave first, and how often another one gave something else.
class Ledger {
public:
    void enter(const std::string& call, std::uint64_t hash, const char* when)
    {
        const std::lock_guard lock(mutex_);
        const auto [place, first] = hashes_.try_emplace(call, hash);
        calls_ += 1;
        if (first || place->second == hash) return;
        if (++wrong_[call + ", " + when] == 1) std::printf("%s: other bits, %s\n", call.c_str(), when), std::fflush(stdout);
    }
    int report() const
    {
        for (const auto& [call, times] : wrong_) std::printf("%s: %d calls\n", call.c_str(), times);
        std::printf("%zu different calls, %ld in all, %zu with other bits\n", hashes_.size(), calls_, wrong_.size());
        return wrong_.empty() ? 0 : 1;
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::uint64_t> hashes_;
    std::map<std::string, int> wrong_;
    long calls_ = 0;
};

/// All cases of one precision and shape, `calls` times each; `first`: which case begins.
template <class T>
void run_shape(Ledger& ledger, const Wishes& wishes, Shape s, int calls, int pause_ms, const char* when, std::size_t first)
{
    Operands<T> operands(s);
    const std::vector<Case<T>> all = cases<T>();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Case<T>& one = all[(i + first) % all.size()];
        if (one.name.find(wishes.only) == std::string::npos) continue;
        const std::string name =
            letter<T> + one.name + " " + std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k);
        for (int c = 0; c < calls; ++c) {
            operands.restore();
            if (pause_ms) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
            one.run(operands);
            ledger.enter(name, operands.hash(), when);
        }
    }
}

void run(Ledger& ledger, const Wishes& wishes, int calls, int pause_ms, const char* when, std::size_t first = 0)
{
    for (const Shape s : shapes_of(wishes))
        for (const char precision : wishes.precisions) {
            if (precision == 's') run_shape<float>(ledger, wishes, s, calls, pause_ms, when, first);
            if (precision == 'd') run_shape<double>(ledger, wishes, s, calls, pause_ms, when, first);
            if (precision == 'c') run_shape<std::complex<float>>(ledger, wishes, s, calls, pause_ms, when, first);
            if (precision == 'z') run_shape<std::complex<double>>(ledger, wishes, s, calls, pause_ms, when, first);
        }
}

void run_everything(Ledger& ledger, const Wishes& wishes)
{
    constexpr int sleeping_ms = 6; // a worker looks for work for 4 ms
    run(ledger, wishes, 1, 0, "the first time");
    run(ledger, wishes, wishes.calls, 0, "back to back");
    run(ledger, wishes, (wishes.calls + 5) / 6, sleeping_ms, "after a pause");
    {
        const Neighbours busy;
        run(ledger, wishes, (wishes.calls + 2) / 3, 0, "beside neighbours");
    }
    std::vector<std::thread> callers;
    for (int t = 0; t < wishes.threads; ++t)
        callers.emplace_back(
            [&, t] { run(ledger, wishes, (wishes.calls + 2) / 3, 0, "from several threads", std::size_t(17 * t)); });
    for (std::thread& caller : callers) caller.join();
}

} // namespace
} // namespace bits

int main(int count, char** words)
{
    bits::Ledger ledger;
    bits::run_everything(ledger, bits::read(count, words));
    return ledger.report();
}
