#pragma once
#include "base/types.hpp"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis {

/// What tells the speed of one kernel from that of another, in real and in simulated runs: who computes what in which precision,
/// on what kind of unit.
struct KernelKey {
    std::string codelet; ///< its unique name without the precision: "gemm", "gemm.packed"
    char precision = 0;  ///< s, d, c, z; 0: of none
    std::string unit;    ///< a core kind's name or a device's kind

    auto operator<=>(const KernelKey&) const = default;
};

/// Sizes on a scale that grows by 1 when the flops double: the logarithm to base 2, straight between whole numbers, where it is
/// at most
/// 0.09 too small. It takes a nanosecond.
double size_of(Flops flops);
Flops flops_of(double size);

/// What was seen of a kernel at a size.
struct KernelSpeed {
    double size;
    double rate; ///< flops per second
};

/// Speeds of kernels by size, kept between runs. The table is written by whom it belongs to.
class KernelSpeeds {
public:
    /// Sizes are told apart by a factor of 4 in the flops: one figure for each.
    static constexpr int buckets = 32;
    static int bucket(double size);

    void set(const KernelKey& key, KernelSpeed speed) { rows_[key].insert_or_assign(bucket(speed.size), speed); }
    /// What the other table has takes the place of what is here.
    void merge(const KernelSpeeds& newer);
    /// By bucket; none: null.
    const std::map<int, KernelSpeed>* find(const KernelKey& key) const;
    bool empty() const { return rows_.empty(); }
    std::size_t size() const { return rows_.size(); }

    /// What is there; empty when there is none, or when it is of another version, torn or damaged.
    static KernelSpeeds read(const std::filesystem::path& file);
    /// Replaces the file as a whole, so that a reader in another process sees the old one or the new one; of two that write at
    /// once one stays. False when it cannot be written: then the speeds are found out anew next time, and nothing else is lost.
    bool write(const std::filesystem::path& file) const;

private:
    std::map<KernelKey, std::map<int, KernelSpeed>> rows_;
};

/// The first processor's model on one line: enough to tell a new host under an old name.
std::string processor_identity();

/// Where the kernel speeds of this host are kept, beside the speeds of its cores (machine/speed_cache.hpp); nothing when there is
/// no cache folder. `kernels`: who computes, with version: speeds of others are worth nothing.
std::optional<std::filesystem::path> kernel_speeds_path(std::string_view host, std::string_view kernels);

} // namespace trencadis
