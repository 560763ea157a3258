#pragma once
#include "threads/backends/glt/place.hpp"
#include "threads/backends/plain_thread.hpp"

#include <latch>
#include <memory>
#include <string>
#include <vector>

namespace trencadis {

/// A running GLT library. Its init makes the caller its thread 0, and the caller of an engine is some thread of the user's: so a
/// thread of our own calls init, sleeps in the operating system as thread 0 and calls finalize at the end.
class GltHost {
public:
    /// Throws Error{environment} when the library does not start.
    GltHost(const glt_table& table, int places);
    ~GltHost(); ///< no place is leased
    GltHost(const GltHost&) = delete;
    GltHost& operator=(const GltHost&) = delete;

    const std::vector<std::unique_ptr<GltPlace>>& places() const { return places_; }
    int leased() const;

private:
    void run();
    bool start(std::vector<GLT_ult>& keepers);
    static void keep(void* seat);

    const glt_table& table_;
    std::vector<std::unique_ptr<GltPlace>> places_;
    std::latch all_there_;
    std::string failure_; ///< written before started_
    Parker started_, end_;
    std::unique_ptr<PlainThread> thread_;
};

} // namespace trencadis
