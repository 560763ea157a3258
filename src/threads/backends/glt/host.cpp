#include "threads/backends/glt/host.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace trencadis {

namespace {

/// What a keeper starts with.
struct KeeperStart {
    GltPlace& place;
    std::latch& all_there;
};

} // namespace

GltHost::GltHost(const glt_table& table, int places) : table_(table), all_there_(places + 1)
{
    for (int i = 0; i < places; ++i) places_.push_back(std::make_unique<GltPlace>(table));
    thread_ = std::make_unique<PlainThread>("trencadis-host", [this] { run(); }); // its signal mask goes to the library's threads
    started_.park();
    if (failure_.empty()) return;
    thread_.reset();
    throw Error(ErrorCode::environment, std::string("thread back end '") + table.name + "' does not start: " + failure_);
}

GltHost::~GltHost()
{
    end_.unpark();
    thread_.reset();
}

int GltHost::leased() const
{
    return static_cast<int>(std::count_if(places_.begin(), places_.end(), [](const auto& place) { return place->leased; }));
}

/// The life of the host's thread.
void GltHost::run()
{
    std::vector<GLT_ult> keepers;
    const bool runs = start(keepers);
    started_.unpark();
    if (!runs) return;
    end_.park();
    for (const auto& place : places_) place->dismiss();
    for (GLT_ult& keeper : keepers) table_.ult_free(&keeper); // joins
    table_.finalize();
}

/// False: it did not start, and failure_ says why.
bool GltHost::start(std::vector<GLT_ult>& keepers)
{
    table_.set_error_handler([](int, const char*) {}); // we ask for each call's answer
    GLT_options options{};
    options.num_threads = static_cast<int>(places_.size()) + 1;
    options.stack_size = GltPlace::stack_bytes;
    options.bind = -1; // each place pins its thread
    if (table_.init_with(&options) != GLT_SUCCESS) {
        failure_ = table_.last_message();
        return false;
    }
    GLT_attributes attributes;
    table_.attributes_init(&attributes);
    attributes.placement = table_.can(GLT_CAN_PLACE) == GLT_CANNOT ? GLT_PLACE_HINT : GLT_PLACE_STRICT;
    attributes.name = "keeper";
    for (const auto& place : places_) {
        attributes.thread = static_cast<int>(keepers.size()) + 1;
        auto* const first = new KeeperStart{*place, all_there_};
        GLT_ult keeper{};
        if (table_.ult_create_with(&GltHost::keep, first, &attributes, &keeper) != GLT_SUCCESS) {
            failure_ = table_.last_message();
            delete first;
            break;
        }
        keepers.push_back(keeper);
    }
    if (failure_.empty()) {
        // They sleep in the operating system until all are there, so they are on as many threads, also where the library
        // does not place them.
        all_there_.arrive_and_wait();
        return true;
    }
    all_there_.count_down(static_cast<std::ptrdiff_t>(places_.size() - keepers.size()) + 1);
    for (const auto& place : places_) place->dismiss();
    for (GLT_ult& keeper : keepers) table_.ult_free(&keeper);
    table_.finalize();
    return false;
}

void GltHost::keep(void* start)
{
    const std::unique_ptr<KeeperStart> mine(static_cast<KeeperStart*>(start));
    mine->all_there.arrive_and_wait();
    mine->place.keep();
}

} // namespace trencadis
