#pragma once
#include "base/scalar.hpp"
#include "matrix/ops.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

/// One call of every level 3 routine with every combination of its flags, on ordinary numbers; what a routine must not read is
/// full of signalling NaN, so that arithmetic on it raises an exception.
namespace trencadis::testing {

template <class R> R signalling()
{
    if constexpr (sizeof(R) == 4) return std::bit_cast<R>(std::uint32_t(0x7fa00000));
    else return std::bit_cast<R>(std::uint64_t(0x7ff4000000000000));
}
/// By memory: a number that is passed on in a register may become a quiet NaN there.
template <class R> void fill_signalling(R* to, std::size_t count)
{
    const R nan = signalling<R>();
    for (std::size_t i = 0; i < count; ++i) __builtin_memcpy(to + i, &nan, sizeof nan);
}

/// A column-major matrix, two rows of padding below; everything signalling NaN until it is set.
template <Scalar T> struct Poisoned {
    Index rows, ld;
    std::vector<T> data;

    Poisoned(Index rows, Index cols) : rows(rows), ld(rows + 2), data(std::size_t(ld * cols + 1))
    {
        fill_signalling(reinterpret_cast<Real<T>*>(data.data()), data.size() * sizeof(T) / sizeof(Real<T>));
    }
    T& operator()(Index i, Index j) { return data[std::size_t(i + j * ld)]; }
};

/// Calls a face (a class with the routines as members) with all flags. `before` comes before every call, `after` is told what it
/// was.
template <Scalar T, class Face> class EveryCall {
public:
    EveryCall(const Face& face, Index n, std::function<void()> before, std::function<void(const std::string&)> after)
        : face_(face), n_(n), random_(unsigned(n)), before_(std::move(before)), after_(std::move(after))
    {
    }
    void run()
    {
        products();
        symmetric_products();
        rank_updates();
        triangular();
        cholesky();
        lu();
    }

private:
    using R = Real<T>;
    static constexpr Uplo triangles[] = {Uplo::lower, Uplo::upper};
    static constexpr Side sides[] = {Side::left, Side::right};

    T number()
    {
        std::uniform_real_distribution<R> unit(R(0.25), R(1));
        if constexpr (is_complex<T>) return {unit(random_), -unit(random_)};
        else return random_() % 2 ? unit(random_) : -unit(random_);
    }
    Poisoned<T> general(Index rows, Index cols)
    {
        Poisoned<T> A(rows, cols);
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i) A(i, j) = number();
        return A;
    }
    /// One triangle, its diagonal large; that is left out where it counts as one.
    Poisoned<T> triangle(Uplo uplo, Index n, Diag diag = Diag::non_unit)
    {
        Poisoned<T> A(n, n);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i)
                if (i != j && (uplo == Uplo::lower ? i > j : i < j)) A(i, j) = number() / R(diag == Diag::unit ? n : 1);
                else if (i == j && diag == Diag::non_unit) A(i, i) = T(R(4 * n));
        return A;
    }
    template <class Call> void call(const std::string& what, const Call& routine)
    {
        before_();
        routine();
        after_(what + " n = " + std::to_string(n_));
    }
    static std::string letters(std::initializer_list<char> flags)
    {
        std::string text;
        for (const char flag : flags) text += {' ', flag};
        return text;
    }

    void products()
    {
        const Index m = n_, n = n_ / 2 + 1, k = n_ / 3 + 2;
        for (const Op a : {Op::none, Op::trans, Op::conj_trans})
            for (const Op b : {Op::none, Op::trans, Op::conj_trans})
                for (const R beta : {R(0), R(1), R(0.5)}) {
                    auto A = a == Op::none ? general(m, k) : general(k, m), B = b == Op::none ? general(k, n) : general(n, k);
                    auto C = beta == 0 ? Poisoned<T>(m, n) : general(m, n);
                    call("gemm" + letters({char(a), char(b)}), [&] {
                        face_.gemm(a, b, m, n, k, T(2), A.data.data(), A.ld, B.data.data(), B.ld, T(beta), C.data.data(), C.ld);
                    });
                }
    }
    void symmetric_products()
    {
        const Index m = n_, n = n_ / 2 + 1;
        for (const Side side : sides)
            for (const Uplo uplo : triangles) {
                auto A = triangle(uplo, side == Side::left ? m : n), B = general(m, n), C = general(m, n);
                call("symm" + letters({char(side), char(uplo)}), [&] {
                    face_.symm(side, uplo, m, n, number(), A.data.data(), A.ld, B.data.data(), B.ld, number(), C.data.data(),
                               C.ld);
                });
                call("hemm" + letters({char(side), char(uplo)}), [&] {
                    face_.hemm(side, uplo, m, n, number(), A.data.data(), A.ld, B.data.data(), B.ld, T(0), C.data.data(), C.ld);
                });
            }
    }
    void rank_updates()
    {
        const Index n = n_, k = n_ / 2 + 1;
        for (const Uplo uplo : triangles)
            for (const bool turned : {false, true}) {
                auto A = turned ? general(k, n) : general(n, k), B = turned ? general(k, n) : general(n, k);
                auto C = triangle(uplo, n);
                const Op s = turned ? Op::trans : Op::none, h = turned ? Op::conj_trans : Op::none;
                const std::string flags = letters({char(uplo), char(h)});
                const T *const a = A.data.data(), *const b = B.data.data();
                T* const c = C.data.data();
                call("syrk" + flags, [&] { face_.syrk(uplo, s, n, k, number(), a, A.ld, number(), c, C.ld); });
                call("syr2k" + flags, [&] { face_.syr2k(uplo, s, n, k, number(), a, A.ld, b, B.ld, number(), c, C.ld); });
                call("herk" + flags, [&] { face_.herk(uplo, h, n, k, R(0.5), a, A.ld, R(0.5), c, C.ld); });
                call("her2k" + flags, [&] { face_.her2k(uplo, h, n, k, number(), a, A.ld, b, B.ld, R(0.5), c, C.ld); });
            }
    }
    void triangular()
    {
        const Index m = n_, n = n_ / 2 + 1;
        for (const Side side : sides)
            for (const Uplo uplo : triangles)
                for (const Op op : {Op::none, Op::trans, Op::conj_trans})
                    for (const Diag diag : {Diag::non_unit, Diag::unit}) {
                        auto A = triangle(uplo, side == Side::left ? m : n, diag), B = general(m, n);
                        const std::string flags = letters({char(side), char(uplo), char(op), char(diag)});
                        const T* const a = A.data.data();
                        call("trmm" + flags,
                             [&] { face_.trmm(side, uplo, op, diag, m, n, number(), a, A.ld, B.data.data(), B.ld); });
                        call("trsm" + flags,
                             [&] { face_.trsm(side, uplo, op, diag, m, n, number(), a, A.ld, B.data.data(), B.ld); });
                    }
    }
    void cholesky()
    {
        const Index n = n_, nrhs = n_ / 3 + 1;
        for (const Uplo uplo : triangles) {
            auto A = triangle(uplo, n), B = general(n, nrhs);
            T *const a = A.data.data(), *const b = B.data.data();
            call("potrf" + letters({char(uplo)}), [&] { face_.potrf(uplo, n, a, A.ld); });
            call("potrs" + letters({char(uplo)}), [&] { face_.potrs(uplo, n, nrhs, a, A.ld, b, B.ld); });
            A = triangle(uplo, n);
            call("posv" + letters({char(uplo)}), [&] { face_.posv(uplo, n, nrhs, A.data.data(), A.ld, b, B.ld); });
        }
    }

    void lu()
    {
        const Index n = n_, nrhs = n_ / 3 + 1;
        std::vector<Index> pivots(std::size_t(n) + 1);
        for (const Index m : {n, 2 * n + 1, n / 2 + 1}) {
            auto A = general(m, n);
            call("getrf", [&] { face_.getrf(m, n, A.data.data(), A.ld, pivots.data()); });
        }
        for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
            auto A = general(n, n), B = general(n, nrhs);
            T *const a = A.data.data(), *const b = B.data.data();
            call("gesv", [&] { face_.gesv(n, nrhs, a, A.ld, pivots.data(), b, B.ld); });
            call("getrs" + letters({char(op)}), [&] { face_.getrs(op, n, nrhs, a, A.ld, pivots.data(), b, B.ld); });
        }
    }

    const Face& face_;
    const Index n_;
    std::mt19937_64 random_;
    std::function<void()> before_;
    std::function<void(const std::string&)> after_;
};

} // namespace trencadis::testing
