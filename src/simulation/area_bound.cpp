#include "simulation/area_bound.hpp"

#include <cmath>
#include <limits>

namespace trencadis {
namespace {

/// max c x  so that  A x <= b, x >= 0, with b >= 0: the tableau has a slack per row, and its last row is -c.
class Simplex {
public:
    Simplex(std::size_t rows, std::size_t columns)
        : rows_(rows), width_(columns + rows + 1), cells_((rows + 1) * width_), basis_(rows)
    {
        for (std::size_t r = 0; r < rows; ++r) {
            at(r, columns + r) = 1;
            basis_[r] = columns + r;
        }
    }
    double& at(std::size_t row, std::size_t column) { return cells_[row * width_ + column]; }
    double& bound(std::size_t row) { return at(row, width_ - 1); }
    double& gain(std::size_t column) { return at(rows_, column); }

    double maximum()
    {
        while (step()) {}
        return bound(rows_);
    }

private:
    static constexpr double tiny = 1e-12;

    bool step()
    {
        std::size_t column = 0;
        while (column + 1 < width_ && gain(column) >= -tiny) ++column;
        if (column + 1 == width_) return false;
        std::size_t row = rows_;
        for (std::size_t r = 0; r < rows_; ++r) {
            if (at(r, column) <= tiny) continue;
            const double ratio = bound(r) / at(r, column), best = row < rows_ ? bound(row) / at(row, column) : 0;
            if (row == rows_ || ratio < best || (ratio == best && basis_[r] < basis_[row])) row = r;
        }
        if (row == rows_) return false; // not bounded: does not happen where every class has a kind
        pivot(row, column);
        return true;
    }
    void pivot(std::size_t row, std::size_t column)
    {
        const double by = at(row, column);
        for (std::size_t c = 0; c < width_; ++c) at(row, c) /= by;
        for (std::size_t r = 0; r <= rows_; ++r) {
            const double times = r == row ? 0 : at(r, column);
            if (times == 0) continue;
            for (std::size_t c = 0; c < width_; ++c) at(r, c) -= times * at(row, c);
        }
        basis_[row] = column;
    }

    std::size_t rows_, width_;
    std::vector<double> cells_;
    std::vector<std::size_t> basis_;
};

} // namespace

/// Dual: max sum of y(c)  so that  y(c) <= work(c, k) p(k) for all c, k and sum of units(k) p(k) <= 1; p is the price of a second
/// on a kind.
Seconds area_bound(const DivisibleWork& divisible)
{
    const std::size_t classes = divisible.work.size(), kinds = divisible.units.size();
    std::size_t pairs = 0;
    double scale = 0; // so that the numbers are near 1
    for (const auto& on_kind : divisible.work) {
        const std::size_t before = pairs;
        for (std::size_t k = 0; k < kinds; ++k)
            if (divisible.units[k] > 0 && std::isfinite(on_kind[k])) {
                ++pairs;
                scale = std::max(scale, on_kind[k]);
            }
        if (pairs == before) return std::numeric_limits<Seconds>::infinity();
    }
    if (scale == 0) return 0;
    Simplex dual(pairs + 1, classes + kinds);
    std::size_t row = 0;
    for (std::size_t c = 0; c < classes; ++c) {
        dual.gain(c) = -1;
        for (std::size_t k = 0; k < kinds; ++k) {
            if (divisible.units[k] == 0 || !std::isfinite(divisible.work[c][k])) continue;
            dual.at(row, c) = 1;
            dual.at(row++, classes + k) = -divisible.work[c][k] / scale;
        }
    }
    for (std::size_t k = 0; k < kinds; ++k) dual.at(row, classes + k) = divisible.units[k];
    dual.bound(row) = 1;
    return dual.maximum() * scale;
}

} // namespace trencadis
