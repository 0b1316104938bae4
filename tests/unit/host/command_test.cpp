// SPDX-License-Identifier: Apache-2.0
// Runs the command as a user does: every kind of URI, every kind of end, exit codes.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pty.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "host-tools/base/file.hpp"
#include "tests/unit/host/elf_builder.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using testing::HasSubstr;
namespace fs = std::filesystem;

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
        target.hello();
        target.console("hello from the target\n");
        for (int i = 0; i < 10; ++i) target.ret(target.entry(1));
        unfinished = target.bytes;
        target.finish();
        write(dir / "line.bin", target.bytes);
    }
    ~Command() override { fs::remove_all(dir); }

    static void write(const fs::path& path, const Bytes& bytes) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
    }
    static std::string text_of(const fs::path& path) {
        const Bytes bytes = read_whole_file(path);
        return {bytes.begin(), bytes.end()};
    }
    pid_t start(const std::vector<std::string>& arguments) {
        std::vector<const char*> words{NOPSCOPE_COMMAND};
        for (const auto& argument : arguments) words.push_back(argument.c_str());
        words.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            const int out = open((dir / "out").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
            const int err = open((dir / "err").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
            dup2(out, 1);
            dup2(err, 2);
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
    Output run(const std::vector<std::string>& arguments) { return wait_for(start(arguments)); }
    Output run_on(const fs::path& input, const std::vector<std::string>& arguments) {
        const int file = open(input.c_str(), O_RDONLY);
        const int saved = dup(0);
        dup2(file, 0);
        Output output = run(arguments);
        dup2(saved, 0);
        close(saved);
        close(file);
        return output;
    }
    std::string nsc() const { return dir / "x.nsc"; }
    // Waits until the file that is being recorded has a chunk of this type. With COUN, the file
    // contains all earlier records and their count.
    void wait_for_chunk(const std::string& type) const {
        for (int i = 0; i < 1000 && !has(type); ++i) std::this_thread::sleep_for(10ms);
        ASSERT_TRUE(has(type));
    }
    bool has(const std::string& type) const {
        std::ifstream file(nsc(), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {}).find(type) !=
               std::string::npos;
    }
    void expect_recorded(const Output& output, std::uint64_t calls = 10) {
        EXPECT_EQ(output.code, 0) << output.err;
        EXPECT_EQ(output.out, "hello from the target\n");
        const Output report = run({"report", nsc(), "--format", "csv"});
        EXPECT_EQ(report.code, 0) << report.err;
        EXPECT_THAT(report.out, HasSubstr(",\"\",0," + std::to_string(calls) + ",")) << report.out;
    }

    fs::path dir;
    test::TargetStream target;
    Bytes unfinished;
};

TEST_F(Command, RecordsAFileAndStandardInput) {
    expect_recorded(run({"record", "--from", "file:" + (dir / "line.bin").string(), "-o", nsc()}));
    expect_recorded(run_on(dir / "line.bin", {"record", "--from", "-", "-o", nsc()}));
}

TEST_F(Command, QuestionsAreAnsweredFromStandardInputToo) {
    ASSERT_EQ(run({"record", "--from", "file:" + (dir / "line.bin").string(), "-o", nsc()}).code,
              0);
    const std::vector<std::vector<std::string>> questions{
        {"report"},         {"graph"},           {"callers", "0x*"}, {"callees", "0x*"},
        {"latency", "0x*"}, {"outliers", "0x*"}, {"stack-depth"}};
    for (const auto& question : questions) {
        std::vector<std::string> words = question;
        words.insert(words.begin() + 1, nsc());
        const Output by_name = run(words);
        EXPECT_EQ(by_name.code, 0) << question[0] << ": " << by_name.err;
        words[1] = "-";
        const Output output = run_on(nsc(), words);
        EXPECT_EQ(output.code, 0) << question[0] << ": " << output.err;
        EXPECT_EQ(output.out, by_name.out) << question[0];
        EXPECT_THAT(output.out, HasSubstr("generated 20")) << question[0];
    }
}

TEST_F(Command, RecordsACommandAndPassesItsFailureOn) {
    const std::string cat = "exec:cat " + (dir / "line.bin").string();
    expect_recorded(run({"record", "--from", cat, "-o", nsc()}));
    const Output failed = run({"record", "--from", cat + "; exit 9", "-o", nsc()});
    EXPECT_EQ(failed.code, 4);
    EXPECT_THAT(failed.err, HasSubstr("exit status 9"));
    EXPECT_THAT(run({"info", nsc()}).out, HasSubstr("exit      9\n"));
    EXPECT_EQ(run({"record", "--from", "exec:/nonexistent/tool", "-o", nsc()}).code, 4);
}

TEST_F(Command, StopsWhenTheTargetHasFinishedAndEndsTheCommand) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string command = "exec:cat " + (dir / "line.bin").string() + "; sleep 600 & wait";
    expect_recorded(run({"record", "--from", command, "-o", nsc()}));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
    EXPECT_THAT(run({"info", nsc()}).out, HasSubstr("the target finished"));
}

TEST_F(Command, StopsAfterTheDuration) {
    write(dir / "line.bin", unfinished);
    const std::string command = "exec:cat " + (dir / "line.bin").string() + "; exec sleep 600";
    const Output output = run({"record", "--from", command, "-o", nsc(), "--duration", "0.3"});
    EXPECT_EQ(output.code, 0) << output.err;
    EXPECT_THAT(run({"info", nsc()}).out, HasSubstr("the time asked for was over"));
}

TEST_F(Command, CtrlCLeavesAValidFileAndEndsTheCommand) {
    const std::string pid_file = dir / "pid";
    const std::string command =
        "exec:echo $$ > " + pid_file + "; cat " + (dir / "line.bin").string() + "; exec sleep 600";
    const pid_t recorder = start({"record", "--from", command, "-o", nsc(), "--no-until-end"});
    wait_for_chunk("COUN");
    kill(recorder, SIGINT);
    expect_recorded(wait_for(recorder));
    EXPECT_THAT(run({"info", nsc()}).out, HasSubstr("interrupted"));
    pid_t group = 0;
    std::ifstream(pid_file) >> group;
    ASSERT_GT(group, 0);
    EXPECT_EQ(kill(-group, 0), -1) << "the command still runs";
}

// A shell ends at once. A process that the shell started may need time to finish.
TEST_F(Command, WhatTheCommandHasStartedHasTimeToEnd) {
    const std::string last_words = dir / "last_words";
    const std::string slow =
        "trap 'sleep 0.3; echo bye > " + last_words + "; exit' TERM; while :; do sleep 0.02; done";
    const std::string command =
        "exec:cat " + (dir / "line.bin").string() + "; sh -c \"" + slow + "\"; true";
    const auto begin = std::chrono::steady_clock::now();
    expect_recorded(run({"record", "--from", command, "-o", nsc()}));
    EXPECT_TRUE(fs::exists(last_words));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST_F(Command, AKilledRecorderLeavesAValidFile) {
    const std::string pid_file = dir / "pid";
    const std::string command =
        "exec:echo $$ > " + pid_file + "; cat " + (dir / "line.bin").string() + "; exec sleep 600";
    const pid_t recorder = start({"record", "--from", command, "-o", nsc(), "--no-until-end"});
    wait_for_chunk("COUN");
    kill(recorder, SIGKILL);
    EXPECT_EQ(wait_for(recorder).code, 1000 + SIGKILL);
    pid_t group = 0;
    std::ifstream(pid_file) >> group;
    if (group > 0) kill(-group, SIGKILL);
    EXPECT_THAT(run({"report", nsc()}).out, HasSubstr("delivered 20"));
    EXPECT_THAT(run({"info", nsc()}).out, HasSubstr("the recorder was killed"));
}

TEST_F(Command, RecordsAUnixSocket) {
    const std::string path = dir / "socket";
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    const pid_t recorder = start({"record", "--from", "unix:" + path, "-o", nsc()});
    const int line = accept(listener, nullptr, nullptr);
    EXPECT_EQ(::write(line, target.bytes.data(), target.bytes.size()),
              static_cast<ssize_t>(target.bytes.size()));
    close(line);
    expect_recorded(wait_for(recorder));
    close(listener);
}

TEST_F(Command, RecordsATcpConnection) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    const std::string port = std::to_string(ntohs(address.sin_port));
    const pid_t recorder = start({"record", "--from", "tcp:127.0.0.1:" + port, "-o", nsc()});
    const int line = accept(listener, nullptr, nullptr);
    EXPECT_EQ(::write(line, target.bytes.data(), target.bytes.size()),
              static_cast<ssize_t>(target.bytes.size()));
    close(line);
    expect_recorded(wait_for(recorder));
    close(listener);
    EXPECT_EQ(run({"record", "--from", "tcp:127.0.0.1:" + port, "-o", nsc()}).code, 3);
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
        start({"record", "--from", std::string("serial:") + name + "?baud=3000000", "-o", nsc(),
               "--no-until-end"});
    // When the port is raw, the recorder has opened it.
    const auto is_raw = [&] {
        termios settings{};
        return tcgetattr(port, &settings) == 0 && (settings.c_lflag & ICANON) == 0;
    };
    for (int i = 0; i < 1000 && !is_raw(); ++i) std::this_thread::sleep_for(10ms);
    ASSERT_TRUE(is_raw());
    EXPECT_EQ(::write(controller, target.bytes.data(), target.bytes.size()),
              static_cast<ssize_t>(target.bytes.size()));
    wait_for_chunk("COUN");
    close(port);
    close(controller);  // the adapter is unplugged
    expect_recorded(wait_for(recorder));
    EXPECT_THAT(run({"info", nsc()}).out, HasSubstr("the target finished"));
}

TEST_F(Command, AFailedOpenCostsNoOlderRecording) {
    ASSERT_EQ(run({"record", "--from", "file:" + (dir / "line.bin").string(), "-o", nsc()}).code,
              0);
    const std::string before = text_of(nsc());
    const Output output = run({"record", "--from", "serial:/dev/nonexistent", "-o", nsc()});
    EXPECT_EQ(output.code, 3);
    EXPECT_THAT(
        output.err,
        testing::StartsWith(
            "nopscope: cannot open serial port /dev/nonexistent: No such file or directory: "));
    EXPECT_EQ(text_of(nsc()), before);
    EXPECT_FALSE(fs::exists(nsc() + ".old"));
}

TEST_F(Command, WrongUsageIsTwo) {
    EXPECT_EQ(run({}).code, 2);
    EXPECT_EQ(run({"report"}).code, 2);
    EXPECT_EQ(run({"report", "x", "--format", "xml"}).code, 2);
    EXPECT_EQ(run({"record", "--from", "gopher:x", "-o", nsc()}).code, 2);
    EXPECT_EQ(run({"record", "--from", "serial:/dev/x?speed=3", "-o", nsc()}).code, 2);
    EXPECT_EQ(run({"record", "--from", "tcp:host", "-o", nsc()}).code, 2);
    EXPECT_EQ(run({"report", "--help"}).code, 0);
    EXPECT_EQ(run({"report", "/nonexistent"}).code, 3);
}

TEST_F(Command, NotATraceIsOneSentence) {
    write(dir / "noise", Bytes(1000, 'x'));
    const Output output = run({"report", dir / "noise"});
    EXPECT_EQ(output.code, 3);
    EXPECT_THAT(output.err, HasSubstr("not one frame could be read"));
    EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1);
}

TEST_F(Command, TheImageNamesAndAWrongOneIsRefused) {
    test::ElfBuilder right;
    while (right.sites.size() < 3) right.function("work" + std::to_string(right.sites.size()));
    write(dir / "right.elf", right.build());
    test::ElfBuilder wrong = right;
    wrong.build_id = "\x99\x99";
    write(dir / "wrong.elf", wrong.build());

    test::TargetStream matching;
    matching.build_id = right.build_id;
    const Output json = run({"info", dir / "right.elf", "--format", "json"});
    ASSERT_EQ(json.code, 0);
    const std::size_t crc = json.out.find("\"site_table_crc\": \"") + 19;
    matching.site_table_crc =
        static_cast<std::uint32_t>(std::stoul(json.out.substr(crc, 8), nullptr, 16));
    matching.hello();
    const auto site =
        static_cast<std::uint32_t>((right.sites[2] - test::ElfBuilder::text_base) / 8);
    matching.ret(matching.entry(site));
    matching.finish();
    write(dir / "line.bin", matching.bytes);
    const std::string from = "file:" + (dir / "line.bin").string();

    const Output recorded =
        run({"record", "--from", from, "-o", nsc(), "--image", dir / "right.elf"});
    EXPECT_EQ(recorded.code, 0) << recorded.err;
    EXPECT_THAT(run({"report", nsc()}).out, HasSubstr("work2"));
    EXPECT_THAT(run({"report", dir / "line.bin", "--image", dir / "right.elf"}).out,
                HasSubstr("work2"));
    const Output unnamed = run({"report", dir / "line.bin"});
    EXPECT_EQ(unnamed.code, 0);
    EXPECT_THAT(unnamed.err, HasSubstr("give --image ELF for names"));

    const Output refused = run({"report", nsc(), "--image", dir / "wrong.elf"});
    EXPECT_EQ(refused.code, 3);
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("its build-id is 9999, the recording's is aabbcc"));
    const Output not_recorded =
        run({"record", "--from", from, "-o", nsc(), "--image", dir / "wrong.elf"});
    EXPECT_EQ(not_recorded.code, 3);
    EXPECT_THAT(not_recorded.err, HasSubstr("its build-id is 9999"));
    EXPECT_EQ(run({"report", nsc(), "--image", dir / "line.bin"}).code, 3);
}

TEST_F(Command, CheckFailsByExitCode) {
    test::ElfBuilder image;
    image.function("good");
    write(dir / "image.elf", image.build());
    const Output forgotten = run({"check", dir / "image.elf"});
    EXPECT_EQ(forgotten.code, 1);
    EXPECT_THAT(
        forgotten.out,
        HasSubstr("no tracer: no source that calls nopscope was compiled with NOPSCOPE_ENABLED=1"));
    image.function("nopscope_graph_entry", false);
    write(dir / "image.elf", image.build());
    const Output fit = run({"check", dir / "image.elf"});
    EXPECT_EQ(fit.code, 0);
    EXPECT_THAT(fit.out, testing::Not(HasSubstr("tracer")));
    image.function("lost", true, true, {}, false);
    write(dir / "image.elf", image.build());
    const Output output = run({"check", dir / "image.elf"});
    EXPECT_EQ(output.code, 1);
    EXPECT_THAT(output.out, HasSubstr("lost at 0x"));
}

TEST_F(Command, InfoListsSites) {
    test::ElfBuilder image;
    image.function("alpha");
    image.function("beta", true, false);
    write(dir / "image.elf", image.build());
    const Output output = run({"info", dir / "image.elf", "--sites", "--format", "json"});
    EXPECT_EQ(output.code, 0);
    EXPECT_THAT(output.out, HasSubstr("\"address\": \"0x40080008\""));
    EXPECT_THAT(output.out, HasSubstr("\"word\": \"0x40080010\""));  // behind `bti c` and `mov`
    EXPECT_THAT(output.out, HasSubstr("\"name\": \"beta\""));
}

TEST_F(Command, TheConsoleCannotDriveTheTerminal) {
    test::TargetStream hostile;
    hostile.hello();
    hostile.console("\x1b[31mred\x07\n");
    hostile.finish();
    write(dir / "line.bin", hostile.bytes);
    EXPECT_EQ(run({"record", "--from", "file:" + (dir / "line.bin").string(), "-o", nsc()}).out,
              "\\x1b[31mred\\x07\n");
}

}  // namespace
}  // namespace nopscope::host
