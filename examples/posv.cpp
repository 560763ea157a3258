// Solves a small positive definite system in complex numbers: A x = b. A session chooses who computes, and with what.
#include <trencadis/trencadis.hpp>

#include <complex>
#include <cstdio>

int main()
{
    using Complex = std::complex<double>;
    Complex a[4] = {4, {1, 1}, 0, 3}, b[2] = {{5, -1}, {4, 1}}; // column-major, the lower triangle
    try {
        trencadis::SessionOptions options;
        options.worker_count = 1;
        trencadis::Session session(options);
        const trencadis::Index info = trencadis::posv(session, trencadis::Uplo::lower, 2, 1, a, 2, b, 2);
        if (info > 0) return std::printf("the leading minor of order %td is not positive definite\n", info), 1;
    } catch (const trencadis::Error& error) {
        return std::fprintf(stderr, "%s\n", error.what()), 2;
    }
    std::printf("x = (%g, %g) (%g, %g)\n", b[0].real(), b[0].imag(), b[1].real(), b[1].imag());
    return std::abs(b[0] - 1.0) + std::abs(b[1] - 1.0) > 1e-14;
}
