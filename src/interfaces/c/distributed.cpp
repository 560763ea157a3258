#include "trencadis/distributed.h"

#include "algorithms/arguments.hpp"
#include "drivers/distributed.hpp"
#include "drivers/local_blocks.hpp"
#include "drivers/shared_call.hpp"
#include "graph/processes.hpp"
#include "interfaces/c/edge.hpp"

// Routines on matrices that several processes hold in blocks. What is wrong on one process alone is refused by all of them.

using namespace trencadis;
using namespace trencadis::c;

namespace {

/// A matrix as a call has it, with the numbers of its array and its descriptor among the arguments.
struct Given {
    const void* array;
    const trc_descriptor* desc;
    int number, desc_number;
    int element;

    LocalBlocks blocks() const
    {
        return {desc->rows,      desc->cols,      desc->mb, desc->nb,  desc->grid_rows, desc->grid_cols,
                desc->first_row, desc->first_col, array,    desc->lld, element};
    }
    void check(Crew& crew) const
    {
        require(desc, desc_number, "the descriptor");
        require_local(crew, blocks(), desc_number);
    }
};

/// A call's session, arguments and their checks.
class Call {
public:
    Call(trc_session* session, const char* routine) : session_(session_of(session)), routine_(routine)
    {
        (void)distributed::processes(crew()); // one process alone has nobody to agree with
    }
    Crew& crew() { return session_; }

    template <class Check> void check(Check&& check)
    {
        checked(crew(), routine_, [&] { check(); });
    }
    void check_matrices(std::initializer_list<Given> read, std::initializer_list<Given> written)
    {
        for (const Given& A : read) A.check(crew());
        for (const Given& A : written) A.check(crew());
        for (const Given& to : written) {
            for (const Given& from : read) require_apart(crew(), to.blocks(), {from.blocks()}, to.number);
            for (const Given& other : written)
                if (other.number < to.number) require_apart(crew(), to.blocks(), {other.blocks()}, to.number);
        }
    }
    /// With the numbers of the arguments as here, where the driver counts a matrix as one: numbers[i] of its i-th.
    template <class Body> auto run(std::initializer_list<int> numbers, Body&& body)
    {
        try {
            return body();
        } catch (const Error& error) {
            const auto i = std::size_t(error.argument());
            if (i == 0 || i > numbers.size()) throw;
            throw Error(error.code(), numbers.begin()[i - 1], error.what());
        }
    }

private:
    SessionInCall session_;
    const char* const routine_;
};

template <class E> E letter(int number, const char* name, char given)
{
    const argument::Flag<E> flag{name, given};
    flag.require(number);
    return flag.given;
}
template <Scalar T> Given given(const T* array, const trc_descriptor* desc, int number)
{
    return {array, desc, number, number + 1, int(sizeof(T))};
}
template <Scalar T> HeldTiles<T> tiles(const Given& A) { return A.blocks().held<T>(); }

template <Scalar T> T factor(const T& by_value) { return by_value; }
template <Scalar T> T factor(const T* by_address) { return *by_address; }
template <Scalar T> void require_factor(const T&, int, const char*) {}
template <Scalar T> void require_factor(const T* by_address, int number, const char* name) { require(by_address, number, name); }

template <Scalar T> int potrf(trc_session* session, char uplo, T* a, const trc_descriptor* desca, int64_t* info)
{
    return guarded([&] {
        Call call(session, "potrf");
        const Given A = given(a, desca, 2);
        Uplo part{};
        call.check([&] {
            part = letter<Uplo>(1, "uplo", uplo);
            call.check_matrices({}, {A});
            require(info, 4, "info");
        });
        *info = call.run({1, 3}, [&] { return distributed::potrf<T>(call.crew(), part, tiles<T>(A)); });
    });
}

template <Scalar T>
int potrs(trc_session* session, char uplo, const T* a, const trc_descriptor* desca, T* b, const trc_descriptor* descb,
          int64_t* info)
{
    return guarded([&] {
        Call call(session, "potrs");
        const Given A = given(a, desca, 2), B = given(b, descb, 4);
        Uplo part{};
        call.check([&] {
            part = letter<Uplo>(1, "uplo", uplo);
            call.check_matrices({A}, {B});
            require(info, 6, "info");
        });
        call.run({1, 3, 5}, [&] { distributed::potrs<T>(call.crew(), part, tiles<T>(A), tiles<T>(B)); });
        *info = 0;
    });
}

template <Scalar T>
int posv(trc_session* session, char uplo, T* a, const trc_descriptor* desca, T* b, const trc_descriptor* descb, int64_t* info)
{
    return guarded([&] {
        Call call(session, "posv");
        const Given A = given(a, desca, 2), B = given(b, descb, 4);
        Uplo part{};
        call.check([&] {
            part = letter<Uplo>(1, "uplo", uplo);
            call.check_matrices({}, {A, B});
            require(info, 6, "info");
        });
        *info = call.run({1, 3, 5}, [&] { return distributed::posv<T>(call.crew(), part, tiles<T>(A), tiles<T>(B)); });
    });
}

void require_pivots(const int64_t* ipiv, const trc_descriptor* desc, int number)
{
    if (std::min(desc->rows, desc->cols) > 0) require(ipiv, number, "ipiv");
}

template <Scalar T> int getrf(trc_session* session, T* a, const trc_descriptor* desca, int64_t* ipiv, int64_t* info)
{
    return guarded([&] {
        Call call(session, "getrf");
        const Given A = given(a, desca, 1);
        call.check([&] {
            call.check_matrices({}, {A});
            require_pivots(ipiv, desca, 3);
            require(info, 4, "info");
        });
        *info = call.run({2}, [&] { return distributed::getrf<T>(call.crew(), tiles<T>(A), ipiv); });
    });
}

template <Scalar T>
int getrs(trc_session* session, char trans, const T* a, const trc_descriptor* desca, const int64_t* ipiv, T* b,
          const trc_descriptor* descb, int64_t* info)
{
    return guarded([&] {
        Call call(session, "getrs");
        const Given A = given(a, desca, 2), B = given(b, descb, 5);
        Op op{};
        call.check([&] {
            op = letter<Op>(1, "trans", trans);
            call.check_matrices({A}, {B});
            require_pivots(ipiv, desca, 4);
            argument::Pivots{"ipiv", ipiv, std::min(desca->rows, desca->cols), desca->rows}.require(4);
            require(info, 7, "info");
        });
        call.run({1, 3, 4, 6}, [&] { distributed::getrs<T>(call.crew(), op, tiles<T>(A), ipiv, tiles<T>(B)); });
        *info = 0;
    });
}

template <Scalar T>
int gesv(trc_session* session, T* a, const trc_descriptor* desca, int64_t* ipiv, T* b, const trc_descriptor* descb, int64_t* info)
{
    return guarded([&] {
        Call call(session, "gesv");
        const Given A = given(a, desca, 1), B = given(b, descb, 4);
        call.check([&] {
            call.check_matrices({}, {A, B});
            require_pivots(ipiv, desca, 3);
            require(info, 6, "info");
        });
        *info = call.run({2, 3, 5}, [&] { return distributed::gesv<T>(call.crew(), tiles<T>(A), ipiv, tiles<T>(B)); });
    });
}

template <Scalar T> int geqrf(trc_session* session, T* a, const trc_descriptor* desca)
{
    return guarded([&] {
        Call call(session, "geqrf");
        const Given A = given(a, desca, 1);
        call.check([&] { call.check_matrices({}, {A}); });
        call.run({2}, [&] { distributed::geqrf<T>(call.crew(), tiles<T>(A)); });
    });
}

template <Scalar T, class Factor>
int gemm(trc_session* session, char transa, char transb, Factor alpha, const T* a, const trc_descriptor* desca, const T* b,
         const trc_descriptor* descb, Factor beta, T* c, const trc_descriptor* descc)
{
    return guarded([&] {
        Call call(session, "gemm");
        const Given A = given(a, desca, 4), B = given(b, descb, 6), C = given(c, descc, 9);
        Op op_a{}, op_b{};
        call.check([&] {
            op_a = letter<Op>(1, "transa", transa);
            op_b = letter<Op>(2, "transb", transb);
            require_factor<T>(alpha, 3, "alpha");
            require_factor<T>(beta, 8, "beta");
            call.check_matrices({A, B}, {C});
        });
        call.run({1, 2, 3, 5, 7, 8, 10}, [&] {
            distributed::gemm<T>(call.crew(), op_a, op_b, factor<T>(alpha), tiles<T>(A), tiles<T>(B), factor<T>(beta),
                                 tiles<T>(C));
        });
    });
}

template <Scalar T, class Factor>
int trsm(trc_session* session, char side, char uplo, char transa, char diag, Factor alpha, const T* a,
         const trc_descriptor* desca, T* b, const trc_descriptor* descb)
{
    return guarded([&] {
        Call call(session, "trsm");
        const Given A = given(a, desca, 6), B = given(b, descb, 8);
        call.check([&] {
            letter<Side>(1, "side", side);
            letter<Uplo>(2, "uplo", uplo);
            letter<Op>(3, "transa", transa);
            letter<Diag>(4, "diag", diag);
            require_factor<T>(alpha, 5, "alpha");
            call.check_matrices({A}, {B});
        });
        call.run({1, 2, 3, 4, 5, 7, 9}, [&] {
            distributed::trsm<T>(call.crew(), Letter<Side>(side), Letter<Uplo>(uplo), Letter<Op>(transa), Letter<Diag>(diag),
                                 factor<T>(alpha), tiles<T>(A), tiles<T>(B));
        });
    });
}

template <Scalar T>
int copy(trc_session* session, int64_t m, int64_t n, const T* a, int64_t ia, int64_t ja, const trc_descriptor* desca, T* b,
         int64_t ib, int64_t jb, const trc_descriptor* descb)
{
    return guarded([&] {
        Call call(session, "gemr2d");
        const Given A{a, desca, 3, 6, int(sizeof(T))}, B{b, descb, 7, 10, int(sizeof(T))};
        call.check([&] { call.check_matrices({A}, {B}); });
        call.run({6, 4, 5, 10, 8, 9, 1, 2},
                 [&] { distributed::copy<T>(call.crew(), tiles<T>(A), ia - 1, ja - 1, tiles<T>(B), ib - 1, jb - 1, m, n); });
    });
}

} // namespace

extern "C" {

int trc_session_processes(trc_session* session, int* rank, int* size)
{
    return guarded([&] {
        require(rank, 1, "rank");
        require(size, 2, "size");
        const SessionInCall called(session);
        const Processes& all = distributed::processes(static_cast<Crew&>(called));
        *rank = all.rank();
        *size = all.size();
    });
}

int64_t trc_local_extent(int64_t n, int64_t nb, int place, int first, int places)
{
    int64_t extent = 0;
    const int code = guarded([&] {
        argument::Within{"n", n, 0, argument::any_size}.require(1);
        argument::Within{"nb", nb, 1, argument::any_size}.require(2);
        argument::Within{"places", places, 1, std::numeric_limits<int>::max()}.require(5);
        argument::Within{"place", place, 0, places - 1}.require(3);
        argument::Within{"first", first, 0, places - 1}.require(4);
        extent = local_extent(n, nb, place, first, places);
    });
    return code ? code : extent;
}

// T: the scalar; F: how its factors come.
#define TRC_P(p, T, F)                                                                                                           \
    int trc_p##p##potrf(trc_session* s, char uplo, T* a, const trc_descriptor* da, int64_t* info)                                \
    {                                                                                                                            \
        return potrf(s, uplo, a, da, info);                                                                                      \
    }                                                                                                                            \
    int trc_p##p##potrs(trc_session* s, char uplo, const T* a, const trc_descriptor* da, T* b, const trc_descriptor* db,         \
                        int64_t* info)                                                                                           \
    {                                                                                                                            \
        return potrs(s, uplo, a, da, b, db, info);                                                                               \
    }                                                                                                                            \
    int trc_p##p##posv(trc_session* s, char uplo, T* a, const trc_descriptor* da, T* b, const trc_descriptor* db, int64_t* info) \
    {                                                                                                                            \
        return posv(s, uplo, a, da, b, db, info);                                                                                \
    }                                                                                                                            \
    int trc_p##p##getrf(trc_session* s, T* a, const trc_descriptor* da, int64_t* ipiv, int64_t* info)                            \
    {                                                                                                                            \
        return getrf(s, a, da, ipiv, info);                                                                                      \
    }                                                                                                                            \
    int trc_p##p##getrs(trc_session* s, char trans, const T* a, const trc_descriptor* da, const int64_t* ipiv, T* b,             \
                        const trc_descriptor* db, int64_t* info)                                                                 \
    {                                                                                                                            \
        return getrs(s, trans, a, da, ipiv, b, db, info);                                                                        \
    }                                                                                                                            \
    int trc_p##p##gesv(trc_session* s, T* a, const trc_descriptor* da, int64_t* ipiv, T* b, const trc_descriptor* db,            \
                       int64_t* info)                                                                                            \
    {                                                                                                                            \
        return gesv(s, a, da, ipiv, b, db, info);                                                                                \
    }                                                                                                                            \
    int trc_p##p##geqrf(trc_session* s, T* a, const trc_descriptor* da) { return geqrf(s, a, da); }                              \
    int trc_p##p##gemm(trc_session* s, char transa, char transb, F alpha, const T* a, const trc_descriptor* da, const T* b,      \
                       const trc_descriptor* db, F beta, T* c, const trc_descriptor* dc)                                         \
    {                                                                                                                            \
        return gemm<T>(s, transa, transb, alpha, a, da, b, db, beta, c, dc);                                                     \
    }                                                                                                                            \
    int trc_p##p##trsm(trc_session* s, char side, char uplo, char transa, char diag, F alpha, const T* a,                        \
                       const trc_descriptor* da, T* b, const trc_descriptor* db)                                                 \
    {                                                                                                                            \
        return trsm<T>(s, side, uplo, transa, diag, alpha, a, da, b, db);                                                        \
    }                                                                                                                            \
    int trc_p##p##gemr2d(trc_session* s, int64_t m, int64_t n, const T* a, int64_t ia, int64_t ja, const trc_descriptor* da,     \
                         T* b, int64_t ib, int64_t jb, const trc_descriptor* db)                                                 \
    {                                                                                                                            \
        return copy(s, m, n, a, ia, ja, da, b, ib, jb, db);                                                                      \
    }
TRC_P(s, float, float)
TRC_P(d, double, double)
TRC_P(c, trc_complex_float, const trc_complex_float*)
TRC_P(z, trc_complex_double, const trc_complex_double*)
#undef TRC_P

} // extern "C"
