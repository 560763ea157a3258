#pragma once
#include "glt/primitives/parker.hpp" // of the user-level threads, which are built without us
