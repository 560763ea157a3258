#include "threads/backends/plain_thread.hpp"
#include "threads/flag.hpp"
#include "threads/parker.hpp"
#include "threads/threads.hpp"

namespace trencadis {
namespace {

class OsSeat;

/// One operating system thread per unit.
class OsUnit final : public WorkUnit {
public:
    OsUnit(OsSeat& seat, std::function<WorkUnit*()> body) : seat_(seat), body_(std::move(body)) {}
    ~OsUnit() // nobody has the seat
    {
        if (!had_seat_) parker_.unpark();
    }
    void sleep() { parker_.park(); }
    void wake()
    {
        had_seat_ = true;
        parker_.unpark();
    }

private:
    void run();

    OsSeat& seat_;
    const std::function<WorkUnit*()> body_;
    Parker parker_;
    bool had_seat_ = false;                              ///< accesses are ordered as the seat is passed on
    PlainThread thread_{"trencadis", [this] { run(); }}; ///< the last member: it uses the others
};

class OsSeat final : public Seat {
public:
    explicit OsSeat(int cpu) : cpu_(cpu) {}
    ~OsSeat() override { taken_.wait_until_clear(); }
    WorkUnit& make_unit(std::function<WorkUnit*()> body) override
    {
        units_.reserve(units_.size() + 1);
        return *units_.emplace_back(std::make_unique<OsUnit>(*this, std::move(body)));
    }
    void give(WorkUnit& unit) override
    {
        taken_.set();
        static_cast<OsUnit&>(unit).wake();
    }
    void pass(WorkUnit& self, WorkUnit& next) override
    {
        static_cast<OsUnit&>(next).wake();
        static_cast<OsUnit&>(self).sleep();
    }
    void leave(WorkUnit* next)
    {
        if (next) static_cast<OsUnit*>(next)->wake();
        else taken_.clear();
    }
    int cpu() const { return cpu_; }

private:
    const int cpu_;
    Flag taken_;
    std::vector<std::unique_ptr<OsUnit>> units_; ///< changed by who has the seat
};

void OsUnit::run()
{
    pin_to(seat_.cpu());
    sleep();
    if (had_seat_) seat_.leave(body_());
}

class OsThreads final : public Threads {
public:
    std::vector<std::unique_ptr<Seat>> make_seats(const std::vector<int>& cpus) override
    {
        std::vector<std::unique_ptr<Seat>> seats;
        for (const int cpu : cpus) seats.push_back(std::make_unique<OsSeat>(cpu));
        return seats;
    }
};

} // namespace

extern const ThreadsEntry threads_os;
const ThreadsEntry threads_os{
    {"os", "one operating system thread per unit, workers pinned to their cores", "POSIX threads"},
    [] { return std::unique_ptr<Threads>(std::make_unique<OsThreads>()); },
};

} // namespace trencadis
