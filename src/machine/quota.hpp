#pragma once
#include <filesystem>
#include <optional>

namespace trencadis {

/// The processor time that the control groups of this process may use, in whole cores: the least that one of them or of those
/// around them is given (cpu.max of version 2, cpu.cfs_quota_us of version 1). None: as much as there is. A container that may
/// use one and a half of sixty-four cores sees all of them: with a worker on each it would be stopped most of the time.
/// `root`: where the system's files are; others for tests.
std::optional<double> quota_of_cores(const std::filesystem::path& root = "/");

/// So many workers make use of it, of `cores`: one more than it has whole ones where a part is left over, and one at least.
int workers_within(std::optional<double> quota, int cores);

} // namespace trencadis
