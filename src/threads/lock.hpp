#pragma once
#include "glt/primitives/lock.hpp" // of the user-level threads, which are built without us
