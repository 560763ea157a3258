#pragma once
#include "interfaces/scalapack/moved.hpp"

#include <cctype>
#include <optional>

namespace trencadis::scalapack {

inline Part triangle(char uplo) { return std::toupper(static_cast<unsigned char>(uplo)) == 'U' ? Part::upper : Part::lower; }

/// May a matrix stay where it is? And else, how a copy of it is dealt out.
struct Wanted {
    bool stays;
    Blocks blocks;
};

/// A matrix as who computes takes it: where it is, or a copy.
template <Scalar T> class Aligned {
public:
    Aligned(const Operand<T>& A, int m, int n, const Wanted& wanted, Part part = Part::all) : at_(A)
    {
        if (wanted.stays) return;
        copy_.emplace(A, m, n, wanted.blocks, part);
        at_ = copy_->operand();
    }
    bool moved() const { return copy_.has_value(); }
    const Operand<T>& operand() const { return at_; }
    void write_back()
    {
        if (copy_) copy_->write_back();
    }

private:
    Operand<T> at_;
    std::optional<Moved<T>> copy_;
};

} // namespace trencadis::scalapack
