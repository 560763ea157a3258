// A program whose handlers of bad arguments throw, as wrappers in C++ do.
#include "guest.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

extern "C" {
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
void dpotrf_(const char*, const int*, double*, const int*, int*);
int RowMajorStrg = 0;

void xerbla_(const char* name, const int* number, std::size_t length)
{
    throw std::invalid_argument(std::string(name, length) + std::to_string(*number));
}
void cblas_xerbla(int number, const char*, const char*, ...) { throw std::out_of_range(std::to_string(number)); }
}

int main()
{
    alarm(20);
    const int n = 2, wrong = 1;
    const double one = 1;
    double x[4] = {1, 0, 0, 1};
    int info = 0, caught = 0;
    try {
        dgemm_("N", "?", &n, &n, &n, &one, x, &n, x, &n, &one, x, &n);
    } catch (const std::invalid_argument& error) {
        caught += std::string(error.what()) == "DGEMM 2";
    }
    try {
        dpotrf_("L", &n, x, &wrong, &info);
    } catch (const std::invalid_argument& error) {
        caught += std::string(error.what()) == "DPOTRF4" && info == -4;
    }
    try {
        cblas_dgemm(101, 111, 111, 2, 2, 2, 1, x, 2, x, 1, 0, x, 2);
    } catch (const std::out_of_range&) {
        ++caught;
    }
    require(caught == 3, "each exception comes through");
    require(RowMajorStrg == 0, "nothing is left of the call that was refused");
    require(right_product(on_tasks), "the library computes as before");
}
