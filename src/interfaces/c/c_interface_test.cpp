#include "trencadis/trencadis.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <memory>
#include <vector>

namespace {

using ::testing::HasSubstr;

struct SessionDeleter {
    void operator()(trc_session* s) const { trc_session_destroy(s); }
};
struct FlowDeleter {
    void operator()(trc_flow* f) const { trc_flow_destroy(f); }
};
using SessionPointer = std::unique_ptr<trc_session, SessionDeleter>;
using FlowPointer = std::unique_ptr<trc_flow, FlowDeleter>;

SessionPointer make_session(const char* options = nullptr)
{
    trc_session* session = nullptr;
    EXPECT_EQ(trc_session_create(&session, options), TRC_OK) << trc_last_error_message();
    return SessionPointer(session);
}
FlowPointer make_flow(trc_session* session)
{
    trc_flow* flow = nullptr;
    EXPECT_EQ(trc_flow_create(&flow, session, 0), TRC_OK) << trc_last_error_message();
    return FlowPointer(flow);
}

TEST(CInterface, SolvesASystem)
{
    double a[] = {4, 1, 0, 1, 3, 1, 0, 1, 2}, b[] = {6, 10, 8};
    int64_t info = -1;
    ASSERT_EQ(trc_dposv(nullptr, 'l', 3, 1, a, 3, b, 3, &info), TRC_OK) << trc_last_error_message();
    EXPECT_EQ(info, 0);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(b[i], i + 1, 1e-14); // condition below 10, n = 3
}

/// (t - 1)^2 at five places, and at the first three.
TEST(CInterface, SolvesInMixedPrecision)
{
    const double b[] = {1, 0, 1, 4, 9};
    double x[3], a[15];
    for (int i = 0; i < 5; ++i) a[i] = 1, a[i + 5] = i, a[i + 10] = i * i;
    const std::vector<double> before(a, a + 15);
    int steps = -100;
    int64_t info = -100, pivots[3];
    ASSERT_EQ(trc_dgels_mixed(nullptr, 5, 3, 1, a, 5, b, 5, x, 3, &steps, &info), TRC_OK) << trc_last_error_message();
    EXPECT_EQ(info, 0);
    EXPECT_GE(steps, 1);
    EXPECT_NEAR(x[0], 1, 1e-13);
    EXPECT_NEAR(x[1], -2, 1e-13);
    EXPECT_NEAR(x[2], 1, 1e-13);
    EXPECT_EQ(std::vector<double>(a, a + 15), before);
    ASSERT_EQ(trc_dgesv_mixed(nullptr, 3, 1, a, 5, pivots, b, 5, x, 3, &steps, &info), TRC_OK) << trc_last_error_message();
    EXPECT_NEAR(x[1], -2, 1e-13);
    EXPECT_EQ(trc_dgels_mixed(nullptr, 5, 3, 1, a, 4, b, 5, x, 3, &steps, &info), -5);
    EXPECT_EQ(trc_dgels_mixed(nullptr, 5, 3, 1, a, 5, b, 5, x, 3, &steps, nullptr), -11);
}

TEST(CInterface, FactorsAndSolvesInComplex)
{
    trc_complex_double a[] = {{2, 0}, {0, 1}, {0, -1}, {2, 0}}, b[] = {{2, 1}, {2, -1}}; // [2 -i; i 2], both triangles
    int64_t info = -1;
    ASSERT_EQ(trc_zpotrf(nullptr, 'U', 2, a, 2, &info), TRC_OK);
    ASSERT_EQ(info, 0);
    EXPECT_EQ(a[1], trc_complex_double(0, 1)); // the lower triangle is not touched
    ASSERT_EQ(trc_zpotrs(nullptr, 'U', 2, 1, a, 2, b, 2, &info), TRC_OK);
    // x = A^-1 b with A^-1 = [2 i; -i 2] / 3
    EXPECT_NEAR(std::abs(b[0] - trc_complex_double(5, 4) / 3.0), 0, 1e-15 * 10);
    EXPECT_NEAR(std::abs(b[1] - trc_complex_double(5, -4) / 3.0), 0, 1e-15 * 10);
}

TEST(CInterface, TakesComplexFactorsByAddress)
{
    const trc_complex_float alpha(0, 1), beta(2, 0), a(3, 0), b(0, 1);
    trc_complex_float c(1, 1);
    ASSERT_EQ(trc_cgemm(nullptr, 'N', 'N', 1, 1, 1, &alpha, &a, 1, &b, 1, &beta, &c, 1), TRC_OK);
    EXPECT_EQ(c, trc_complex_float(-1, 2)); // i * 3 * i + 2 (1 + i)
    EXPECT_EQ(trc_cgemm(nullptr, 'N', 'N', 1, 1, 1, nullptr, &a, 1, &b, 1, &beta, &c, 1), -6);
}

TEST(CInterface, HasTheStructuredProducts)
{
    const double a[] = {2, 3, 99, 4}, b[] = {1, 0, 0, 1}; // lower triangle [2; 3 4]
    double c[4];
    ASSERT_EQ(trc_dsymm(nullptr, 'L', 'L', 2, 2, 2, a, 2, b, 2, 0, c, 2), TRC_OK) << trc_last_error_message();
    EXPECT_THAT(c, ::testing::ElementsAre(4, 6, 6, 8));
    ASSERT_EQ(trc_dsyr2k(nullptr, 'U', 'N', 2, 2, 1, a, 2, b, 2, 0, c, 2), TRC_OK);
    EXPECT_THAT(c, ::testing::ElementsAre(4, 6, 102, 8)); // A + A^T above the diagonal
    double x[] = {1, 1};
    ASSERT_EQ(trc_dtrmm(nullptr, 'L', 'L', 'T', 'N', 2, 1, 1, a, 2, x, 2), TRC_OK);
    EXPECT_THAT(x, ::testing::ElementsAre(5, 4));
    const trc_complex_double i(0, 1), zero = 0, h(2, 77), w(0, 3);
    trc_complex_double z = 0;
    ASSERT_EQ(trc_zhemm(nullptr, 'R', 'U', 1, 1, &i, &h, 1, &w, 1, &zero, &z, 1), TRC_OK);
    EXPECT_EQ(z, trc_complex_double(-6, 0)); // the diagonal of A counts as real
    ASSERT_EQ(trc_zher2k(nullptr, 'U', 'N', 1, 1, &i, &w, 1, &i, 1, 1, &z, 1), TRC_OK);
    EXPECT_EQ(z, trc_complex_double(-6, 0)); // i (3i) conj(i) and its conjugate
    EXPECT_EQ(trc_dsymm(nullptr, 'L', 'L', 2, 2, 2, a, 2, c, 2, 0, c, 2), -11);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("c overlaps b"));
    EXPECT_EQ(trc_zhemm(nullptr, 'L', 'U', 1, 1, nullptr, &h, 1, &w, 1, &zero, &z, 1), -5);
    EXPECT_EQ(trc_zher2k(nullptr, 'U', 'T', 1, 1, &i, &w, 1, &i, 1, 1, &z, 1), -2);
    EXPECT_EQ(trc_dtrmm(nullptr, 'X', 'L', 'T', 'N', 2, 1, 1, a, 2, x, 2), -1);
}

TEST(CInterface, ReportsInfoApartFromTheCode)
{
    double a[] = {1, 2, 2, 1};
    int64_t info = -1;
    EXPECT_EQ(trc_dpotrf(nullptr, 'L', 2, a, 2, &info), TRC_OK);
    EXPECT_EQ(info, 2);
}

TEST(CInterface, NumbersBadArgumentsAsLapackDoesAndSaysWhatWouldBeRight)
{
    double a[4] = {}, b[4] = {}, c[4] = {};
    int64_t info;
    EXPECT_EQ(trc_dpotrf(nullptr, 'X', 2, a, 2, &info), -1);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("uplo is 'X', must be 'L' or 'U'"));
    EXPECT_EQ(trc_dpotrf(nullptr, 'L', -2, a, 2, &info), -2);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("n is -2, must be at least 0"));
    EXPECT_EQ(trc_dpotrf(nullptr, 'L', 2, nullptr, 2, &info), -3);
    EXPECT_EQ(trc_dpotrf(nullptr, 'L', 2, a, 1, &info), -4);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("lda is 1"));
    EXPECT_EQ(trc_dpotrf(nullptr, 'L', 2, a, 2, nullptr), -5);
    EXPECT_EQ(trc_dpotrf(nullptr, 'L', 1, a, INT64_MAX, &info), -4); // beyond the address space
    EXPECT_EQ(trc_dposv(nullptr, 'L', 2, 1, a, 2, b, 1, &info), -7);
    EXPECT_EQ(trc_dtrtri(nullptr, 'L', 'x', 2, a, 2, &info), -2);
    EXPECT_EQ(trc_dtrtri(nullptr, 'L', 'N', 2, a, 2, nullptr), -6);
    EXPECT_EQ(trc_dposv(nullptr, 'L', 2, 1, a, 2, a, 2, &info), -4) << "the right side is the matrix";
    EXPECT_EQ(trc_dpotrs(nullptr, 'L', 2, -1, a, 2, b, 2, &info), -3);
    EXPECT_EQ(trc_dgemm(nullptr, 'N', '?', 2, 2, 2, 1, a, 2, b, 2, 0, c, 2), -2);
    EXPECT_EQ(trc_dgemm(nullptr, 'N', 'N', 2, 2, 2, 1, a, 2, b, 2, 0, c, 1), -13);
    EXPECT_EQ(trc_dgemm(nullptr, 'T', 'N', 1, 2, 2, 1, a, 1, b, 2, 0, c, 1), -8); // A is k x m: lda counts k
    EXPECT_EQ(trc_dsyrk(nullptr, 'L', 'N', 2, 1, 1, a, 2, 0, c, 1), -10);
    EXPECT_EQ(trc_dtrsm(nullptr, 'L', 'L', 'N', '?', 2, 1, 1, a, 2, b, 2), -4);
    EXPECT_EQ(trc_dtrsm(nullptr, 'R', 'L', 'N', 'N', 1, 2, 1, a, 1, b, 1), -9); // A is n x n
    const trc_complex_double one(1, 0);
    trc_complex_double z[4] = {};
    EXPECT_EQ(trc_zsyrk(nullptr, 'L', 'C', 2, 1, &one, z, 2, &one, z, 2), -2);
    EXPECT_EQ(trc_zherk(nullptr, 'L', 'T', 2, 1, 1, z, 2, 1, z, 2), -2);
}

TEST(CInterface, ChecksSessionOptions)
{
    trc_session* session = nullptr;
    EXPECT_EQ(trc_session_create(nullptr, nullptr), -1);
    for (const char* bad : {"schedular=ws", "engine", "engine=", "=x", "workers=a", "workers=1-", "window=2x"}) {
        EXPECT_EQ(trc_session_create(&session, bad), -2) << bad;
        EXPECT_EQ(session, nullptr);
    }
    EXPECT_EQ(trc_session_create(&session, "scheduler=eagre"), TRC_BAD_VALUE);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("eager"));
    EXPECT_EQ(trc_session_create(&session, "relief=often"), TRC_BAD_VALUE);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("always"));
    EXPECT_EQ(trc_session_workers(make_session("engine=sequential").get()), 1);
    EXPECT_EQ(trc_session_workers(make_session("scheduler=ws worker_count=1 window=16").get()), 1);
    EXPECT_EQ(trc_session_workers(make_session("relief=always worker_count=1").get()), 1);
    EXPECT_EQ(trc_session_create(&session, "devices=emulated:2,memory=64"), TRC_BAD_VALUE);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("must be a size"));
    EXPECT_EQ(trc_session_workers(make_session("devices=emulated:2,memory=64MiB worker_count=1").get()), 3);
    EXPECT_EQ(trc_session_destroy(nullptr), TRC_OK);
}

TEST(CInterface, KeepsDataOnDevicesFromCallToCall)
{
    constexpr std::int64_t n = 800; // of several tasks: a single one the core may always take
    const SessionPointer session = make_session("devices=emulated,always=yes worker_count=1 scheduler=eager");
    std::vector<double> A(n * n, 1), B(n * n, 2), C(n * n);
    ASSERT_EQ(trc_session_keep(session.get(), A.data(), n, n, n, 8), TRC_OK) << trc_last_error_message();
    ASSERT_EQ(trc_session_keep(session.get(), B.data(), n, n, n, 8), TRC_OK);
    for (int round = 1; round < 12; ++round) {
        ASSERT_EQ(trc_dgemm(session.get(), 'N', 'N', n, n, n, 1, A.data(), n, B.data(), n, 0, C.data(), n), TRC_OK);
        ASSERT_EQ(std::count(C.begin(), C.end(), 2.0 * n * round), n * n);
        std::fill(A.begin(), A.end(), round + 1);
        ASSERT_EQ(trc_session_touch(session.get(), A.data()), TRC_OK);
    }
    EXPECT_EQ(trc_session_keep(session.get(), A.data() + n, 1, 1, 1, 8), -2);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("kept already"));
    EXPECT_EQ(trc_session_leave(session.get(), A.data()), TRC_OK);
    EXPECT_EQ(trc_session_leave(session.get(), A.data()), -2);
    EXPECT_EQ(trc_session_touch(session.get(), A.data()), -2);
    EXPECT_EQ(trc_session_keep(nullptr, A.data(), n, n, n, 8), -1);
    EXPECT_EQ(trc_session_touch(nullptr, A.data()), -1);
    EXPECT_EQ(trc_session_leave(nullptr, A.data()), -1);
    EXPECT_EQ(trc_session_keep(session.get(), nullptr, n, n, n, 8), -2);
    EXPECT_EQ(trc_session_keep(session.get(), A.data(), 0, n, n, 8), -3);
    EXPECT_EQ(trc_session_keep(session.get(), A.data(), n, 0, n, 8), -4);
    EXPECT_EQ(trc_session_keep(session.get(), A.data(), n, n, n - 1, 8), -5);
    EXPECT_EQ(trc_session_keep(session.get(), A.data(), n, n, n, 0), -6);
    EXPECT_EQ(trc_session_keep(make_session("worker_count=1").get(), A.data(), n, n, n, 8), -1);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("has none"));
}

int add(void* args, trc_context*)
{
    auto* const values = *static_cast<int**>(args);
    values[1] += values[0];
    return 0;
}
int double_it(void* args, trc_context*)
{
    **static_cast<int**>(args) *= 2;
    return 0;
}
int fail(void*, trc_context*) { return 42; }

TEST(CInterface, OrdersTasksByWhatTheyName)
{
    const SessionPointer session = make_session();
    const FlowPointer flow = make_flow(session.get());
    int values[2] = {1, 0};
    int* const where = values;
    const trc_access change[] = {{&values[0], TRC_READWRITE, nullptr}};
    const trc_access sum[] = {{&values[0], TRC_READ, nullptr}, {&values[1], TRC_READWRITE, nullptr}};
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(trc_task_submit(flow.get(), "double", double_it, &where, sizeof where, change, 1, 0), TRC_OK);
        ASSERT_EQ(trc_task_submit(flow.get(), "add", add, &where, sizeof where, sum, 2, 1.5), TRC_OK);
    }
    ASSERT_EQ(trc_flow_wait(flow.get()), TRC_OK) << trc_last_error_message();
    EXPECT_EQ(values[1], 2046); // 2 + 4 + ... + 1024
}

TEST(CInterface, CarriesAFailureToWaitAndStopsWhatDependsOnIt)
{
    const SessionPointer session = make_session();
    const FlowPointer flow = make_flow(session.get());
    int value = 1;
    int* const where = &value;
    const trc_access change[] = {{&value, TRC_READWRITE, nullptr}};
    ASSERT_EQ(trc_task_submit(flow.get(), "breaks", fail, nullptr, 0, change, 1, 0), TRC_OK);
    ASSERT_EQ(trc_task_submit(flow.get(), "double", double_it, &where, sizeof where, change, 1, 0), TRC_OK);
    EXPECT_EQ(trc_flow_wait(flow.get()), TRC_TASK_FAILED);
    EXPECT_THAT(trc_last_error_message(), HasSubstr("task 'breaks' returned 42"));
    EXPECT_EQ(value, 1);
}

TEST(CInterface, CopiesArgumentsOfAnySize)
{
    const SessionPointer session = make_session();
    const FlowPointer flow = make_flow(session.get());
    struct Large {
        int numbers[500];
        int* sum;
    };
    int sum = 0;
    Large large{{}, &sum};
    for (int& number : large.numbers) number = 3;
    const trc_access change[] = {{&sum, TRC_READWRITE, nullptr}};
    const auto add_up = [](void* args, trc_context*) {
        const auto& copy = *static_cast<Large*>(args);
        for (const int number : copy.numbers) *copy.sum += number;
        return 0;
    };
    ASSERT_EQ(trc_task_submit(flow.get(), "add up", add_up, &large, sizeof large, change, 1, 0), TRC_OK);
    std::memset(&large, 0, sizeof large);
    ASSERT_EQ(trc_flow_wait(flow.get()), TRC_OK);
    EXPECT_EQ(sum, 1500);
}

int count_into_part(void*, trc_context* context)
{
    auto* const part = static_cast<int*>(trc_context_part(context, 0));
    ++*part;
    return trc_context_part(context, 1) == nullptr && trc_context_worker(context) >= 0 ? 0 : 1;
}

TEST(CInterface, ReducesPrivateParts)
{
    const SessionPointer session = make_session();
    const FlowPointer flow = make_flow(session.get());
    static const trc_reduction sum{
        sizeof(int), [](void* part) { *static_cast<int*>(part) = 0; },
        [](void* into, const void* part) { *static_cast<int*>(into) += *static_cast<const int*>(part); }};
    int count = 5, seen = 0;
    for (int i = 0; i < 100; ++i) {
        const trc_access access[] = {{&count, TRC_REDUCE, &sum}};
        ASSERT_EQ(trc_task_submit(flow.get(), "count", count_into_part, nullptr, 0, access, 1, 0), TRC_OK);
    }
    int* const where[] = {&count, &seen};
    const trc_access look[] = {{&count, TRC_READ, nullptr}, {&seen, TRC_WRITE, nullptr}};
    const auto copy = [](void* args, trc_context*) {
        auto* const pair = static_cast<int**>(args);
        *pair[1] = *pair[0];
        return 0;
    };
    ASSERT_EQ(trc_task_submit(flow.get(), "copy", copy, where, sizeof where, look, 2, 0), TRC_OK);
    ASSERT_EQ(trc_flow_wait(flow.get()), TRC_OK) << trc_last_error_message();
    EXPECT_EQ(seen, 105);
}

TEST(CInterface, FindsNormsAndConditions)
{
    double a[4] = {4, 1, 1, 4}, value = 0, rcond = 0;
    std::int64_t info = -7;
    ASSERT_EQ(trc_dlange(nullptr, '1', 2, 2, a, 2, &value), TRC_OK) << trc_last_error_message();
    EXPECT_EQ(value, 5);
    ASSERT_EQ(trc_dlansy(nullptr, 'f', 'U', 2, a, 2, &value), TRC_OK);
    EXPECT_DOUBLE_EQ(value, std::sqrt(34));
    ASSERT_EQ(trc_dlantr(nullptr, 'I', 'L', 'N', 2, 2, a, 2, &value), TRC_OK);
    EXPECT_EQ(value, 5);
    EXPECT_EQ(trc_dlange(nullptr, 'Q', 2, 2, a, 2, &value), -1);
    EXPECT_EQ(trc_dlange(nullptr, '1', 2, 2, a, 1, &value), -5);
    EXPECT_EQ(trc_dlange(nullptr, '1', 2, 2, a, 2, nullptr), -6);
    ASSERT_EQ(trc_dtrcon(nullptr, 'O', 'L', 'U', 2, a, 2, &rcond, &info), TRC_OK);
    EXPECT_EQ(info, 0);
    EXPECT_DOUBLE_EQ(rcond, 0.375); // 1/4; LAPACK's search finds 4/3 of the inverse's norm, which is 2
    EXPECT_EQ(trc_dgecon(nullptr, 'F', 2, a, 2, 5, &rcond, &info), -1) << "no norm of a condition";
    EXPECT_EQ(trc_dgecon(nullptr, '1', 2, a, 2, -5, &rcond, &info), -5);
    EXPECT_EQ(trc_dgecon(nullptr, '1', 2, a, 2, 5, nullptr, &info), -6);
    EXPECT_EQ(trc_dgecon(nullptr, '1', 2, a, 2, 5, &rcond, nullptr), -7);
    double s[2], scond = 0, amax = 0;
    EXPECT_EQ(trc_dpoequ(nullptr, 2, a, 2, nullptr, &scond, &amax, &info), -4);
    EXPECT_EQ(trc_dpoequ(nullptr, 2, a, 2, s, &scond, &amax, &info), TRC_OK);
    EXPECT_EQ(s[0], 0.5);
}

TEST(CInterface, ExchangesRowsThatAreThere)
{
    float a[4] = {1, 2, 3, 4};
    const std::int64_t pivots[] = {2, 3};
    ASSERT_EQ(trc_slaswp(2, 2, a, 2, 0, 1, pivots, 0), TRC_OK) << trc_last_error_message();
    EXPECT_EQ(a[0], 2);
    EXPECT_EQ(a[3], 3);
    EXPECT_EQ(trc_slaswp(2, 2, a, 2, 0, 2, pivots, 1), -7);
    EXPECT_STREQ(trc_last_error_message(), "ipiv(2) is 3, must be a row, 1 to 2");
    EXPECT_EQ(trc_slaswp(2, 2, a, 2, 1, 2, nullptr, 0), -7);
    EXPECT_EQ(trc_slaswp(2, 2, a, 2, 0, 3, pivots, 0), -6);
}

int outer(void* args, trc_context* context)
{
    trc_flow* const inner = trc_context_flow(context);
    for (int i = 0; i < 8; ++i) {
        int* const value = *static_cast<int**>(args) + i;
        const trc_access change[] = {{value, TRC_READWRITE, nullptr}};
        if (const int code = trc_task_submit(inner, "inner", double_it, &value, sizeof value, change, 1, 0)) return code;
    }
    return trc_flow_destroy(inner) == -1 ? 0 : 1; // it is not ours to destroy; nor need we wait
}

TEST(CInterface, RunsTasksInsideTasks)
{
    const SessionPointer session = make_session();
    const FlowPointer flow = make_flow(session.get());
    std::vector<int> values(8, 1);
    int* const where = values.data();
    const trc_access all[] = {{where, TRC_READWRITE, nullptr}};
    for (int i = 0; i < 3; ++i) ASSERT_EQ(trc_task_submit(flow.get(), "outer", outer, &where, sizeof where, all, 1, 0), TRC_OK);
    ASSERT_EQ(trc_flow_wait(flow.get()), TRC_OK) << trc_last_error_message();
    EXPECT_EQ(values, std::vector<int>(8, 8));
}

TEST(CInterface, ReportsACancelledFlow)
{
    const SessionPointer session = make_session();
    const FlowPointer flow = make_flow(session.get());
    ASSERT_EQ(trc_flow_cancel(flow.get()), TRC_OK);
    trc_task_submit(flow.get(), "never", fail, nullptr, 0, nullptr, 0, 0);
    EXPECT_EQ(trc_flow_wait(flow.get()), TRC_CANCELLED);
}

TEST(CInterface, ChecksTaskArguments)
{
    const SessionPointer session = make_session();
    const FlowPointer flow = make_flow(session.get());
    trc_flow* other = nullptr;
    int value = 0;
    const trc_access bad_mode[] = {{&value, static_cast<trc_access_mode>(9), nullptr}},
                     no_data[] = {{nullptr, TRC_READ, nullptr}};
    const trc_access no_reduction[] = {{&value, TRC_REDUCE, nullptr}};
    EXPECT_EQ(trc_flow_create(nullptr, session.get(), 0), -1);
    EXPECT_EQ(trc_flow_create(&other, session.get(), -1), -3);
    EXPECT_EQ(trc_task_submit(nullptr, "x", fail, nullptr, 0, nullptr, 0, 0), -1);
    EXPECT_EQ(trc_task_submit(flow.get(), "x", nullptr, nullptr, 0, nullptr, 0, 0), -3);
    EXPECT_EQ(trc_task_submit(flow.get(), "x", fail, nullptr, 8, nullptr, 0, 0), -4);
    EXPECT_EQ(trc_task_submit(flow.get(), "x", fail, nullptr, 0, bad_mode, 1, 0), -6);
    EXPECT_EQ(trc_task_submit(flow.get(), "x", fail, nullptr, 0, no_data, 1, 0), -6);
    EXPECT_EQ(trc_task_submit(flow.get(), "x", fail, nullptr, 0, no_reduction, 1, 0), -6);
    EXPECT_EQ(trc_task_submit(flow.get(), "x", fail, nullptr, 0, bad_mode, -1, 0), -7);
    EXPECT_EQ(trc_flow_wait(nullptr), -1);
    EXPECT_EQ(trc_context_flow(nullptr), nullptr);
}

} // namespace
