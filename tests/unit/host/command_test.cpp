// SPDX-License-Identifier: Apache-2.0
// Runs the command as a user does: every kind of URI, every kind of end, exit codes.
#include <netinet/in.h>
#include <pty.h>
#include <sys/un.h>

#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::command_test {

struct Output {
    int code = -1;
    std::string out;
    std::string err;
};

class Command : public testing::Test {
protected:
    Command() {
        char name[] = "/tmp/nopscope-test-XXXXXX";
        dir = mkdtemp(name);
        line = dir / "line.bin";
        target.hello();
        target.console("hello from the target\x1b[31m\n");
        for (int i = 0; i < 10; ++i) target.ret(target.entry(1));
        unfinished = target.bytes;
        target.finish();
        write_file(line, target.bytes);
    }
    ~Command() override { fs::remove_all(dir); }

    // Standard input is this file, or the test's own.
    pid_t start(const std::vector<std::string>& arguments, const std::string& input = "") {
        std::vector<const char*> words{NOPSCOPE_COMMAND};
        for (const auto& argument : arguments) words.push_back(argument.c_str());
        words.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            constexpr int flags = O_CREAT | O_TRUNC | O_WRONLY;
            if (!input.empty()) dup2(open(input.c_str(), O_RDONLY), 0);
            dup2(open((dir / "out").c_str(), flags, 0600), 1);
            dup2(open((dir / "err").c_str(), flags, 0600), 2);
            execv(NOPSCOPE_COMMAND, const_cast<char* const*>(words.data()));
            _exit(126);
        }
        return child;
    }
    Output wait_for(pid_t child) {
        int status = 0;
        waitpid(child, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status),
                text_of(dir / "out"), text_of(dir / "err")};
    }
    Output run(const std::vector<std::string>& arguments, const std::string& input = "") {
        return wait_for(start(arguments, input));
    }
    std::string info() { return run({"info", nsc()}).out; }
    pid_t start_recording(const std::string& from, const std::vector<std::string>& options = {}) {
        std::vector<std::string> words{"record", "--from", from, "-o", nsc()};
        words.insert(words.end(), options.begin(), options.end());
        return start(words);
    }
    Output record(const std::string& from, const std::vector<std::string>& options = {}) {
        return wait_for(start_recording(from, options));
    }
    std::string nsc() const { return dir / "x.nsc"; }
    // Waits until the file that is being recorded has all earlier records and their count.
    void wait_for_counts() const {
        const auto has_counts = [this] {
            std::ifstream file(nsc(), std::ios::binary);
            const std::string text(std::istreambuf_iterator<char>(file), {});
            return text.find("COUN") != std::string::npos;
        };
        for (int i = 0; i < 1000 && !has_counts(); ++i) std::this_thread::sleep_for(10ms);
        ASSERT_TRUE(has_counts());
    }
    void expect_recorded(const Output& output) {
        EXPECT_EQ(output.code, 0) << output.err;
        EXPECT_EQ(output.out, "hello from the target\\x1b[31m\n");  // it drives no terminal
        const Output report = run({"report", nsc(), "--format", "csv"});
        EXPECT_EQ(report.code, 0) << report.err;
        EXPECT_THAT(report.out, HasSubstr(",\"\",0,10,")) << report.out;
    }

    fs::path dir;
    std::string line;  // a file that has a line's bytes
    test::TargetStream target;
    Bytes unfinished;
};

TEST_F(Command, RecordsAFileAndStandardInput) {
    expect_recorded(record("file:" + line));
    expect_recorded(run({"record", "--from", "-", "-o", nsc()}, line));
}

TEST_F(Command, QuestionsAreAnsweredFromStandardInputToo) {
    ASSERT_EQ(record("file:" + line).code, 0);
    for (const std::string question :
         {"report", "graph", "callers", "callees", "latency", "outliers", "stack-depth"}) {
        std::vector<std::string> words{question, nsc()};
        if (question != "report" && question != "graph" && question != "stack-depth")
            words.push_back("0x*");
        const Output by_name = run(words);
        EXPECT_EQ(by_name.code, 0) << question << ": " << by_name.err;
        words[1] = "-";
        const Output output = run(words, nsc());
        EXPECT_EQ(output.code, 0) << question << ": " << output.err;
        EXPECT_EQ(output.out, by_name.out) << question;
        EXPECT_THAT(output.out, HasSubstr("generated 20")) << question;
    }
}

TEST_F(Command, RecordsACommandAndPassesItsFailureOn) {
    expect_recorded(record("exec:cat " + line));
    const Output failed = record("exec:cat " + line + "; exit 9");
    EXPECT_EQ(failed.code, 4);
    EXPECT_THAT(failed.err, HasSubstr("exit status 9"));
    EXPECT_THAT(info(), HasSubstr("exit      9\n"));
    EXPECT_EQ(record("exec:/nonexistent/tool").code, 4);
}

TEST_F(Command, StopsAndEndsTheCommandWhenTheTargetHasFinishedOrTheTimeIsOver) {
    const std::string endless = dir / "endless.bin";
    write_file(endless, unfinished);
    const auto begin = std::chrono::steady_clock::now();
    expect_recorded(record("exec:cat " + line + "; sleep 600 & wait"));
    EXPECT_THAT(info(), HasSubstr("the target finished"));
    const Output timed = record("exec:cat " + endless + "; exec sleep 600", {"--duration", "0.3"});
    EXPECT_EQ(timed.code, 0) << timed.err;
    EXPECT_THAT(info(), HasSubstr("the time asked for was over"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST_F(Command, CtrlCLeavesAValidFile) {
    const pid_t recorder =
        start_recording("exec:cat " + line + "; exec sleep 600", {"--no-until-end"});
    wait_for_counts();
    kill(recorder, SIGINT);
    expect_recorded(wait_for(recorder));
    EXPECT_THAT(info(), HasSubstr("interrupted"));
}

// A shell ends at once. A process that the shell started may need time to finish.
TEST_F(Command, ProcessesThatTheCommandStartedHaveTimeToEnd) {
    const std::string last_words = dir / "last_words";
    const std::string slow =
        "trap 'sleep 0.3; echo bye > " + last_words + "; exit' TERM; while :; do sleep 0.02; done";
    const auto begin = std::chrono::steady_clock::now();
    expect_recorded(record("exec:cat " + line + "; sh -c \"" + slow + "\"; true"));
    EXPECT_TRUE(fs::exists(last_words));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST_F(Command, RecordsATcpConnection) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    ASSERT_EQ(listen(listener, 1), 0);
    const std::string uri = "tcp:127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    const pid_t recorder = start_recording(uri);
    const int connection = accept(listener, nullptr, nullptr);
    EXPECT_EQ(::write(connection, target.bytes.data(), target.bytes.size()),
              static_cast<ssize_t>(target.bytes.size()));
    close(connection);
    expect_recorded(wait_for(recorder));
    close(listener);
    EXPECT_EQ(record(uri).code, 3);
}

// A pseudo-terminal replaces the serial port. The recorder must make it raw; otherwise its line
// discipline changes bytes.
TEST_F(Command, RecordsASerialPort) {
    int controller = -1;
    int port = -1;
    char name[100] = {};
    ASSERT_EQ(openpty(&controller, &port, name, nullptr, nullptr), 0);
    fcntl(controller, F_SETFD, FD_CLOEXEC);
    fcntl(port, F_SETFD, FD_CLOEXEC);
    const pid_t recorder =
        start_recording(std::string("serial:") + name + "?baud=3000000", {"--no-until-end"});
    // When the port is raw, the recorder has opened it.
    const auto is_raw = [&] {
        termios settings{};
        return tcgetattr(port, &settings) == 0 && (settings.c_lflag & ICANON) == 0;
    };
    for (int i = 0; i < 1000 && !is_raw(); ++i) std::this_thread::sleep_for(10ms);
    ASSERT_TRUE(is_raw());
    EXPECT_EQ(::write(controller, target.bytes.data(), target.bytes.size()),
              static_cast<ssize_t>(target.bytes.size()));
    wait_for_counts();
    close(port);
    close(controller);  // the adapter is unplugged
    expect_recorded(wait_for(recorder));
    EXPECT_THAT(info(), HasSubstr("the target finished"));
}

TEST_F(Command, AFailedOpenCostsNoOlderRecording) {
    ASSERT_EQ(record("file:" + line).code, 0);
    const std::string before = text_of(nsc());
    const Output output = record("serial:/dev/nonexistent");
    EXPECT_EQ(output.code, 3);
    EXPECT_THAT(output.err, testing::StartsWith("nopscope: cannot open serial port "
                                                "/dev/nonexistent: No such file or directory: "));
    EXPECT_EQ(text_of(nsc()), before);
    EXPECT_FALSE(fs::exists(nsc() + ".old"));
}

TEST_F(Command, AUriThatMakesNoSenseIsWrongUsage) {
    for (const char* const uri : {"gopher:x", "serial:/dev/x?speed=3", "tcp:host"})
        EXPECT_EQ(record(uri).code, 2) << uri;
}

TEST_F(Command, NotATraceIsOneSentence) {
    write_file(dir / "noise", Bytes(1000, 'x'));
    const Output output = run({"report", dir / "noise"});
    EXPECT_EQ(output.code, 3);
    EXPECT_THAT(output.err, HasSubstr("not one frame could be read"));
    EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1);
}

TEST_F(Command, TheImageNamesAndAWrongOneIsRefused) {
    ElfBuilder right;
    while (right.sites.size() < 3) right.function("work" + std::to_string(right.sites.size()));
    write_file(dir / "right.elf", right.build());
    ElfBuilder wrong = right;
    wrong.build_id = "\x99\x99";
    write_file(dir / "wrong.elf", wrong.build());

    const Output sites = run({"info", dir / "right.elf", "--sites", "--format", "json"});
    ASSERT_EQ(sites.code, 0);
    const auto image = json::parse(sites.out);
    const auto address = right.sites[2];
    EXPECT_THAT(sites.out, HasSubstr(fmt::format("\"address\": \"{:#x}\"", address)));
    // Behind `bti c` and `mov`.
    EXPECT_THAT(sites.out, HasSubstr(fmt::format("\"word\": \"{:#x}\"", address + 8)));
    EXPECT_THAT(sites.out, HasSubstr("\"name\": \"work2\""));

    target.bytes.clear();
    target.reset();
    target.build_id = right.build_id;
    target.site_table_crc = static_cast<std::uint32_t>(
        std::stoul(image["site_table_crc"].get<std::string>(), nullptr, 16));
    target.hello();
    const auto site = static_cast<std::uint32_t>((address - ElfBuilder::text_base) / 8);
    target.ret(target.entry(site));
    target.finish();
    write_file(line, target.bytes);

    const Output recorded = record("file:" + line, {"--image", dir / "right.elf"});
    EXPECT_EQ(recorded.code, 0) << recorded.err;
    EXPECT_THAT(run({"report", nsc()}).out, HasSubstr("work2"));
    EXPECT_THAT(run({"report", line, "--image", dir / "right.elf"}).out, HasSubstr("work2"));
    const Output unnamed = run({"report", line});
    EXPECT_EQ(unnamed.code, 0);
    EXPECT_THAT(unnamed.err, HasSubstr("give --image ELF for names"));

    const Output refused = run({"report", nsc(), "--image", dir / "wrong.elf"});
    EXPECT_EQ(refused.code, 3);
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("its build-id is 9999, the recording's is aabbcc"));
    const Output not_recorded = record("file:" + line, {"--image", dir / "wrong.elf"});
    EXPECT_EQ(not_recorded.code, 3);
    EXPECT_THAT(not_recorded.err, HasSubstr("its build-id is 9999"));
    EXPECT_EQ(run({"report", nsc(), "--image", line}).code, 3);
}

}  // namespace nopscope::host::test::command_test
