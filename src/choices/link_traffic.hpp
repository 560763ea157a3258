#pragma once
#include "machine/routes.hpp"

#include <map>
#include <utility>
#include <vector>

namespace trencadis::choices {

/// What cores of one memory node use in another one's memory, on its way: at any time all get the same of what they share, as
/// far as that lets them (max-min fairness: Bertsekas, Gallager 1992).
class LinkTraffic {
public:
    explicit LinkTraffic(const Machine& machine);

    /// So many bytes leave one node for another, of which `home` has them in its memory. Time does not go back.
    void send(int who, int from, int to, int home, Bytes bytes, Seconds now);
    /// When the next of them will be there, if nothing else is sent; infinite: nothing is under way.
    Seconds next() const;
    /// Whose bytes are there.
    std::vector<int> arrived(Seconds now);

    const Routes::Route& route(int from, int to) const { return routes_.between(from, to); }
    /// How long a use of so many bytes in so many pieces would take, were nothing else under way.
    Seconds alone(int from, int to, Bytes bytes, int pieces) const;

private:
    /// All that goes the same way goes at the same rate.
    struct Way {
        std::vector<int> over; ///< what it passes
        int transfers = 0;
        double rate = 0;
    };
    struct Transfer {
        int who, way;
        Bytes left;
    };
    int way_of(int from, int to, int home);
    void advance(Seconds now);
    void share();

    const Machine& machine_;
    Routes routes_;
    std::vector<std::pair<int, int>> ends_; ///< of each link
    std::vector<double> capacity_;          ///< of links, 2 l and 2 l + 1 the directions of link l, then of memories; 0: no end
    std::map<std::pair<int, int>, int> numbers_; ///< of ways, by their ends: one of them has the data
    std::vector<Way> ways_;
    std::vector<Transfer> under_way_;
    Seconds now_ = 0;
};

} // namespace trencadis::choices
