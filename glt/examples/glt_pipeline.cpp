// A pipeline of units with the C++ face: one makes numbers, one squares them, the main program adds them up. An exception that
// leaves a unit arrives where the unit is joined.
#include <cstdio>
#include <deque>
#include <string_view>
#include <trencadis/glt.hpp>

namespace {

/// Holds at most `room` numbers; negative ones end the stream.
class Pipe {
public:
    void put(long number)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return numbers_.size() < room; });
        numbers_.push_back(number);
        changed_.notify_all();
    }
    long take()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !numbers_.empty(); });
        const long number = numbers_.front();
        numbers_.pop_front();
        changed_.notify_all();
        return number;
    }

private:
    static constexpr std::size_t room = 4;
    glt::Mutex mutex_;
    glt::ConditionVariable changed_;
    std::deque<long> numbers_;
};

} // namespace

int main()
try {
    glt::Runtime runtime;
    Pipe numbers, squares;
    glt::Ult maker([&] {
        for (long i = 1; i <= 1000; ++i) numbers.put(i);
        numbers.put(-1);
        throw std::runtime_error("out of numbers");
    });
    glt::Ult squarer([&] {
        for (long number; (number = numbers.take()) >= 0;) squares.put(number * number);
        squares.put(-1);
    });
    long sum = 0;
    for (long square; (square = squares.take()) >= 0;) sum += square;
    squarer.join();
    std::printf("%s: %ld\n", runtime.backend(), sum);
    try {
        maker.join();
    } catch (const std::runtime_error& end) {
        return sum == 333833500 && std::string_view(end.what()) == "out of numbers" ? 0 : 1;
    }
    return 1;
} catch (const glt::Error& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 2;
}
