#pragma once
#include <cstddef>
#include <cstdio>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace trencadis::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool can_limit_address_space = false; // shadow memory is part of it
#else
inline constexpr bool can_limit_address_space = true;
#endif

/// From now on this process gets at most `more` bytes of address space beyond what it has. For children of death tests.
inline void limit_address_space(std::size_t more)
{
    mallopt(M_MMAP_THRESHOLD, 64 << 10); // what is freed is not kept for later
    malloc_trim(0);
    long pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    const rlim_t limit = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
    const rlimit limits{limit, limit};
    setrlimit(RLIMIT_AS, &limits);
}

} // namespace trencadis::testing
