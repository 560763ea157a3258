#pragma once
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <random>
#include <string>
#include <vector>

/// What same_bits.cpp calls: routines by the names of their Fortran symbols, each with operands for one size.
namespace bits {

template <class T> constexpr bool is_complex = false;
template <class R> constexpr bool is_complex<std::complex<R>> = true;
template <class T> constexpr char letter = 'd';
template <> inline constexpr char letter<float> = 's';
template <> inline constexpr char letter<std::complex<float>> = 'c';
template <> inline constexpr char letter<std::complex<double>> = 'z';

/// An argument as Fortran takes it.
inline const void* by_address(const int& value) { return &value; }
inline const void* by_address(const char& value) { return &value; }
template <class T> const void* by_address(T* const& array) { return array; }
template <class T> const void* by_address(const T& value) { return &value; }

inline void* symbol(const std::string& name)
{
    void* const found = dlsym(RTLD_DEFAULT, name.c_str());
    if (found) return found;
    std::fprintf(stderr, "there is no symbol %s\n", name.c_str());
    std::exit(2);
}
template <class> using Address = const void*;
template <class T, class... Arguments> void call(const char* routine, const Arguments&... arguments)
{
    const auto function = reinterpret_cast<void (*)(Address<Arguments>...)>(symbol(letter<T> + std::string(routine) + "_"));
    function(by_address(arguments)...);
}

/// An array at the same place in a cache line each time, and what it is before a call.
template <class T> class Array {
public:
    explicit Array(std::size_t count)
        : count_(count), data_(static_cast<T*>(std::aligned_alloc(4096, (count * sizeof(T) + 8191) / 4096 * 4096))), first_(count)
    {
    }
    ~Array() { std::free(data_); }
    Array(const Array&) = delete;
    T* data() { return data_; }
    std::vector<T>& first() { return first_; }
    void restore() { std::memcpy(data_, first_.data(), count_ * sizeof(T)); }
    /// FNV-1a by words of eight bytes.
    std::uint64_t hash(std::uint64_t so_far) const
    {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(data_);
        const std::size_t size = count_ * sizeof(T);
        for (std::size_t i = 0; i < size; i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
            so_far = (so_far ^ word) * 0x100000001b3u;
        }
        return so_far;
    }

private:
    std::size_t count_;
    T* data_;
    std::vector<T> first_;
};

struct Shape {
    int m, n, k;
};

/// Operands of a call: A is any matrix, P positive definite and well conditioned in each triangle, B and C take results.
template <class T> struct Operands {
    using R = decltype(std::real(T()));
    Shape s;
    int most, ld;
    Array<T> A, P, B, C, tau, work;
    Array<int> pivots;
    int info = 0;

    explicit Operands(Shape shape)
        : s(shape), most(std::max({s.m, s.n, s.k})), ld(most + 3), A(area()), P(area()), B(area()), C(area()),
          tau(std::size_t(most)), work(std::size_t(most) * 66), pivots(std::size_t(most))
    {
        std::mt19937 random(std::uint32_t(s.m * 7919 + s.n * 104729 + s.k));
        std::uniform_real_distribution<R> unit(R(-1), R(1));
        const auto any = [&] {
            if constexpr (is_complex<T>) return T(unit(random), unit(random));
            else return unit(random);
        };
        for (Array<T>* array : {&A, &P, &B, &C})
            for (T& x : array->first()) x = any();
        for (int i = 0; i < most; ++i) {
            P.first()[std::size_t(i) * std::size_t(ld + 1)] = T(R(2 * most));
            pivots.first()[std::size_t(i)] = i + 1 + (i * 7) % (most - i);
        }
        for (int j = 0; j < most; ++j) // Hermitian
            for (int i = 0; i < j; ++i) {
                const T x = P.first()[at(i, j)];
                if constexpr (is_complex<T>) P.first()[at(j, i)] = std::conj(x);
                else P.first()[at(j, i)] = x;
            }
        restore();
    }
    std::size_t at(int i, int j) const { return std::size_t(i) + std::size_t(j) * std::size_t(ld); }
    std::size_t area() const { return std::size_t(ld) * std::size_t(most); }
    void restore()
    {
        for (Array<T>* array : {&A, &P, &B, &C, &tau}) array->restore();
        pivots.restore();
        info = 0;
    }
    std::uint64_t hash() const
    {
        std::uint64_t sum = 0xcbf29ce484222325u + std::uint64_t(info);
        for (const Array<T>* array : {&A, &P, &B, &C, &tau}) sum = array->hash(sum);
        return pivots.hash(sum);
    }
};

template <class T> struct Case {
    std::string name;
    std::function<void(Operands<T>&)> run;
};

/// Every routine with every flag, some factors.
template <class T> std::vector<Case<T>> cases();

} // namespace bits
