#include "algorithms/forms/residence.hpp"

#include "base/error.hpp"
#include "graph/owner_computes.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace trencadis {

void LastReads::take(const Codelet&, const Arguments&, std::span<const Access> accesses, const TaskOptions&)
{
    for (const Access& access : accesses) {
        const void* const address = access.datum.address;
        if (access.mode == AccessMode::read) reads_[address] = accesses_;
        else if (const auto read = reads_.find(address); read != reads_.end()) {
            // One that reads it too takes it over where it is.
            if (access.mode == AccessMode::write) last_.push_back(read->second);
            reads_.erase(read);
        }
        ++accesses_;
    }
}

std::vector<bool> LastReads::all() const
{
    std::vector<bool> all(accesses_);
    for (const std::size_t access : last_) all[access] = true;
    for (const auto& [address, access] : reads_) all[access] = true;
    return all;
}

namespace {

std::size_t between(const void* begin, const void* at)
{
    return std::size_t(reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(begin));
}

} // namespace

Datum Residence::at_home(const Datum& name) const
{
    for (const ResidentMatrix& matrix : matrices)
        if (const auto at = matrix.names.tile_of(name.address)) {
            const LocalPlace local = matrix.at(at->i, at->j);
            return Datum(local.data, name.rows, name.cols, local.ld, std::size_t(name.element)).owned_by(name.owner);
        }
    for (const ResidentVector& vector : vectors) {
        if (name.address < vector.names || between(vector.names, name.address) >= vector.bytes * std::size_t(processes)) continue;
        Datum here = name.at_home(any_node);
        here.address = static_cast<const char*>(vector.data) + between(vector.names, name.address) % vector.bytes;
        return here;
    }
    return name.at_home(named_only);
}

void ResidentFlow::require_tile(const Datum& datum) const
{
    for (const ResidentMatrix& matrix : residence_.matrices) {
        const auto at = matrix.names.tile_of(datum.address);
        if (!at) continue;
        const Index rows = std::min(matrix.mb, matrix.rows - at->i * matrix.mb);
        const Index cols = std::min(matrix.nb, matrix.cols - at->j * matrix.nb);
        if (matrix.names.address_of(*at) == datum.address && datum.rows <= rows && datum.cols <= cols) return;
        throw Error(ErrorCode::bad_argument, "form '" + std::string(form_) +
                                                 "' cuts this matrix otherwise than its tiles, which "
                                                 "several processes hold; take another form, or other tiles");
    }
}

Datum ResidentFlow::chosen(const Datum& datum, std::int16_t executor) const
{
    for (const ResidentVector& vector : residence_.vectors) {
        if (!vector.same || datum.address < vector.same || between(vector.same, datum.address) >= vector.bytes) continue;
        Datum chosen = datum.owned_by(executor);
        chosen.address =
            static_cast<const char*>(vector.names) + std::size_t(executor) * vector.bytes + between(vector.same, datum.address);
        return chosen;
    }
    return datum;
}

void ResidentFlow::take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                        const TaskOptions& options)
{
    const std::int16_t executor = executor_of(accesses);
    passed_.assign(accesses.begin(), accesses.end());
    for (Access& access : passed_) {
        require_tile(access.datum);
        access.datum = chosen(access.datum, executor);
        access.last = last_[accesses_++];
    }
    pass_on(codelet, arguments, passed_, options);
}

} // namespace trencadis
