#include "base/error.hpp"
#include "base/scalar.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

TEST(Scalar, AdmitsTheFourLapackTypesOnly)
{
    EXPECT_TRUE(Scalar<float> && Scalar<double> && Scalar<std::complex<float>> && Scalar<std::complex<double>>);
    EXPECT_FALSE(Scalar<int> || Scalar<long double> || Scalar<std::complex<int>> || Scalar<const double>);
}

TEST(Scalar, RealOfAComplexTypeIsItsPart)
{
    EXPECT_TRUE((std::same_as<Real<std::complex<float>>, float>));
    EXPECT_TRUE((std::same_as<Real<double>, double>));
    EXPECT_TRUE(is_complex<std::complex<double>>);
    EXPECT_FALSE(is_complex<float>);
}

TEST(Scalar, AComplexMultiplyAddIsFourMultiplicationsAndFourAdditions)
{
    EXPECT_EQ(flops_per_fma<double>, 2);
    EXPECT_EQ(flops_per_fma<std::complex<float>>, 8);
}

TEST(Error, CarriesItsCodeAndTheArgumentToBlame)
{
    const Error plain(ErrorCode::environment, "no threads left"), blamed(ErrorCode::bad_argument, 5, "lda = 3");
    EXPECT_EQ(plain.code(), ErrorCode::environment);
    EXPECT_EQ(plain.argument(), 0);
    EXPECT_EQ(blamed.argument(), 5);
    EXPECT_STREQ(blamed.what(), "lda = 3");
}

} // namespace
} // namespace trencadis
