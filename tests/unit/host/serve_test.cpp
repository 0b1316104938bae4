// SPDX-License-Identifier: Apache-2.0
// Which requests the server answers, over a real socket.
#include "host-tools/line/transport/source.hpp"
#include "host-tools/views/serve/server.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::serve_test {

class Fake final : public Shown {
public:
    std::shared_ptr<const View> view() override {
        return std::make_shared<View>(View{3, "{\"n\":1}", "packed"});
    }
    std::string status(std::uint64_t& console) override {
        return "{\"console\":" + std::to_string(console++) + "}";
    }
    ControlAnswer ask(const ControlRequest& request) override {
        ++asked;
        return {Exit::ok, request.words[0]};
    }
    std::atomic<int> asked = 0;
};

// What it sends or receives may fail: the server closes a line from which too much comes.
class Client {
public:
    explicit Client(int port) : line_(open_tcp("127.0.0.1", std::to_string(port))) {}
    void send(const std::string& bytes) const {
        (void)error_of([&] {
            line_->write({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
        });
    }
    // Returns the next bytes; empty if no more come.
    std::string some() const {
        std::uint8_t bytes[4096];
        std::size_t count = 0;
        (void)error_of([&] { count = line_->read(bytes, 20s).count; });
        return {bytes, bytes + count};
    }
    // Reads to the end. A stream of events has none.
    std::string all() const {
        const auto until = std::chrono::steady_clock::now() + 15s;
        std::string text, more;
        while (std::chrono::steady_clock::now() < until && !(more = some()).empty()) text += more;
        return text;
    }

private:
    std::unique_ptr<Source> line_;
};

class ServeTest : public testing::Test {
protected:
    ServeTest() { ::signal(SIGPIPE, SIG_IGN); }
    void serve(const std::string& listen = "127.0.0.1:0", const std::string& token = "") {
        server.emplace(listen_address(listen), token, shown);
        host = "127.0.0.1:" + std::to_string(server->at().port);
    }
    std::string raw(const std::string& bytes) const { return client(bytes)->all(); }
    // `more`: header lines, each with its end.
    std::string get(const std::string& path, const std::string& more = "") const {
        return raw(head("GET", path, more) + "\r\n");
    }
    std::string post(const std::string& body, const std::string& more = is_json) const {
        return raw(head("POST", "/request", more) +
                   "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    std::string head(const std::string& method, const std::string& path,
                     const std::string& more = "") const {
        return method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + more;
    }
    std::unique_ptr<Client> client(const std::string& says) const {
        auto client = std::make_unique<Client>(server->at().port);
        client->send(says);
        return client;
    }
    std::unique_ptr<Client> follow() const { return client(head("GET", "/events") + "\r\n"); }
    // Requests with a header that a page of this kind sends.
    std::string get_from(const std::string& site, const char* mode, const std::string& path) const {
        return get(path, "Sec-Fetch-Site: " + site + "\r\nSec-Fetch-Mode: " + mode + "\r\n");
    }
    static constexpr const char* ok = "HTTP/1.1 200 ";
    static constexpr const char* bad = "HTTP/1.1 400 ";
    static constexpr const char* forbidden = "HTTP/1.1 403 ";
    static constexpr const char* mark = R"({"words":["mark"]})";
    static inline const std::string is_json = "Content-Type: application/json\r\n";

    Fake shown;
    std::string host;
    std::optional<Server> server;
};

TEST_F(ServeTest, ItsOwnPageIsAnswered) {
    serve();
    EXPECT_EQ(server->urls().front(), "http://" + host + "/");
    EXPECT_THAT(get("/"),
                AllOf(StartsWith(ok), HasSubstr("<!doctype html>"),
                      HasSubstr("connect-src 'self'; frame-ancestors 'none'\r\n"),
                      // Of two policies, the stricter one would forbid what the page needs.
                      Not(HasSubstr("http-equiv"))));
    EXPECT_THAT(get("/view"),
                AllOf(StartsWith(ok), HasSubstr("X-View: 3\r\n"), EndsWith("{\"n\":1}")));
    EXPECT_THAT(get("/view", "Accept-Encoding: gzip, deflate\r\n"),
                AllOf(HasSubstr("Content-Encoding: gzip\r\n"), EndsWith("packed")));
    EXPECT_THAT(post(mark, is_json + "Origin: http://" + host + "\r\n"),
                AllOf(StartsWith(ok), HasSubstr(R"({"status":0,"text":"mark"})")));
    for (const char* const site : {"none", "cross-site"})  // typed, and a link
        EXPECT_THAT(get_from(site, "navigate", "/"), StartsWith(ok)) << site;
    host = "localhost:1";  // another port, as ssh forwards it
    EXPECT_THAT(get("/view", "Origin: http://LOCALHOST:1\r\nSec-Fetch-Site: same-origin\r\n"),
                StartsWith(ok));
    host = "[::1]";
    EXPECT_THAT(get("/view"), StartsWith(ok));
}

TEST_F(ServeTest, ByAnotherNameNoRequestIsAnswered) {
    serve();
    for (const char* name :
         {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", "",
          ":80", "[::1", "127.0.0.1:80:80", "127.0.0.1:x", "evil.example\r\nHost: 127.0.0.1"}) {
        host = name;
        EXPECT_THAT(get("/view"), StartsWith(forbidden)) << name;
        EXPECT_THAT(get("/"), StartsWith(forbidden)) << name;
    }
    EXPECT_THAT(raw("GET /view HTTP/1.0\r\n\r\n"), StartsWith(forbidden));
    using namespace std::string_literals;
    for (const std::string& name :
         {"127.0.0.1\0.evil.example"s, "[::1\0]"s, "localhost\0"s, "127.0.0.1\t.evil.example"s}) {
        host = name;
        EXPECT_THAT(get("/view"), Not(StartsWith(ok))) << name;
    }
}

TEST_F(ServeTest, AnotherSitesPageIsNotAnswered) {
    serve();
    for (const std::string& site :
         std::vector<std::string>{"http://evil.example", "null", "https://" + host,
                                  "http://127.0.0.1:1", "http://localhost"}) {
        const std::string origin = "Origin: " + site + "\r\n";
        EXPECT_THAT(get("/view", origin), StartsWith(forbidden)) << site;
        EXPECT_THAT(post(mark, is_json + origin), StartsWith(forbidden)) << site;
    }
    for (const std::string site : {"cross-site", "same-site"}) {
        for (const char* path : {"/view", "/events", "/"})
            EXPECT_THAT(get_from(site, "no-cors", path), StartsWith(forbidden)) << site << path;
        EXPECT_THAT(post("{}", is_json + "Sec-Fetch-Site: " + site + "\r\n"),
                    StartsWith(forbidden));
    }
    // A form: browsers send it without asking first.
    EXPECT_THAT(post(mark, "Content-Type: text/plain\r\n"), StartsWith("HTTP/1.1 415 "));
    EXPECT_EQ(shown.asked, 0);
}

TEST_F(ServeTest, WithoutTheTokenNoRequestIsAnswered) {
    const std::string token = "0123456789abcdef";
    serve("0.0.0.0:0", token);
    EXPECT_THAT(server->urls().front(), EndsWith("/?token=" + token));
    EXPECT_THAT(get("/?token=" + token), StartsWith(ok));
    EXPECT_THAT(get("/view", "Authorization: Bearer " + token + "\r\n"), StartsWith(ok));
    host = "10.0.0.1:80";  // an address of this machine
    EXPECT_THAT(get("/view?token=" + token), StartsWith(ok));
    for (const std::string path : {"", "view", "events"}) {
        for (const std::string wrong :
             {"", "?token=", "?token=0123456789abcdeg", "?token=0123456789abcde",
              "?token=0123456789abcdef0", "?tokem=0123456789abcdef"}) {
            EXPECT_THAT(get("/" + path + wrong), StartsWith(forbidden)) << path << wrong;
        }
    }
    EXPECT_THAT(post(mark), StartsWith(forbidden));
    host = "evil.example";
    EXPECT_THAT(get("/view?token=" + token), StartsWith(forbidden));
}

TEST_F(ServeTest, ThereIsNothingElse) {
    serve();
    for (const char* path : {"/etc/passwd", "/../../etc/passwd", "/..%2f..%2fetc/passwd",
                             "//etc/passwd", "/view/", "/index.html"}) {
        EXPECT_THAT(get(path), StartsWith("HTTP/1.1 404 ")) << path;
    }
    for (const char* method : {"HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
        EXPECT_THAT(raw(head(method, "/view") + "\r\n"), StartsWith("HTTP/1.1 405 "));
    }
    EXPECT_THAT(get("/request"), StartsWith("HTTP/1.1 405 "));
}

TEST_F(ServeTest, ARequestThatMakesNoSenseIsToldSo) {
    serve();
    const std::string nested =
        R"({"words":)" + std::string(30000, '[') + std::string(30000, ']') + "}";
    for (const std::string& body :
         std::vector<std::string>{"{", "[]", R"({"words":["fly"]})", "\xff", nested}) {
        EXPECT_THAT(post(body), AllOf(StartsWith(ok), HasSubstr(R"({"status":2,"text":")")))
            << body.substr(0, 20);
    }
    EXPECT_EQ(shown.asked, 0);
}

TEST_F(ServeTest, ARequestThatIsTooLongIsNotRead) {
    serve();
    const std::string much(std::size_t{1} << 17, ' ');
    EXPECT_THAT(post(mark + much.substr(0, 60'000)), StartsWith(ok));
    EXPECT_THAT(post(mark + much), Not(StartsWith(ok)));
    EXPECT_EQ(shown.asked, 1);
    EXPECT_THAT(get("/view", "X: " + much.substr(0, 7000) + "\r\n"), StartsWith(ok));
    EXPECT_THAT(get("/view", "X: " + much.substr(0, 9000) + "\r\n"), Not(StartsWith(ok)));
    std::string heads;
    for (int n = 0; n < 3000; ++n) heads += "a:\r\n";
    EXPECT_THAT(get("/view", heads), Not(StartsWith(ok)));
    // A short request whose answer would be very long, or whose parsing would take very long.
    std::string ranges = "Range: bytes=0-";
    for (int n = 0; n < 1500; ++n) ranges += ",0-";
    EXPECT_THAT(get("/view", ranges + "\r\n"), StartsWith(bad));
    EXPECT_THAT(raw(head("POST", "/request", is_json) +
                    "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n"),
                StartsWith(bad));
    EXPECT_THAT(post("x", is_json + "content-ENCODING: gzip\r\n"), StartsWith(bad));
}

TEST_F(ServeTest, EventsComeAndSayWhatWasNotSaid) {
    serve();
    const auto client = follow();
    std::string text;
    while (text.find("data: {\"console\":1}\n\n") == text.npos) {
        const std::string more = client->some();
        ASSERT_FALSE(more.empty()) << text;
        text += more;
    }
    EXPECT_THAT(text, HasSubstr("Content-Type: text/event-stream\r\n"));
    EXPECT_THAT(text, HasSubstr("data: {\"console\":0}\n\n"));
    const auto begin = std::chrono::steady_clock::now();
    server.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 900ms)
        << "a page that follows does not keep it";
}

TEST_F(ServeTest, ManyFollowersAndOthersAreStillAnswered) {
    serve();
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t n = 0; n < Server::most_followers; ++n)
        EXPECT_THAT(clients.emplace_back(follow())->some(), StartsWith(ok));
    EXPECT_THAT(get("/events"), StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(get("/view"), StartsWith(ok));
    clients.clear();
    std::string answer;
    for (int n = 0; n < 100 && !answer.starts_with(ok); ++n) {
        std::this_thread::sleep_for(50ms);
        answer = follow()->some();
    }
    EXPECT_THAT(answer, StartsWith(ok)) << "a page that was closed makes room";
}

TEST_F(ServeTest, ASilentClientDelaysOthersOnlyShortly) {
    serve();
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t n = 0; n < Server::most_connections + 2; ++n)
        clients.push_back(client("GET / HT"));
    EXPECT_THAT(get("/view"), StartsWith(ok)) << "when they have been sent away";
}

TEST_F(ServeTest, TwoServersDoNotShareAPort) {
    serve();
    const Error error = error_of([&] { Server(server->at(), "", shown); });
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("cannot listen on 127.0.0.1:"), HasSubstr("already in use")));
    EXPECT_THROW(Server(listen_address("no-such-name.invalid:1"), "", shown), Error);
}

TEST(ServeAddress, IsAnAddressAndAPort) {
    for (const char* own : {"127.0.0.1:0", "127.1.2.3:1", "[::1]:8000", "LocalHost:8000"})
        EXPECT_TRUE(listen_address(own).is_loopback) << own;
    for (const char* other : {"0.0.0.0:8000", "[::]:8000", "lab.example:8000"})
        EXPECT_FALSE(listen_address(other).is_loopback) << other;
    EXPECT_EQ(listen_address("[::1]:8000").urls().front(), "http://[::1]:8000/");
    // No browser can open 0.0.0.0.
    EXPECT_THAT(listen_address("0.0.0.0:8000").urls(),
                AllOf(Contains("http://127.0.0.1:8000/"), Not(Contains("http://0.0.0.0:8000/"))));
    for (const char* wrong : {"", "8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                              "127.0.0.1:-1", "[::1]", "[::1:1", "::1:1", ":1"}) {
        EXPECT_THROW(listen_address(wrong), Error) << wrong;
    }
}

TEST(ServeToken, IsLongAndNeverTheSame) {
    EXPECT_GE(make_token().size(), 32u);
    EXPECT_NE(make_token(), make_token());
    check_token(make_token());
    for (const char* const wrong : {"short", "0123456789abcde&"})
        EXPECT_THROW(check_token(wrong), Error);
}

}  // namespace nopscope::host::test::serve_test
