// Operating system threads the library did not create: what they need to wait and to have values of keys.
#include "glt/native/keys.hpp"
#include "glt/native/runtime.hpp"
#include "glt/native/wait.hpp"

namespace trencadis::ult {

std::atomic<std::uint64_t> initialisations{0};

namespace {

struct Foreign {
    Unit* unit = nullptr;
    std::uint64_t of = 0; ///< which initialisation the record belongs to; its memory is gone after the finalize
    bool valid() const { return unit && runtime && of == initialisations.load(std::memory_order_relaxed); }
    ~Foreign()
    {
        if (!valid()) return;
        if (unit->values) end_values(*unit);
        if (Slots::end(unit)) unit_slots.give(unit);
    }
};
thread_local Foreign foreign;

} // namespace

[[gnu::noinline]] Unit* foreign_self()
{
    if (foreign.valid()) return foreign.unit;
    auto* unit = static_cast<Unit*>(unit_slots.take());
    if (!unit) return nullptr;
    unit->bits.store(Unit::is_foreign, std::memory_order_relaxed);
    unit->cancelled.store(0, std::memory_order_relaxed);
    unit->values = nullptr;
    unit->counter = 0;
    unit->name = nullptr;
    unit->heap_place = 0;
    unit->tag.store((unit->tag.load(std::memory_order_relaxed) & 0xffff0000u) | static_cast<std::uint32_t>(Kind::foreign),
                    std::memory_order_release);
    foreign.unit = unit;
    foreign.of = initialisations.load(std::memory_order_relaxed);
    return unit;
}

} // namespace trencadis::ult
