#pragma once
#include "blas/level3/scratch.hpp"
#include "kernels/testing/every_call.hpp"

#include <cfenv>
#include <gtest/gtest.h>

namespace trencadis::testing {

/// Fills some of the stack below the caller with signalling NaN.
template <class R> [[gnu::noinline]] void poison_stack()
{
    R numbers[(16 << 10) / sizeof(R)];
    fill_signalling(numbers, sizeof numbers / sizeof(R));
    asm volatile("" : : "r"(numbers) : "memory");
}
/// The thread's packing buffers too, and no exception is raised yet.
template <class R> void poison_and_clear(std::size_t numbers)
{
    using blas::Buffer;
    for (const Buffer which : {Buffer::left, Buffer::right, Buffer::triangle, Buffer::solution, Buffer::factor, Buffer::panel,
                               Buffer::applied, Buffer::compact, Buffer::products, Buffer::reflectors})
        fill_signalling(blas::scratch<R>(which, Index(numbers)), numbers);
    poison_stack<R>();
    std::feclearexcept(FE_ALL_EXCEPT);
}

/// Of the calling thread, without FE_INEXACT, which every sum raises.
inline void expect_no_exception(const std::string& what)
{
    const int raised = std::fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT);
    EXPECT_EQ(raised, 0) << what << " raised" << (raised & FE_INVALID ? " invalid" : "")
                         << (raised & FE_DIVBYZERO ? " divide-by-zero" : "") << (raised & FE_OVERFLOW ? " overflow" : "")
                         << (raised & FE_UNDERFLOW ? " underflow" : "");
}

/// Every routine of a face with every flag, for matrices of about n rows.
template <Scalar T, class Face> void expect_no_exceptions(const Face& face, Index n, const std::string& where)
{
    const auto numbers = std::size_t(4 * n * n + 4096);
    EveryCall<T, Face>(
        face, n, [&] { poison_and_clear<Real<T>>(numbers); },
        [&](const std::string& what) { expect_no_exception(where + ": " + what); })
        .run();
}

} // namespace trencadis::testing
