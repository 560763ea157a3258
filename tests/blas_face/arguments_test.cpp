#include "symbols.hpp"

#include <array>
#include <complex>
#include <cstdarg>
#include <cstring>
#include <vector>

// A program's own handlers, as the testers of the reference BLAS bring them.
namespace {
struct Reported {
    std::string name, message;
    std::int64_t number = 0;
    int times = 0;
};
Reported fortran, cblas;
} // namespace
extern "C" {
int RowMajorStrg = 7;
void xerbla_(const char* name, const std::int32_t* number, std::size_t length)
{
    fortran = {std::string(name, length), "", *number, fortran.times + 1};
}
void cblas_xerbla(int number, const char* name, const char* form, ...)
{
    va_list arguments;
    va_start(arguments, form);
    char message[100];
    std::vsnprintf(message, sizeof message, form, arguments);
    va_end(arguments);
    cblas = {name, std::string(message) + (RowMajorStrg ? "row" : "column"), number, cblas.times + 1};
}
}

namespace trencadis::testing {
namespace {

/// A routine's arguments by kind: 'f'lag, 's'ize, 'l'eading dimension, 'x' factor or matrix, 'i'nfo.
struct Routine {
    const char* name;
    const char* flags; ///< a good value for each flag
    const char* kinds;
    const char* precisions;
    int arguments() const { return int(std::strlen(kinds)); }
};
constexpr Routine routines[] = {
    {"gemm", "NN", "ffsssxxlxlxxl", "sdcz"},
    {"symm", "LU", "ffssxxlxlxxl", "sdcz"},
    {"hemm", "RL", "ffssxxlxlxxl", "cz"},
    {"syrk", "UN", "ffssxxlxxl", "sdcz"},
    {"herk", "LC", "ffssxxlxxl", "cz"},
    {"syr2k", "UT", "ffssxxlxlxxl", "sdcz"},
    {"her2k", "LN", "ffssxxlxlxxl", "cz"},
    {"trmm", "LUCN", "ffffssxxlxl", "sdcz"},
    {"trsm", "RLTU", "ffffssxxlxl", "sdcz"},
    {"potrf", "L", "fsxli", "sdcz"},
    {"potrs", "U", "fssxlxli", "sdcz"},
    {"posv", "L", "fssxlxli", "sdcz"},
    {"getrf", "", "ssxlxi", "sdcz"},
    {"getrs", "T", "fssxlxxli", "sdcz"},
    {"gesv", "", "ssxlxxli", "sdcz"},
    {"getri", "", "sxlxxli", "sdcz"},
    {"trtri", "UN", "ffsxli", "sdcz"},
    {"lauum", "L", "fsxli", "sdcz"},
    {"potri", "U", "fsxli", "sdcz"},
    {"trtrs", "LTN", "fffssxlxli", "sdcz"},
    {"geequ", "", "ssxlxxxxxi", "sdcz"},
    {"geequb", "", "ssxlxxxxxi", "sdcz"},
    {"poequ", "", "sxlxxxi", "sdcz"},
    {"poequb", "", "sxlxxxi", "sdcz"},
    {"gecon", "I", "fsxlxxxxi", "sdcz"},
    {"pocon", "U", "fsxlxxxxi", "sdcz"},
    {"trcon", "OLU", "fffsxlxxxi", "sdcz"},
    {"gerfs", "C", "fssxlxlxxlxlxxxxi", "sdcz"},
    {"porfs", "L", "fssxlxlxlxlxxxxi", "sdcz"},
    {"geqrf", "", "ssxlxxli", "sdcz"},
    {"gelqf", "", "ssxlxxli", "sdcz"},
    {"orgqr", "", "sssxlxxli", "sd"},
    {"ungqr", "", "sssxlxxli", "cz"},
    {"orglq", "", "sssxlxxli", "sd"},
    {"unglq", "", "sssxlxxli", "cz"},
    {"ormqr", "LT", "ffsssxlxxlxli", "sd"},
    {"unmqr", "RC", "ffsssxlxxlxli", "cz"},
    {"ormlq", "RN", "ffsssxlxxlxli", "sd"},
    {"unmlq", "LN", "ffsssxlxxlxli", "cz"},
    {"geqrt", "", "sssxlxlxi", "sdcz"},
    {"gemqrt", "LN", "ffssssxlxlxlxi", "sdcz"},
    {"gels", "N", "fsssxlxlxli", "sdcz"},
    {"gesvx", "NC", "ffssxlxlxxxxxlxlxxxxxi", "sdcz"},
    {"posvx", "EU", "ffssxlxlxxxlxlxxxxxi", "sdcz"},
};

/// A call with sizes and leading dimensions of 2 in which arguments are spoiled one by one. Everything goes by address, so that
/// one type of function fits all; routines ignore what comes after their last argument, as they do hidden lengths.
class Call {
public:
    Call(const Routine& routine, char precision, const Family& family) : routine_(routine), wide_(family.wide)
    {
        function_ = reinterpret_cast<Function>(address(family.name(std::string(1, precision) + routine.name)));
        int flag = 0;
        for (int i = 0; i < routine.arguments(); ++i) {
            integers_[i] = 2;
            flags_[i] = routine.kinds[i] == 'f' ? routine.flags[flag++] : '?';
        }
        memory_.fill(0.75);
    }
    void spoil(int i)
    {
        if (kind(i) == 'f') flags_[i] = 'Q';
        else integers_[i] = kind(i) == 's' ? -1 : 1;
    }
    void set_flag(int i, char value) { flags_[i] = value; }
    bool can_be_bad(int i) const { return kind(i) == 'f' || kind(i) == 's' || kind(i) == 'l'; }
    void run()
    {
        const void* where[22] = {};
        for (int i = 0; i < routine_.arguments(); ++i) {
            narrow_[i] = std::int32_t(integers_[i]);
            if (kind(i) == 'f') where[i] = &flags_[i];
            else if (kind(i) == 'x') where[i] = memory_.data();
            else where[i] = wide_ ? static_cast<const void*>(&integers_[i]) : &narrow_[i];
        }
        function_(where[0], where[1], where[2], where[3], where[4], where[5], where[6], where[7], where[8], where[9], where[10],
                  where[11], where[12], where[13], where[14], where[15], where[16], where[17], where[18], where[19], where[20],
                  where[21]);
    }
    std::int64_t info() const { return wide_ ? integers_[routine_.arguments() - 1] : narrow_[routine_.arguments() - 1]; }
    bool has_info() const { return kind(routine_.arguments() - 1) == 'i'; }
    bool untouched() const
    {
        for (const double value : memory_)
            if (value != 0.75) return false;
        return true;
    }

private:
    using Function = void (*)(const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                              const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                              const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                              const void*);
    char kind(int i) const { return routine_.kinds[i]; }
    const Routine& routine_;
    bool wide_;
    Function function_;
    std::array<std::int64_t, 22> integers_{};
    std::array<std::int32_t, 22> narrow_{};
    std::array<char, 22> flags_{};
    std::array<double, 32> memory_{};
};

/// Every precision and every name of every routine.
template <class Body> void for_every_symbol(Body&& body)
{
    for (const Routine& routine : routines)
        for (const char* p = routine.precisions; *p; ++p)
            for (const Family& family : fortran_families) {
                SCOPED_TRACE(family.name(std::string(1, *p) + routine.name));
                body(routine, *p, family);
            }
}
std::string reported_name(const Routine& routine, char precision)
{
    std::string name = std::string(1, precision) + routine.name;
    for (char& c : name) c = char(std::toupper(c));
    return name + std::string(6 - std::min<std::size_t>(6, name.size()), ' ');
}

TEST(BadArguments, AreReportedWithTheReferencesNumbersAndNothingIsTouched)
{
    for_every_symbol([](const Routine& routine, char precision, const Family& family) {
        for (int i = 0; i < routine.arguments(); ++i) {
            Call call(routine, precision, family);
            if (!call.can_be_bad(i)) continue;
            fortran = {};
            call.spoil(i);
            call.run();
            EXPECT_EQ(fortran.times, 1) << i + 1;
            EXPECT_EQ(fortran.number, i + 1);
            EXPECT_EQ(fortran.name, reported_name(routine, precision));
            EXPECT_TRUE(call.untouched());
            if (call.has_info()) {
                EXPECT_EQ(call.info(), -(i + 1));
            }
        }
    });
}

TEST(BadArguments, AreReportedFromTheFirst)
{
    for_every_symbol([](const Routine& routine, char precision, const Family& family) {
        Call call(routine, precision, family);
        for (int i = routine.arguments() - 1; i >= 0; --i) {
            if (!call.can_be_bad(i)) continue;
            fortran = {};
            call.spoil(i);
            call.run();
            EXPECT_EQ(fortran.number, i + 1);
        }
    });
}

TEST(BadArguments, IncludeTranspositionsThatARankUpdateDoesNotKnow)
{
    for (const Routine& routine : routines) {
        const std::string name = routine.name;
        const bool symmetric = name == "syrk" || name == "syr2k", hermitian = name == "herk" || name == "her2k";
        if (!symmetric && !hermitian) continue;
        for (const char* p = routine.precisions; *p; ++p)
            for (const char trans : std::string("NTCntc")) {
                Call call(routine, *p, fortran_families[0]);
                call.set_flag(1, trans);
                fortran = {};
                call.run();
                const bool real = *p == 's' || *p == 'd', transposed = std::toupper(trans) == 'T';
                const bool allowed = std::toupper(trans) == 'N' || real || transposed == symmetric;
                EXPECT_EQ(fortran.times, allowed ? 0 : 1) << *p << name << " " << trans;
            }
    }
}

TEST(BadArguments, IncludeTranspositionsThatReflectorsDoNotKnow)
{
    for (const Routine& routine : routines) {
        const std::string name = routine.name;
        const bool reflectors = name == "gels" || name == "gemqrt" || name.substr(2) == "mqr" || name.substr(2) == "mlq";
        if (!reflectors) continue;
        const int at = name == "gels" ? 0 : 1;
        for (const char* p = routine.precisions; *p; ++p)
            for (const char trans : std::string("TCtc")) {
                Call call(routine, *p, fortran_families[0]);
                call.set_flag(at, trans);
                if (name == "gels") call.spoil(8); // its workspace, which is looked at last
                else call.spoil(routine.arguments() - (name == "gemqrt" ? 3 : 2));
                fortran = {};
                call.run();
                const bool known = (std::toupper(trans) == 'T') == (*p == 's' || *p == 'd');
                EXPECT_EQ(fortran.number == at + 1, !known) << *p << name << " " << trans;
                EXPECT_EQ(fortran.times, 1);
            }
    }
}

TEST(BadArguments, IncludeMoreReflectorsThanThereAre)
{
    double a[16] = {}, tau[4] = {}, c[16] = {}, work[16] = {};
    const auto number = [&](const char* routine, const auto&... arguments) {
        fortran = {};
        std::int32_t info = 0;
        call<double>(fortran_families[0], routine, arguments..., &info);
        EXPECT_EQ(info, -fortran.number);
        return fortran.number;
    };
    const std::int64_t two = 2, three = 3, four = 4, length = 16;
    double *const A = a, *const C = c, *const W = work;
    EXPECT_EQ(number("orgqr", two, three, two, A, four, &tau[0], W, length), 2) << "n > m";
    EXPECT_EQ(number("orgqr", three, two, three, A, four, &tau[0], W, length), 3) << "k > n";
    EXPECT_EQ(number("orglq", three, two, two, A, four, &tau[0], W, length), 2) << "n < m";
    EXPECT_EQ(number("orglq", two, three, three, A, four, &tau[0], W, length), 3) << "k > m";
    EXPECT_EQ(number("ormqr", 'L', 'N', two, three, three, A, four, &tau[0], C, four, W, length), 5) << "k > m";
    EXPECT_EQ(number("ormlq", 'R', 'N', three, two, three, A, four, &tau[0], C, four, W, length), 5) << "k > n";
    EXPECT_EQ(number("geqrt", three, two, three, A, four, C, four, W), 3) << "nb > min(m, n)";
    EXPECT_EQ(number("gemqrt", 'L', 'N', three, two, two, three, A, four, C, four, W, four, &tau[0]), 6) << "nb > k";
}

TEST(BadArguments, IncludeNormsThatAreNegative)
{
    const double a[4] = {1, 0, 0, 1}, minus = -1;
    double rcond = 7, work[8];
    std::int32_t info = 0, iwork[2];
    for (const char* routine : {"gecon", "pocon"})
        for (const Family& family : fortran_families) {
            if (family.wide) continue;
            fortran = {};
            call<double>(family, routine, routine[0] == 'g' ? '1' : 'L', std::int64_t(2), static_cast<const double*>(a),
                         std::int64_t(2), minus, &rcond, &work[0], &iwork[0], &info);
            EXPECT_EQ(fortran.number, 5);
            EXPECT_EQ(info, -5);
            EXPECT_EQ(rcond, 7);
        }
}

constexpr int row = 101, column = 102, no_trans = 111, trans = 112, upper = 121, lower = 122, left = 141, unit = 132;

TEST(BadCblasArguments, AreCountedInTheColumnMajorCall)
{
    double a[4] = {}, b[4] = {}, c[4] = {};
    for (const Family& family : cblas_families) {
        if (family.wide) continue;
        const auto dgemm =
            reinterpret_cast<void (*)(int, int, int, int, int, int, double, double*, int, double*, int, double, double*, int)>(
                address(family.name("dgemm")));
        // As the reference does: it turns a row-major call round, and its handler the number, knowing so from RowMajorStrg.
        dgemm(column, no_trans, no_trans, 2, 2, 2, 1, a, 1, b, 2, 0, c, 2);
        EXPECT_EQ(cblas.number, 9);
        EXPECT_EQ(cblas.message, "column");
        EXPECT_EQ(cblas.name, "cblas_dgemm");
        dgemm(row, no_trans, no_trans, 2, 2, 2, 1, a, 1, b, 2, 0, c, 2);
        EXPECT_EQ(cblas.number, 11);
        EXPECT_EQ(cblas.message, "row");
        EXPECT_EQ(RowMajorStrg, 0);
        dgemm(row, no_trans, 99, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
        EXPECT_EQ(cblas.number, 3);
        EXPECT_EQ(cblas.message, "Illegal TransB setting, 99\nrow");
        dgemm(99, no_trans, no_trans, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
        EXPECT_EQ(cblas.number, 1);
        EXPECT_EQ(cblas.message, "Illegal layout setting, 99\ncolumn");
    }
    const auto dtrsm =
        reinterpret_cast<void (*)(int, int, int, int, int, int, int, double, double*, int, double*, int)>(address("cblas_dtrsm"));
    dtrsm(column, left, upper, no_trans, unit, -1, 2, 1, a, 2, b, 2);
    EXPECT_EQ(cblas.number, 6);
    dtrsm(row, left, upper, no_trans, unit, -1, 2, 1, a, 2, b, 2);
    EXPECT_EQ(cblas.number, 7);
    dtrsm(row, left, upper, no_trans, 99, 2, 2, 1, a, 2, b, 2);
    EXPECT_EQ(cblas.number, 5);
    const auto zherk =
        reinterpret_cast<void (*)(int, int, int, int, int, double, void*, int, double, void*, int)>(address("cblas_zherk"));
    for (const int layout : {row, column}) {
        zherk(layout, lower, trans, 1, 1, 1, a, 1, 0, c, 1);
        EXPECT_EQ(cblas.number, 3);
    }
}

} // namespace
} // namespace trencadis::testing
