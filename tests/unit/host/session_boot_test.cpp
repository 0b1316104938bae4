// SPDX-License-Identifier: Apache-2.0
// The lines that a board prints before its frames, and which other bytes count as damage.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::session_boot_test {

constexpr char boot_text[] = "boot: nopscope board=virt level=1\r\nboot: baud=115200\r\nhello\n";

class BootSession : public Session {
protected:
    void boot_and_read() {
        target.raw(boot_text);
        target.bytes.push_back(0);
        target.reset();
        target.hello();
        finish_and_read();
        EXPECT_EQ(sink.raw, boot_text);
        EXPECT_EQ(reader.line().raw_bytes, 0u);
        EXPECT_EQ(reader.line().lead_bytes, sizeof boot_text - 1);
    }
};

TEST_F(BootSession, LinesBetweenTwoSessionsAreNoDamage) {
    hello_and_four_calls();
    boot_and_read();
    EXPECT_EQ(reader.line().corrupt_frames, 0u);
    EXPECT_EQ(reader.counters().sessions, 2u);
}

TEST_F(BootSession, AFrameThatAResetHasCutIsCountedWithoutTheLinesBehindIt) {
    hello_and_four_calls();
    target.bytes.resize(target.bytes.size() - 5);
    boot_and_read();
    EXPECT_EQ(reader.line().corrupt_frames, 1u);
}

TEST_F(Session, OtherTextBetweenFramesIsDamage) {
    target.hello();
    target.raw("panic\n");
    target.bytes.push_back(0);
    finish_and_read();
    EXPECT_EQ(reader.line().corrupt_frames, 1u);
    EXPECT_EQ(reader.line().raw_bytes, 6u);
    EXPECT_EQ(reader.line().lead_bytes, 0u);
}

TEST_F(Session, BootLinesAtTheEndAreNotCut) {
    target.hello();
    target.raw(boot_text);
    read();
    EXPECT_EQ(sink.raw, boot_text);
    EXPECT_EQ(reader.line().cut_bytes, 0u);
    EXPECT_EQ(reader.line().raw_bytes, 0u);
}

}  // namespace nopscope::host::test::session_boot_test
