#include "interfaces/scalapack/checks.hpp"

#include "interfaces/scalapack/behind.hpp"

#include <cctype>
#include <cstring>

namespace trencadis::scalapack {
namespace {

constexpr int context_entry = 2; // of a descriptor, counted from 1

void check_here(const Checked& A, int& info)
{
    chk1mat_(&A.m, &A.m_at, &A.n, &A.n_at, &A.ia, &A.ja, A.desc.nine(), &A.desc_at, &info);
}

} // namespace

Checks::Checks(const char* routine, const Checked& A) : routine_(routine), matrices_{A, A}, open_(Grid::of(A.desc.context).open())
{
    if (!open_) info_ = -(100 * A.desc_at + context_entry);
    else check_here(A, info_);
}

void Checks::matrix(const Checked& B)
{
    matrices_[1] = B;
    count_ = 2;
    if (open_) check_here(B, info_);
}

void Checks::letter(char given, const char* allowed, int number)
{
    const char capital = char(std::toupper(static_cast<unsigned char>(given)));
    if (fine() && (!capital || !std::strchr(allowed, capital))) info_ = -number;
    extra(capital, number);
}

void Checks::workspace(int size, int least, int number)
{
    if (fine() && size < least && size != -1) info_ = -number;
    extra(size == -1 ? -1 : 1, number);
}

void Checks::extra(int value, int number)
{
    extra_[extras_] = value;
    extra_at_[extras_++] = number;
}

void Checks::agree()
{
    const Checked& A = matrices_[0];
    const Checked& B = matrices_[1];
    if (count_ == 1)
        pchk1mat_(&A.m, &A.m_at, &A.n, &A.n_at, &A.ia, &A.ja, A.desc.nine(), &A.desc_at, &extras_, extra_.data(),
                  extra_at_.data(), &info_);
    else
        pchk2mat_(&A.m, &A.m_at, &A.n, &A.n_at, &A.ia, &A.ja, A.desc.nine(), &A.desc_at, &B.m, &B.m_at, &B.n, &B.n_at, &B.ia,
                  &B.ja, B.desc.nine(), &B.desc_at, &extras_, extra_.data(), extra_at_.data(), &info_);
}

int Checks::outcome()
{
    const Checked& B = matrices_[1];
    if (fine() && B.desc.context != matrices_[0].desc.context) info_ = -(100 * B.desc_at + context_entry);
    if (open_) agree();
    const int number = -info_, context = matrices_[0].desc.context;
    if (info_) pxerbla_(&context, routine_, &number, std::strlen(routine_));
    return info_;
}

} // namespace trencadis::scalapack
