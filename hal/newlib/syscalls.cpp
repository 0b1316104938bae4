// SPDX-License-Identifier: Apache-2.0
// newlib's system calls ("Red Hat newlib C Library", Syscalls): a console, a heap, a clock and an
// end. A descriptor other than the console's is EBADF.
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>

#include <cerrno>
#include <cstdint>

#include "hal/console.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"

namespace hal = nopscope::hal;

namespace {

constexpr int input = 0;
constexpr int output = 1;
constexpr int error = 2;

int fail(int why) {
    errno = why;
    return -1;
}

bool is_console(int file) { return file == input || file == output || file == error; }

}  // namespace

extern "C" {

int _write(int file, const char* bytes, int count) {
    if (file != output && file != error) return fail(EBADF);
    if (count < 0) return fail(EINVAL);
    hal::console_write(bytes, static_cast<std::size_t>(count));
    return count;
}

// Waits for the first byte, then returns all that have arrived.
int _read(int file, char* bytes, int count) {
    if (file != input) return fail(EBADF);
    int done = 0;
    while (done < count) {
        std::uint8_t byte;
        if (hal::uart_try_read(byte)) {
            bytes[done++] = static_cast<char>(byte);
        } else if (done != 0) {
            break;
        }
    }
    return done;
}

// Grows or shrinks the heap by `bytes`. Returns its old end.
void* _sbrk(std::ptrdiff_t bytes) {
    static std::uint64_t end = 0;
    const hal::HeapBounds heap = hal::heap_bounds();
    const hal::InterruptsMasked masked;
    if (end == 0) end = heap.low;
    const std::uint64_t before = end;
    const bool fits = bytes >= 0
                          ? static_cast<std::uint64_t>(bytes) <= heap.high - end
                          : std::uint64_t{0} - static_cast<std::uint64_t>(bytes) <= end - heap.low;
    if (!fits) {
        errno = ENOMEM;
        return reinterpret_cast<void*>(-1);
    }
    end += static_cast<std::uint64_t>(bytes);
    return reinterpret_cast<void*>(before);
}

[[noreturn]] void _exit(int status) { hal::exit(status); }

int _close(int file) { return is_console(file) ? 0 : fail(EBADF); }

int _fstat(int file, struct stat* status) {
    if (!is_console(file)) return fail(EBADF);
    status->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file) { return is_console(file) ? 1 : fail(EBADF); }
off_t _lseek(int, off_t, int) { return fail(ESPIPE); }
int _getpid() { return 1; }
int _kill(int, int) { return fail(EINVAL); }
int _open(const char*, int, int) { return fail(ENOENT); }
int _unlink(const char*) { return fail(ENOENT); }
int _link(const char*, const char*) { return fail(ENOENT); }

// The counter's time, from an arbitrary start: there is no calendar.
int _gettimeofday(struct timeval* now, void*) {
    constexpr std::uint64_t micro = 1'000'000;
    const std::uint64_t ticks = hal::clock();
    const std::uint64_t hz = hal::clock_hz();
    now->tv_sec = static_cast<time_t>(ticks / hz);
    now->tv_usec = static_cast<suseconds_t>(ticks % hz * micro / hz);
    return 0;
}

// The time since the counter's start, all as user time, in newlib's CLOCKS_PER_SEC.
clock_t _times(struct tms* times) {
    const std::uint64_t ticks = hal::clock();
    const std::uint64_t hz = hal::clock_hz();
    const auto now =
        static_cast<clock_t>(ticks / hz * CLOCKS_PER_SEC + ticks % hz * CLOCKS_PER_SEC / hz);
    *times = {.tms_utime = now, .tms_stime = 0, .tms_cutime = 0, .tms_cstime = 0};
    return now;
}
}
