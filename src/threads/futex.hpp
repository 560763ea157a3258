#pragma once
#include "glt/primitives/futex.hpp" // of the user-level threads, which are built without us
