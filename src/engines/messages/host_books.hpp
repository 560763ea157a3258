#pragma once
#include "base/types.hpp"
#include "graph/data.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trencadis {

/// What one host holds and what it sends, of those that work together.
struct HostCount {
    std::int64_t messages_sent = 0, messages_received = 0;
    Bytes bytes_sent = 0, bytes_received = 0;
    Bytes owned = 0;  ///< data that the host holds for good
    Bytes copies = 0; ///< of others' data, now
    Bytes peak = 0;   ///< the most that it held at one time, both together
};

/// Which host has a copy of which datum that another one holds. Sparse: only copies that somebody reads are known, so that books
/// grow with the messages and not with data times hosts.
///
/// A copy is of one version of a datum: it serves all readers of its host until the datum is written again, and its memory is
/// free when the last of them has ended and no other can come. Pure; the flow that submits and the engine that carries messages
/// both write here.
class HostBooks {
public:
    using CopyId = std::uint32_t;

    explicit HostBooks(int hosts) : hosts_(static_cast<std::size_t>(hosts)) {}

    // ---- as tasks are submitted -----------------------------------------------------------------------------------
    /// A task names the datum: its owner has it.
    void know(const Datum& datum);
    /// The host's copy of the datum as it is by now; none: somebody has to send it.
    std::optional<CopyId> copy_of(const Datum& datum, int host) const;
    CopyId add_copy(const Datum& datum, int host);
    void add_reader(CopyId copy) { ++copies_[copy].readers; }
    /// A task writes it: copies are of an older version from now on, but for that of the host that wrote.
    void written(const Datum& datum, int by);
    void sent(int from, int to, Bytes bytes);
    /// No task will be submitted any more.
    void complete();

    /// A name for a copy, and the copy that a name is of; none: it is no copy's.
    static Datum datum_of(CopyId copy, const Datum& original);
    std::optional<CopyId> named_by(const void* address) const;

    // ---- as tasks run ---------------------------------------------------------------------------------------------
    void begins(CopyId copy); ///< its memory is in use from now on
    void used(CopyId copy);   ///< one of its readers has ended

    const std::vector<HostCount>& hosts() const { return hosts_; }
    const HostCount& busiest_sender() const;
    const HostCount& fullest() const;

private:
    struct Copy {
        Bytes bytes;
        std::uint32_t readers = 0; ///< submitted and not over
        std::int16_t host;
        bool here = false;
        bool last = false; ///< nobody else will read it
    };
    struct Known {
        Bytes bytes;
        std::vector<std::pair<std::int16_t, CopyId>> copies; ///< of its version, by host
    };
    void drop_if_over(Copy& copy);

    std::vector<HostCount> hosts_;
    std::unordered_map<const void*, Known> data_;
    std::vector<Copy> copies_;
};

} // namespace trencadis
