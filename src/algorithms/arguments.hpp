#pragma once
#include "algorithms/routines.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"
#include "matrix/region.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// What an argument of a routine must be. The signatures (algorithms/signatures.hpp) are lists of these, in BLAS's and LAPACK's
/// order, so that every face finds the same argument bad and calls it by the same number.
namespace trencadis {

/// A flag as a caller gives it: BLAS's letter in either case, which may be none of them.
template <class E> class Letter {
public:
    constexpr Letter(E value) : given_(char(value)), value_(value) {}
    constexpr Letter(char given) : given_(given), value_(meant(given >= 'a' ? char(given & ~0x20) : given))
    {
        valid_ = false;
        for (const char letter : letters()) valid_ = valid_ || letter == char(value_); // a call of memchr takes longer
        if (!valid_) value_ = E(letters().front());
    }
    constexpr operator E() const { return value_; }
    constexpr bool valid() const { return valid_; }
    constexpr char given() const { return given_; }
    static constexpr std::string_view letters();

private:
    static constexpr E meant(char capital) { return E(capital); } ///< some have several letters

    char given_;
    E value_;
    bool valid_ = true;
};
template <> constexpr std::string_view Letter<Op>::letters() { return "NTC"; }
template <> constexpr std::string_view Letter<Uplo>::letters() { return "LU"; }
template <> constexpr std::string_view Letter<Side>::letters() { return "LR"; }
template <> constexpr std::string_view Letter<Diag>::letters() { return "NU"; }
template <> constexpr std::string_view Letter<Direction>::letters() { return "FB"; }
template <> constexpr std::string_view Letter<Storage>::letters() { return "CR"; }
template <> constexpr std::string_view Letter<Fact>::letters() { return "NEF"; }
template <> constexpr std::string_view Letter<Norm>::letters() { return "M1IFOE"; }
template <> constexpr Norm Letter<Norm>::meant(char capital)
{
    return capital == 'O' ? Norm::one : capital == 'E' ? Norm::frobenius : Norm(capital);
}

namespace argument {

// Each knows how many arguments it stands for (`width`), whether it is in order by BLAS's rules (which number is not, 0: none),
// and throws Error{bad_argument} that says what was given and what would be right.

[[noreturn]] void refuse_letter(int number, const char* name, char given, std::string_view letters);
[[noreturn]] void refuse_null(int number, const char* name);
[[noreturn]] void refuse_size(int number, const char* name, Index value, const char* right);
[[noreturn]] void refuse_factor(int number, const char* name, Index place, double value);

template <class E> struct Flag {
    static constexpr int width = 1;
    const char* name;
    Letter<E> given;

    int bad(int number) const { return given.valid() ? 0 : number; }
    void require(int number) const
    {
        if (!given.valid()) refuse_letter(number, name, given.given(), Letter<E>::letters());
    }
};
/// Rank updates of complex matrices know one transposition each; for real ones both are the same.
struct RankOp {
    static constexpr int width = 1;
    const char* name;
    Letter<Op> given;
    Op transposed;
    bool complex;

    bool allowed() const { return given.valid() && (!complex || given == Op::none || given == transposed); }
    int bad(int number) const { return allowed() ? 0 : number; }
    void require(int number) const
    {
        const char letters[] = {'N', char(transposed)};
        if (!allowed())
            refuse_letter(number, name, given.given(), complex ? std::string_view(letters, 2) : Letter<Op>::letters());
    }
};
/// What reflectors are applied as knows one transposition for each kind of scalar. LAPACK takes its letter alone; in our own
/// faces 'C' is right for real matrices, too, as in BLAS.
struct HermOp {
    static constexpr int width = 1;
    const char* name;
    Letter<Op> given;
    bool complex;

    bool allowed() const { return given.valid() && !(complex && given == Op::trans); }
    int bad(int number) const { return allowed() && (complex || given != Op::conj_trans) ? 0 : number; }
    void require(int number) const
    {
        if (!allowed()) refuse_letter(number, name, given.given(), complex ? "NC" : Letter<Op>::letters());
    }
};
/// Condition numbers are in the 1-norm or the infinity norm.
struct ConditionNorm {
    static constexpr int width = 1;
    const char* name;
    Letter<Norm> given;

    bool allowed() const { return given.valid() && (given == Norm::one || given == Norm::inf); }
    int bad(int number) const { return allowed() ? 0 : number; }
    void require(int number) const
    {
        if (!allowed()) refuse_letter(number, name, given.given(), "1OI");
    }
};
struct Size {
    static constexpr int width = 1;
    const char* name;
    Index value;

    int bad(int number) const { return value < 0 ? number : 0; }
    void require(int number) const
    {
        if (value < 0) refuse_size(number, name, value, "at least 0");
    }
};
inline constexpr Index any_size = std::numeric_limits<Index>::max();
/// A size that others limit.
struct Within {
    static constexpr int width = 1;
    const char* name;
    Index value, least, most;

    int bad(int number) const { return value < least || value > most ? number : 0; }
    void require(int number) const;
};
/// alpha and beta may be anything; faces have them by address.
struct Factor {
    static constexpr int width = 1;
    const char* name;
    bool there;

    template <class T> static Factor of(const char* name, const T* const& at) { return {name, at != nullptr}; }
    template <class T> static Factor of(const char* name, const T&) { return {name, true}; }
    int bad(int) const { return 0; }
    void require(int number) const
    {
        if (!there) refuse_null(number, name);
    }
};
/// A number that is not negative; faces have it by address. NaN passes: what it means is the routine's business.
struct Magnitude {
    static constexpr int width = 1;
    const char* name;
    bool there;
    double value;

    template <class R> static Magnitude of(const char* name, const R* const& at)
    {
        return {name, at != nullptr, at ? double(*at) : 0};
    }
    template <class R> static Magnitude of(const char* name, const R& value) { return {name, true, double(value)}; }
    int bad(int number) const { return value < 0 ? number : 0; }
    void require(int number) const;
};
/// Real numbers that a routine answers with.
struct Reals {
    static constexpr int width = 1;
    const char* name;
    const void* data;
    Index count;

    int bad(int) const { return 0; }
    void require(int number) const
    {
        if (!data && count > 0) refuse_null(number, name);
    }
};
/// The scalars of elementary reflectors.
struct Reflectors {
    static constexpr int width = 1;
    const char* name;
    const void* data;
    Index count;

    int bad(int) const { return 0; }
    void require(int number) const
    {
        if (!data && count > 0) refuse_null(number, name);
    }
};
constexpr bool given(Letter<Fact> fact) { return fact == Fact::given; }
/// Is that letter, in either case, one of `letters`?
constexpr bool one_of(char letter, std::string_view letters)
{
    return letters.find(letter >= 'a' ? char(letter & ~0x20) : letter) != std::string_view::npos;
}
/// Are the factors of a scaling given, which `letters` stand for?
constexpr bool used(Letter<Fact> fact, const char* equed, std::string_view letters)
{
    return given(fact) && equed && one_of(*equed, letters);
}
/// How a matrix has been scaled: a letter that is read where the factors are given, and answered.
struct Equed {
    static constexpr int width = 1;
    const char* name;
    std::string_view letters;
    const char* letter;
    bool given;

    int bad(int number) const { return given && !one_of(*letter, letters) ? number : 0; }
    void require(int number) const
    {
        if (!letter) refuse_null(number, name);
        if (bad(number)) refuse_letter(number, name, *letter, letters);
    }
};
/// The factors of a scaling, all positive where they are used.
template <class R> struct Scales {
    static constexpr int width = 1;
    const char* name;
    const R* data;
    Index count;
    bool used;

    /// The first that is not positive.
    Index wrong() const
    {
        Index i = 0;
        while (used && i < count && !(data[i] <= 0)) ++i;
        return used ? i : count;
    }
    int bad(int number) const { return wrong() < count ? number : 0; }
    void require(int number) const
    {
        if (!data && count > 0) refuse_null(number, name);
        if (const Index i = wrong(); i < count) refuse_factor(number, name, i, double(data[i]));
    }
};
/// A column-major matrix or a triangle of one, and its leading dimension.
struct Matrix {
    static constexpr int width = 2;
    const char* name;
    Region region;
    bool written;

    int bad(int number) const { return region.ld < 1 || region.ld < region.rows ? number + 1 : 0; }
    void require(int number) const;
    /// Throws where this one, which is written, overlaps `other`.
    void require_apart(int number, const Matrix& other) const;
};
/// Row interchanges; LAPACK has no leading dimension for them. `rows`: how many rows they may name where they are read; 0: they
/// are written.
struct Pivots {
    static constexpr int width = 1;
    const char* name;
    const Index* data;
    Index count, rows;

    int bad(int) const { return 0; }
    void require(int number) const;
};

/// A caller's integers, of 32 or 64 bits, as ours: copied where they are narrower, and back at the end where they are written.
template <class I> class Integers {
    static constexpr bool written = !std::is_const_v<I>;
    template <class N> using Like = std::conditional_t<written, N, const N>;

public:
    Integers(Like<std::int32_t>* narrow) : narrow_(narrow) {}
    Integers(Like<std::int64_t>* wide) : wide_(wide) {}
    Integers(const Integers&) = delete;
    Integers& operator=(const Integers&) = delete;
    ~Integers()
    {
        if constexpr (written)
            for (std::size_t i = 0; i < copy_.size(); ++i) narrow_[i] = std::int32_t(copy_[i]);
    }
    /// All `count` of them.
    I* of(Index count)
    {
        if (!narrow_) return wide_;
        if (copy_.empty()) copy_.assign(narrow_, narrow_ + count); // what a call does not write keeps its value
        return copy_.data();
    }
    /// Where they are without a copy; null: nowhere.
    operator const Index*() const { return wide_; }

private:
    Like<std::int32_t>* narrow_ = nullptr;
    Like<std::int64_t>* wide_ = nullptr;
    std::vector<Index> copy_;
};

/// The number of the first bad argument, 0: none. Pointers are not looked at, as BLAS and LAPACK do not.
template <class... A> int first_bad(const A&... arguments)
{
    int bad = 0, number = 1;
    ((bad = bad ? bad : arguments.bad(number), number += A::width), ...);
    return bad;
}

/// Throws for the first bad argument, null pointers among them, and for a result that overlaps what is read.
template <class... A> void require(const A&... arguments)
{
    int number = 1;
    ((arguments.require(number), number += A::width), ...);
    constexpr int matrices = (std::is_same_v<A, Matrix> + ... + 0);
    if constexpr (matrices > 1) {
        std::array<const Matrix*, matrices> all;
        std::array<int, matrices> numbers;
        int found = 0;
        number = 1;
        const auto note = [&](const auto& argument) {
            if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Matrix>)
                all[found] = &argument, numbers[found++] = number;
            number += std::decay_t<decltype(argument)>::width;
        };
        (note(arguments), ...);
        for (int i = 0; i < matrices; ++i)
            for (int j = 0; j < matrices; ++j)
                if (i != j && all[i]->written) all[i]->require_apart(numbers[i], *all[j]);
    }
}

/// How many there are.
template <class... A> constexpr int count(const A&...) { return (A::width + ... + 0); }

/// LAPACK's info of a routine that is called; of one that returns nothing, which cannot fail, 0.
template <class Call> Index outcome(const Call& call)
{
    if constexpr (std::is_void_v<decltype(call())>) return call(), 0;
    else return call();
}

/// The largest size or leading dimension.
template <class... A> Index largest(const A&... arguments)
{
    Index most = 0;
    const auto look = [&](const auto& argument) {
        using Kind = std::decay_t<decltype(argument)>;
        if constexpr (std::is_same_v<Kind, Size> || std::is_same_v<Kind, Within>)
            most = argument.value > most ? argument.value : most;
        if constexpr (std::is_same_v<Kind, Matrix>) most = argument.region.ld > most ? argument.region.ld : most;
    };
    (look(arguments), ...);
    return most;
}

/// Is it over, whatever the routine, before anybody could help? Said without its cost, which would take a tenth of the time of
/// the smallest.
template <class... A> bool tiny(const A&... arguments)
{
    bool all = true;
    const auto look = [&](const auto& argument) {
        using Kind = std::decay_t<decltype(argument)>;
        if constexpr (std::is_same_v<Kind, Size> || std::is_same_v<Kind, Within>) all = all && argument.value <= 32;
    };
    (look(arguments), ...);
    return all;
}

/// The routine's size, for its cost. Of reflectors that are applied, m is the order of their product and n how many rows or
/// columns it meets.
template <class... A> Extents extents(const A&... arguments)
{
    Extents found;
    bool right = false, sided = false, deep = false;
    const auto note_size = [&](std::string_view name, double value) {
        if (name == "nb") return; // how the work is cut, not how much there is
        deep = deep || name == "k";
        (name == "m" ? found.m : name == "k" ? found.k : name == "nrhs" ? found.nrhs : found.n) = value;
    };
    const auto note = [&](const auto& argument) {
        using Kind = std::decay_t<decltype(argument)>;
        if constexpr (std::is_same_v<Kind, Flag<Side>>) sided = true, right = argument.given == Side::right;
        if constexpr (std::is_same_v<Kind, Size> || std::is_same_v<Kind, Within>)
            note_size(argument.name, double(argument.value));
    };
    (note(arguments), ...);
    if (sided && !deep) found.k = right ? found.n : found.m; // the order of the matrix on that side
    if (sided && deep && right) std::swap(found.m, found.n);
    return found;
}

} // namespace argument
} // namespace trencadis
