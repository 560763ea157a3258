#include "algorithms/arguments.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace trencadis::argument {
namespace {

[[noreturn]] void refuse(int number, const std::string& message) { throw Error(ErrorCode::bad_argument, number, message); }

/// Matrices are capitals in the code and small letters to callers.
std::string shown(const char* name)
{
    std::string text = name;
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return text;
}

std::string shown(char given)
{
    if (std::isprint(static_cast<unsigned char>(given))) return std::string("'") + given + "'";
    return "character " + std::to_string(int(given));
}

} // namespace

void refuse_letter(int number, const char* name, char given, std::string_view letters)
{
    std::string right;
    for (const char letter : letters) {
        if (!right.empty()) right += letter == letters.back() ? " or " : ", ";
        right += '\'';
        right += letter;
        right += '\'';
    }
    refuse(number, std::string(name) + " is " + shown(given) + ", must be " + right);
}

void refuse_null(int number, const char* name) { refuse(number, std::string(name) + " is null"); }

void refuse_size(int number, const char* name, Index value, const char* right)
{
    refuse(number, std::string(name) + " is " + std::to_string(value) + ", must be " + right);
}

void Within::require(int number) const
{
    if (value >= least && value <= most) return;
    const std::string floor = "at least " + std::to_string(least);
    refuse_size(number, name, value, (most == any_size ? floor : floor + " and at most " + std::to_string(most)).c_str());
}

void refuse_factor(int number, const char* name, Index place, double value)
{
    refuse(number, std::string(name) + "(" + std::to_string(place + 1) + ") is " + std::to_string(value) + ", must be positive");
}

void Magnitude::require(int number) const
{
    if (!there) refuse_null(number, name);
    if (value < 0) refuse(number, std::string(name) + " is " + std::to_string(value) + ", must be at least 0");
}

void Matrix::require(int number) const
{
    const auto ld_name = [&] { return "ld" + shown(name); }; // made in no call that is in order
    const Index least = std::max<Index>(1, region.rows);
    if (region.ld < least)
        refuse_size(number + 1, ld_name().c_str(), region.ld, ("at least max(1, rows) = " + std::to_string(least)).c_str());
    Index bytes = 0;
    if (__builtin_mul_overflow(region.ld, region.cols, &bytes) || __builtin_mul_overflow(bytes, Index(region.element), &bytes))
        refuse(number + 1, ld_name() + " is " + std::to_string(region.ld) + ", which with " + std::to_string(region.cols) +
                               " columns is beyond the address space");
    if (!region.data && region.rows > 0 && region.cols > 0) refuse(number, shown(name) + " is null, must point to the matrix");
}

void Matrix::require_apart(int number, const Matrix& other) const
{
    if (overlap(region, other.region))
        refuse(number, shown(name) + " overlaps " + shown(other.name) + ", which the routine reads while it writes " +
                           shown(name) + "; give it memory of its own");
}

void Pivots::require(int number) const
{
    if (!data && count > 0) refuse(number, std::string(name) + " is null, must point to " + std::to_string(count) + " integers");
    for (Index i = 0; rows > 0 && i < count; ++i)
        if (data[i] < 1 || data[i] > rows)
            refuse(number, std::string(name) + "(" + std::to_string(i + 1) + ") is " + std::to_string(data[i]) +
                               ", must be a row, 1 to " + std::to_string(rows));
}

} // namespace trencadis::argument
