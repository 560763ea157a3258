// Batches of small matrices beside a loop over a peer's routine for one.
//
//   build/bin/blas_batches [--against LIBRARY]... [--n 4,8,32] [--precision s,d,c,z] [--count 10000] [--repeat 9]
//
// LIBRARY is the file of a LAPACK with 32-bit integers, its symbols plain or with `scipy_` before them; threads by its own
// variables. The contestants take turns, A B A B, each on a fresh copy of the matrices that is in memory, not in the caches.
// Prints one JSON object per line: the median time of all matrices, and for peers the median of the ratios of their time to ours
// in the same turn (above 1 we are faster).
#include "trencadis/trencadis.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

using Integer = std::int64_t;

struct Choice {
    std::vector<std::string> against;
    std::vector<Integer> orders{4, 8, 16, 32, 64, 128, 256};
    std::string precisions = "d";
    Integer count = 10000;
    int repeat = 9;
};

/// As many matrices as there are, fewer of large ones, so that they fit into the memory of a small machine.
Integer count_of(const Choice& choice, Integer n)
{
    return std::min<Integer>(choice.count, std::max<Integer>(1, (Integer(1) << 25) / (n * n)));
}

double seconds_of(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
}

template <class T> constexpr char letter = 'd';
template <> constexpr char letter<float> = 's';
template <> constexpr char letter<std::complex<float>> = 'c';
template <> constexpr char letter<std::complex<double>> = 'z';

/// The four calls of the C interface.
template <class T> struct Ours;
#define TRC_OURS(T, p)                                                                                                           \
    template <> struct Ours<T> {                                                                                                 \
        static constexpr auto getrf = trc_##p##getrf_batch;                                                                      \
        static constexpr auto gesv = trc_##p##gesv_batch;                                                                        \
        static constexpr auto potrf = trc_##p##potrf_batch;                                                                      \
        static constexpr auto posv = trc_##p##posv_batch;                                                                        \
    };
TRC_OURS(float, s)
TRC_OURS(double, d)
TRC_OURS(std::complex<float>, c)
TRC_OURS(std::complex<double>, z)
#undef TRC_OURS

/// A peer's routines, for one matrix each.
struct Peer {
    std::string file;
    void* library;

    template <class F> F* routine(char precision, const char* name) const
    {
        for (const char* const prefix : {"", "scipy_"})
            if (void* const found = dlsym(library, (std::string(prefix) + precision + name + "_").c_str()))
                return reinterpret_cast<F*>(found);
        std::fprintf(stderr, "there is no %c%s_ in %s\n", precision, name, file.c_str());
        std::exit(2);
    }
};

template <class T> struct Problems {
    Integer n, count;
    std::vector<T> general, positive, right, a, b;
    std::vector<Integer> pivots, info;
    std::vector<int> peer_pivots;

    Problems(Integer n, Integer count)
        : n(n), count(count), general(std::size_t(n * n * count)), right(std::size_t(n * count)), pivots(right.size()),
          info(std::size_t(count)), peer_pivots(right.size())
    {
        std::mt19937_64 engine(1);
        std::uniform_real_distribution<double> unit(-0.5, 0.5);
        for (T& x : general) x = T(decltype(std::real(T()))(unit(engine)));
        for (T& x : right) x = T(1);
        positive = general;
        for (Integer k = 0; k < count; ++k)
            for (Integer i = 0; i < n; ++i) positive[std::size_t(k * n * n + i * (n + 1))] = T(decltype(std::real(T()))(2 * n));
    }
    /// A contestant's work on a copy, and how it is called.
    using Work = std::function<void()>;
    void fresh(bool spd) { a = spd ? positive : general, b = right; }

    Work ours(const std::string& routine)
    {
        T *const A = a.data(), *const B = b.data();
        if (routine == "getrf")
            return [=, this] { Ours<T>::getrf(nullptr, n, n, A, n, n * n, pivots.data(), count, info.data()); };
        if (routine == "potrf") return [=, this] { Ours<T>::potrf(nullptr, 'L', n, A, n, n * n, count, info.data()); };
        if (routine == "gesv")
            return [=, this] { Ours<T>::gesv(nullptr, n, 1, A, n, n * n, pivots.data(), B, n, n, count, info.data()); };
        return [=, this] { Ours<T>::posv(nullptr, 'L', n, 1, A, n, n * n, B, n, n, count, info.data()); };
    }
    Work peers(const Peer& peer, const std::string& routine)
    {
        using Lu = void(const int*, const int*, T*, const int*, int*, int*);
        using Cholesky = void(const char*, const int*, T*, const int*, int*, std::size_t);
        using Gesv = void(const int*, const int*, T*, const int*, int*, T*, const int*, int*);
        using Posv = void(const char*, const int*, const int*, T*, const int*, T*, const int*, int*, std::size_t);
        const int order = int(n), one = 1;
        const auto each = [=, this](auto call) {
            return [=, this] {
                int failed = 0;
                for (Integer k = 0; k < count; ++k)
                    call(a.data() + k * n * n, b.data() + k * n, peer_pivots.data() + k * n, &failed);
            };
        };
        if (routine == "getrf")
            return each(
                [=, f = peer.routine<Lu>(letter<T>, "getrf")](T* A, T*, int* p, int* i) { f(&order, &order, A, &order, p, i); });
        if (routine == "potrf")
            return each(
                [=, f = peer.routine<Cholesky>(letter<T>, "potrf")](T* A, T*, int*, int* i) { f("L", &order, A, &order, i, 1); });
        if (routine == "gesv")
            return each([=, f = peer.routine<Gesv>(letter<T>, "gesv")](T* A, T* B, int* p, int* i) {
                f(&order, &one, A, &order, p, B, &order, i);
            });
        return each([=, f = peer.routine<Posv>(letter<T>, "posv")](T* A, T* B, int*, int* i) {
            f("L", &order, &one, A, &order, B, &order, i, 1);
        });
    }
};

template <class T> void measure(const Choice& choice, const std::vector<Peer>& peers, Integer n)
{
    Problems<T> problems(n, count_of(choice, n));
    for (const std::string routine : {"getrf", "potrf", "gesv", "posv"}) {
        const bool spd = routine[0] == 'p';
        const auto timed = [&](const auto& make) {
            problems.fresh(spd);
            const auto work = make();
            return seconds_of(work);
        };
        std::vector<double> ours;
        std::vector<std::vector<double>> theirs(peers.size()), ratios(peers.size());
        for (int turn = -1; turn < choice.repeat; ++turn) { // the first one only warms up
            const double own = timed([&] { return problems.ours(routine); });
            if (turn >= 0) ours.push_back(own);
            for (std::size_t p = 0; p < peers.size(); ++p) {
                const double time = timed([&] { return problems.peers(peers[p], routine); });
                if (turn < 0) continue;
                theirs[p].push_back(time);
                ratios[p].push_back(time / own);
            }
        }
        std::printf(
            "{\"routine\": \"%s\", \"precision\": \"%c\", \"n\": %ld, \"count\": %ld, \"repeat\": %d, \"seconds_median\": %.6f",
            routine.c_str(), letter<T>, long(n), long(problems.count), choice.repeat, median(ours));
        for (std::size_t p = 0; p < peers.size(); ++p)
            std::printf(", \"%s\": {\"seconds_median\": %.6f, \"ratio_median\": %.2f}", peers[p].file.c_str(), median(theirs[p]),
                        median(ratios[p]));
        std::printf("}\n");
        std::fflush(stdout);
    }
}

Choice read(int argc, char** argv)
{
    Choice choice;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i], value = argv[i + 1];
        if (name == "--against") choice.against.push_back(value);
        else if (name == "--precision") choice.precisions = value;
        else if (name == "--count") choice.count = std::atol(value.c_str());
        else if (name == "--repeat") choice.repeat = std::atoi(value.c_str());
        else if (name == "--n") {
            choice.orders.clear();
            for (const char* at = value.c_str(); *at; at += *at == ',') {
                char* end = nullptr;
                choice.orders.push_back(std::strtol(at, &end, 10));
                if (end == at) break;
                at = end;
            }
        } else argc = 0;
    }
    if (argc % 2 == 0 || choice.repeat < 1 || choice.count < 1 ||
        *std::min_element(choice.orders.begin(), choice.orders.end()) < 1) {
        std::fprintf(stderr,
                     "usage: blas_batches [--against LIBRARY]... [--n N,..] [--precision s,d,c,z] [--count C] [--repeat R]\n");
        std::exit(2);
    }
    return choice;
}

} // namespace

int main(int argc, char** argv)
{
    const Choice choice = read(argc, argv);
    std::vector<Peer> peers;
    for (const std::string& file : choice.against) {
        void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 2;
        peers.push_back({file, library});
    }
    for (const char precision : choice.precisions)
        for (const Integer n : choice.orders) switch (precision) {
            case 's': measure<float>(choice, peers, n); break;
            case 'd': measure<double>(choice, peers, n); break;
            case 'c': measure<std::complex<float>>(choice, peers, n); break;
            case 'z': measure<std::complex<double>>(choice, peers, n); break;
            default: break; // a comma
            }
}
