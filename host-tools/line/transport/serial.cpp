// SPDX-License-Identifier: Apache-2.0
// A serial port, raw, at any rate that the driver can make. It uses BOTHER with TCSETS2
// (ioctl_tty(2)), because the Bnnn constants of termios end at 4 Mbaud and omit most rates.
// <asm/termbits.h> and <termios.h> define the same names, so only the first is used here.
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/line/transport/ports.hpp"
#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {
namespace {

void set_raw(int port, const std::string& path, std::uint32_t baud) {
    termios2 settings{};
    if (ioctl(port, TCGETS2, &settings) != 0) {
        throw Error(path + " is not a serial port: " + system_error(errno));
    }
    settings.c_iflag = 0;
    settings.c_oflag = 0;
    settings.c_lflag = 0;
    settings.c_cflag &= ~static_cast<tcflag_t>(CBAUD | CSIZE | PARENB | CSTOPB | CRTSCTS);
    settings.c_cflag |= BOTHER | CS8 | CREAD | CLOCAL;
    settings.c_ispeed = settings.c_ospeed = baud;
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    if (ioctl(port, TCSETS2, &settings) != 0) {
        throw Error("cannot set " + path + " to " + std::to_string(baud) +
                    " baud: " + system_error(errno));
    }
}

class SerialSource final : public DescriptorSource {
public:
    SerialSource(int port, const std::string& path, std::uint32_t baud, bool is_asked)
        : DescriptorSource(port, path), baud_(baud), is_asked_(is_asked) {}
    void set_baud(std::uint32_t baud) override {
        ioctl(descriptor_, TCSBRK, 1);  // waits until written bytes have left (tcdrain)
        SerialSource::follow_baud(baud);
    }
    void follow_baud(std::uint32_t baud) override {
        set_raw(descriptor_, name_, baud);
        baud_ = baud;
    }
    // The port stays exclusive until all have closed it, unless this is undone.
    std::optional<int> close() override {
        if (descriptor_ >= 0) ioctl(descriptor_, TIOCNXCL);
        return DescriptorSource::close();
    }
    ~SerialSource() override { SerialSource::close(); }
    std::string others() const override { return users_of(name_); }
    bool may_try_rates() const override { return !is_asked_; }
    std::uint32_t baud() const override { return baud_; }

private:
    std::uint32_t baud_;
    bool is_asked_;
};

}  // namespace

std::unique_ptr<Source> open_serial(const std::string& path, std::uint32_t baud, bool is_asked) {
    // Non-blocking, because open() would wait on a port without carrier.
    const int port = open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (port < 0) throw Error(open_failure(path, errno));
    // Two programs that read a port share its bytes. TIOCEXCL keeps out all later ones, but for
    // root's; the lock keeps out each one that asks for it, as another nopscope.
    if (flock(port, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(port);
        throw Error(open_failure(path, EBUSY));
    }
    ioctl(port, TIOCEXCL);
    auto source = std::make_unique<SerialSource>(port, path, baud, is_asked);
    set_raw(port, path, baud);
    ioctl(port, TCFLSH, TCIFLUSH);
    return source;
}

}  // namespace nopscope::host
