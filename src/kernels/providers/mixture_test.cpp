#include "base/error.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/testing/reference.hpp"

#include <gmock/gmock.h>

namespace trencadis {
namespace {

using ::testing::HasSubstr;

/// Writes down which of its routines ran.
template <Scalar T> class Noting final : public Routines<T> {
    using R = Real<T>;

public:
    explicit Noting(std::string* last) : last_(last) {}
    void gemm(Op, Op, Index, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index) const override { *last_ = "gemm"; }
    void symm(Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index) const override { *last_ = "symm"; }
    void hemm(Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index) const override { *last_ = "hemm"; }
    void syrk(Uplo, Op, Index, Index, T, const T*, Index, T, T*, Index) const override { *last_ = "syrk"; }
    void herk(Uplo, Op, Index, Index, R, const T*, Index, R, T*, Index) const override { *last_ = "herk"; }
    void syr2k(Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index) const override { *last_ = "syr2k"; }
    void her2k(Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, R, T*, Index) const override { *last_ = "her2k"; }
    void trmm(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index) const override { *last_ = "trmm"; }
    void trsm(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index) const override { *last_ = "trsm"; }
    Index potrf(Uplo, Index, T*, Index) const override { return *last_ = "potrf", 0; }
    Index getrf(Index, Index, T*, Index, Index*) const override { return *last_ = "getrf", 0; }

private:
    std::string* last_;
};

template <Scalar T> void call_routine(const KernelProvider& kernels, KernelRoutine routine)
{
    T x{};
    const Op no = Op::none;
    const Uplo lower = Uplo::lower;
    const Side left = Side::left;
    const Diag plain = Diag::non_unit;
    Index pivot = 1;
    switch (routine) {
    case KernelRoutine::gemm: return kernels.gemm(no, no, 1, 1, 1, x, &x, 1, &x, 1, x, &x, 1);
    case KernelRoutine::symm: return kernels.symm(left, lower, 1, 1, x, &x, 1, &x, 1, x, &x, 1);
    case KernelRoutine::hemm: return kernels.hemm(left, lower, 1, 1, x, &x, 1, &x, 1, x, &x, 1);
    case KernelRoutine::syrk: return kernels.syrk(lower, no, 1, 1, x, &x, 1, x, &x, 1);
    case KernelRoutine::herk: return kernels.herk<T>(lower, no, 1, 1, {}, &x, 1, {}, &x, 1);
    case KernelRoutine::syr2k: return kernels.syr2k(lower, no, 1, 1, x, &x, 1, &x, 1, x, &x, 1);
    case KernelRoutine::her2k: return kernels.her2k<T>(lower, no, 1, 1, x, &x, 1, &x, 1, {}, &x, 1);
    case KernelRoutine::trmm: return kernels.trmm(left, lower, no, plain, 1, 1, x, &x, 1, &x, 1);
    case KernelRoutine::trsm: return kernels.trsm(left, lower, no, plain, 1, 1, x, &x, 1, &x, 1);
    case KernelRoutine::potrf: return void(kernels.potrf(lower, 1, &x, 1));
    case KernelRoutine::getrf: return void(kernels.getrf(1, 1, &x, 1, &pivot));
    }
}

/// What a Hermitian routine is in real numbers.
KernelRoutine symmetric_twin(KernelRoutine routine)
{
    return routine == KernelRoutine::hemm    ? KernelRoutine::symm
           : routine == KernelRoutine::herk  ? KernelRoutine::syrk
           : routine == KernelRoutine::her2k ? KernelRoutine::syr2k
                                             : routine;
}

class Mixture : public ::testing::Test {
protected:
    std::string first_ran, second_ran;
    const KernelProvider first{{"first", "1.0", "a", true}, routine_set<Noting>(&first_ran)};
    const KernelProvider second{{"second", "2.0", "b", false}, routine_set<Noting>(&second_ran)};
};

TEST_F(Mixture, TakesEachRoutineFromItsOwnPlaceInEveryPrecision)
{
    for (std::size_t chosen = 0; chosen < kernel_routine_names.size(); ++chosen) {
        const KernelProvider::Choice choice{KernelRoutine(chosen), &second};
        const KernelProvider mixture("both", first, {&choice, 1});
        for (std::size_t r = 0; r < kernel_routine_names.size(); ++r)
            for (const auto call : {call_routine<float>, call_routine<double>, call_routine<std::complex<float>>,
                                    call_routine<std::complex<double>>}) {
                first_ran = second_ran = "";
                call(mixture, KernelRoutine(r));
                const bool real = call == call_routine<float> || call == call_routine<double>;
                const bool taken = r == chosen || (real && KernelRoutine(chosen) == symmetric_twin(KernelRoutine(r)));
                EXPECT_EQ(first_ran, taken ? "" : kernel_routine_names[r]);
                EXPECT_EQ(second_ran, taken ? kernel_routine_names[r] : "");
            }
    }
}

TEST_F(Mixture, TakesTheHermitianRoutinesOfRealNumbersWithTheSymmetricOnesUnlessTheyAreChosenToo)
{
    for (const bool reversed : {false, true}) {
        KernelProvider::Choice choices[] = {{KernelRoutine::syrk, &second}, {KernelRoutine::herk, &first}};
        if (reversed) std::swap(choices[0], choices[1]);
        const KernelProvider mixture("", first, choices);
        first_ran = second_ran = "";
        call_routine<double>(mixture, KernelRoutine::herk);
        EXPECT_EQ(first_ran, "herk");
        EXPECT_EQ(second_ran, "");
    }
}

TEST_F(Mixture, SaysWhereItsRoutinesComeFrom)
{
    const KernelProvider::Choice choice{KernelRoutine::potrf, &second};
    const KernelProvider mixture("first,potrf=second", first, {&choice, 1});
    EXPECT_EQ(mixture.name(), "first,potrf=second");
    EXPECT_EQ(mixture.version(), "1.0; potrf: 2.0");
    EXPECT_EQ(mixture.path(), "a");
}

TEST_F(Mixture, KnowsWhichRoutinesAreOurs)
{
    for (std::size_t r = 0; r < kernel_routine_names.size(); ++r) {
        const KernelProvider::Choice away{KernelRoutine(r), &second};
        const KernelProvider mixture("", first, {&away, 1});
        for (std::size_t asked = 0; asked < kernel_routine_names.size(); ++asked)
            EXPECT_EQ(mixture.native(KernelRoutine(asked)),
                      asked != r && symmetric_twin(KernelRoutine(asked)) != KernelRoutine(r))
                << kernel_routine_names[asked] << " beside " << kernel_routine_names[r];
    }
    const KernelProvider::Choice back{KernelRoutine::trsm, &first};
    const KernelProvider mostly_second("", second, {&back, 1});
    EXPECT_TRUE(mostly_second.native(KernelRoutine::trsm));
    EXPECT_FALSE(mostly_second.native(KernelRoutine::gemm));
}

TEST_F(Mixture, IsOursAsLongAsTheUpdatesOfATileFactorizationAre)
{
    for (std::size_t r = 0; r < kernel_routine_names.size(); ++r) {
        const KernelProvider::Choice away{KernelRoutine(r), &second};
        const std::string_view name = kernel_routine_names[r];
        EXPECT_EQ(KernelProvider("", first, {&away, 1}).native(),
                  name != "gemm" && name != "syrk" && name != "herk" && name != "trsm")
            << name;
    }
    const KernelProvider::Choice back[] = {{KernelRoutine::gemm, &first},
                                           {KernelRoutine::syrk, &first},
                                           {KernelRoutine::herk, &first},
                                           {KernelRoutine::trsm, &first}};
    EXPECT_TRUE(KernelProvider("", second, back).native());
    EXPECT_FALSE(KernelProvider("", second, {back, 3}).native());
}

std::string message_of(const char* text)
{
    try {
        load_kernels(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument) << text;
        return error.what();
    }
    ADD_FAILURE() << "'" << text << "' was taken";
    return {};
}

TEST(MixtureText, IsReadOnceAndReportedAsGiven)
{
    const std::string text = testing::providers().front()->name() + ", trsm = " + testing::providers().back()->name();
    const KernelProvider& mixture = load_kernels(text);
    EXPECT_EQ(mixture.name(), text);
    EXPECT_EQ(&mixture, &load_kernels(text));
}

TEST(MixtureText, OfOneWordIsThatProviderItself)
{
    for (const KernelProvider* provider : testing::providers()) EXPECT_EQ(&load_kernels(provider->name()), provider);
}

TEST(MixtureText, GetsTheNearestNameOfAnUnknownProviderOrRoutine)
{
    const std::string known = testing::providers().front()->name();
    EXPECT_THAT(message_of("openblass,potrf=mkl"), HasSubstr("did you mean 'openblas'"));
    EXPECT_THAT(message_of((known + ",potrf=mlk").c_str()), HasSubstr("did you mean 'mkl'"));
    EXPECT_THAT(message_of((known + ",ptrf=mkl").c_str()), HasSubstr("did you mean 'potrf'"));
    EXPECT_THAT(message_of(""), HasSubstr("(known:"));
}

TEST(MixtureText, IsRefusedInAnotherForm)
{
    const std::string known = testing::providers().front()->name();
    EXPECT_THAT(message_of("potrf=mkl"), HasSubstr("'potrf=mkl' stands where the provider of all other routines does"));
    EXPECT_THAT(message_of((known + ",potrf").c_str()), HasSubstr("'potrf' is not routine=provider"));
    EXPECT_THAT(message_of((known + ",").c_str()), HasSubstr("'' is not routine=provider"));
    EXPECT_THAT(message_of((known + ",trsm=" + known + ",trsm=" + known).c_str()), HasSubstr("'trsm' is given twice"));
    EXPECT_THAT(message_of((known + ",trsm=").c_str()), HasSubstr("unknown kernels ''"));
}

} // namespace
} // namespace trencadis
