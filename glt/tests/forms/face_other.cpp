#include "face.hpp"

glt::Ult thrower(const char* text)
{
    return glt::Ult([text] { throw std::runtime_error(text); });
}
