// Which back end libglt.so loads, when it does not, and what it then says.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace {

using glt_forms::Errors;
using glt_forms::Running;

class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
};

void expect_refused(const std::string& backend, int status, std::initializer_list<const char*> said)
{
    SCOPED_TRACE(backend);
    Errors errors;
    GLT_options options{};
    options.backend = backend.c_str();
    EXPECT_EQ(glt_init_with(&options), status);
    ASSERT_EQ(errors.count(), 1u);
    EXPECT_EQ(errors.text().rfind("glt_init_with: ", 0), 0u) << errors.text();
    for (const char* words : said) EXPECT_NE(errors.text().find(words), std::string::npos) << errors.text();
    EXPECT_EQ(glt_initialized(), 0);
}

} // namespace

TEST(Plugins, ABackEndThatIsNotInstalledIsMissingAndThoseThatAreAreNamed)
{
    expect_refused("absent", GLT_ERROR_MISSING, {"'absent' is not installed", "libglt_absent.so", " native", " os"});
}

TEST(Plugins, TheEnvironmentsNameIsRefusedInTheSameWay)
{
    const Variable variable("GLT_BACKEND", "nowhere");
    Errors errors;
    glt_init(0, nullptr);
    EXPECT_EQ(glt_initialized(), 0);
    EXPECT_EQ(errors.status(), GLT_ERROR_MISSING);
    EXPECT_EQ(errors.text().rfind("glt_init: the back end 'nowhere' is not installed", 0), 0u) << errors.text();
}

TEST(Plugins, ANameThatNoBackEndCouldHaveIsRefused)
{
    expect_refused("../native", GLT_ERROR_VALUE, {"'../native' is no name of a back end"});
    expect_refused("NATIVE", GLT_ERROR_VALUE, {"small letters"});
    expect_refused(std::string(1000, 'a'), GLT_ERROR_VALUE, {"is no name of a back end"});
}

TEST(Plugins, FilesThatAreNoPluginsAreRefused)
{
    expect_refused("otherversion", GLT_ERROR_MISSING, {"libglt_otherversion.so", "table version 1000", "version 2"});
    expect_refused("othername", GLT_ERROR_MISSING, {"is called 'somebody'"});
    expect_refused("noplugin", GLT_ERROR_MISSING, {"libglt_noplugin.so is no plug-in"});
    expect_refused("garbage", GLT_ERROR_MISSING, {"'garbage' is there but cannot be loaded"});
}

TEST(Plugins, TheStandardBackEndIsNative)
{
    Errors errors;
    glt_init(0, nullptr);
    EXPECT_STREQ(glt_backend_name(), "native") << errors.text();
    glt_finalize();
    EXPECT_EQ(errors.count(), 0u) << errors.text();
}

TEST(Plugins, OptionsCountMoreThanTheEnvironment)
{
    const Variable variable("GLT_BACKEND", "nowhere");
    Running running("os", 1);
    EXPECT_STREQ(glt_backend_name(), "os");
    EXPECT_EQ(glt_get_num_threads(), 1);
}

TEST(Plugins, TheEnvironmentChoosesTheBackEnd)
{
    for (const std::string& backend : glt_forms::backends()) {
        const Variable variable("GLT_BACKEND", backend), threads("GLT_NUM_THREADS", "2");
        glt_init(0, nullptr);
        EXPECT_EQ(glt_backend_name(), backend);
        EXPECT_EQ(glt_get_num_threads(), 2);
        EXPECT_EQ(glt_get_thread_num(), 0);
        glt_finalize();
    }
}

TEST(Plugins, ASecondInitIsRefusedAndTheFirstGoesOn)
{
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        Running running(backend);
        Errors errors;
        EXPECT_EQ(glt_init_with(nullptr), GLT_ERROR_STATE);
        EXPECT_NE(errors.text().find("initialised already, with the back end '" + backend + "'"), std::string::npos)
            << errors.text();
        glt_init(0, nullptr);
        EXPECT_EQ(errors.count(), 2u);
        EXPECT_EQ(glt_initialized(), 1);
        EXPECT_EQ(glt_backend_name(), backend);
    }
}

TEST(Plugins, EveryBackEndFollowsEveryOtherInOneProcess)
{
    static int ran;
    ran = 0;
    int expected = 0;
    for (const std::string& first : glt_forms::backends())
        for (const std::string& second : glt_forms::backends())
            for (const std::string& backend : {first, second}) {
                Running running(backend);
                ASSERT_EQ(running.status, GLT_SUCCESS) << glt_last_message();
                EXPECT_EQ(glt_backend_name(), backend);
                GLT_ult unit;
                glt_ult_create([](void*) { ++ran; }, nullptr, &unit);
                glt_ult_free(&unit);
                EXPECT_EQ(ran, ++expected);
            }
}

TEST(Plugins, BadOptionsAreRefusedAndNothingRuns)
{
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        const auto refused = [&](auto change, const char* said) {
            Errors errors;
            GLT_options options{};
            options.backend = backend.c_str();
            change(options);
            EXPECT_EQ(glt_init_with(&options), GLT_ERROR_VALUE) << errors.text();
            EXPECT_NE(errors.text().find(said), std::string::npos) << errors.text();
            EXPECT_EQ(glt_initialized(), 0);
        };
        refused([](GLT_options& o) { o.num_threads = -1; }, "-1");
        refused([](GLT_options& o) { o.num_threads = GLT_MAX_THREADS + 1; }, "4097");
        refused([](GLT_options& o) { o.stack_size = 1000; }, "1000");
        refused([](GLT_options& o) { o.idle = 17; }, "17");
        refused([](GLT_options& o) { o.bind = 3; }, "3");
    }
}

TEST(Plugins, VariablesThatCannotBeReadAreNamed)
{
    for (const std::string& backend : glt_forms::backends())
        for (const auto& [name, value] :
             {std::pair{"GLT_NUM_THREADS", "two"}, {"GLT_STACK_SIZE", "64q"}, {"GLT_IDLE", "dream"}, {"GLT_BIND", "yes"}}) {
            SCOPED_TRACE(backend + " " + name);
            const Variable variable(name, value);
            Errors errors;
            GLT_options options{};
            options.backend = backend.c_str();
            EXPECT_EQ(glt_init_with(&options), GLT_ERROR_ENVIRONMENT);
            EXPECT_NE(errors.text().find(name), std::string::npos) << errors.text();
            EXPECT_NE(errors.text().find(value), std::string::npos) << errors.text();
        }
}

TEST(Plugins, OnlyTheThreadThatBeganMayEnd)
{
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        Running running(backend);
        Errors errors;
        GLT_ult unit;
        glt_ult_create([](void*) { glt_finalize(); }, nullptr, &unit);
        glt_ult_free(&unit);
        ASSERT_EQ(errors.count(), 1u);
        EXPECT_EQ(errors.text().rfind("glt_finalize: ", 0), 0u) << errors.text();
        EXPECT_EQ(glt_initialized(), 1);
    }
}
