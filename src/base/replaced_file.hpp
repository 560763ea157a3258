#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace trencadis {

/// May this process make a file so long? Beyond its limit (RLIMIT_FSIZE) a write does not fail, it ends the process, whose file
/// ours is not.
bool may_write(std::uintmax_t bytes);

/// Replaces a file, with the folders it lies in, as a whole: a reader in another process finds the old one or the new one; of two
/// that write at once one stays. `durably`: also after a loss of power, for which the disk is waited for. Returns 0 or the
/// system's error number, with nothing changed. Any thread. Throws std::bad_alloc.
int replace_file(const std::filesystem::path& file, std::string_view text, bool durably = false);

} // namespace trencadis
