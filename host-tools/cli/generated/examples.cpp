// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/generated/examples.hpp"

#include <string_view>

namespace nopscope::host {
namespace {

struct Examples {
    std::string_view command;
    std::string_view lines;
};
constexpr Examples all[] = {
    {"record",
     "nopscope record --from serial:/dev/ttyUSB0?baud=1500000 --image firmware.elf -o run.nsc\n"
     "nopscope record --from tcp:localhost:4444 --image firmware.elf --trace 'lua_*' --depth 5 -o "
     "run.nsc\n"
     "nopscope record --from exec:'qemu-system-aarch64 -M virt -cpu max -nographic -kernel "
     "firmware.elf' -o run.nsc\n"},
    {"ctl",
     "nopscope ctl --from serial:/dev/ttyUSB0 stats\n"
     "nopscope ctl --via unix:/tmp/steer --image firmware.elf trace 'luaH_*' --recorder graph\n"},
    {"top",
     "nopscope top --from serial:/dev/ttyUSB0?baud=1500000 --image firmware.elf\n"
     "nopscope top --from tcp:localhost:4444 --image firmware.elf --once --format json\n"},
    {"serve",
     "nopscope serve run.nsc\n"
     "nopscope serve --from serial:/dev/ttyUSB0?baud=1500000 --image firmware.elf\n"},
    {"report",
     "nopscope report run.nsc --top 20\n"
     "nopscope report run.nsc --sort total --format csv\n"},
    {"graph", "nopscope graph run.nsc --levels 4 --min-share 1\n"},
    {"html", "nopscope html run.nsc -o report.html\n"},
    {"serve",
     "nopscope serve run.nsc\n"
     "nopscope serve --from 'serial:/dev/ttyUSB0?baud=3000000' --image demo.elf -o run.nsc\n"},
    {"export",
     "nopscope export run.nsc --format perfetto -o run.perfetto-trace\n"
     "nopscope export run.nsc --format callgrind -o callgrind.out.run\n"},
    {"diff",
     "nopscope diff before.nsc after.nsc\n"
     "nopscope diff old1.nsc old2.nsc old3.nsc -- new1.nsc new2.nsc new3.nsc --fail-above 5%\n"},
    {"query",
     "nopscope query run.nsc 'SELECT name, MAX(duration_ns) FROM named_calls GROUP BY name ORDER "
     "BY 2 DESC LIMIT 10'\n"},
    {"callers", "nopscope callers run.nsc malloc\n"},
    {"callees", "nopscope callees run.nsc 'luaV_*'\n"},
    {"latency", "nopscope latency run.nsc on_packet\n"},
    {"outliers", "nopscope outliers run.nsc on_packet --top 5\n"},
    {"irq", "nopscope irq run.nsc\n"},
    {"stack-depth", "nopscope stack-depth run.nsc\n"},
    {"info",
     "nopscope info run.nsc\n"
     "nopscope info firmware.elf --sites\n"},
    {"check", "nopscope check firmware.elf --verbose\n"},
    {"names", "nopscope names firmware.elf -o names.s\n"},
    {"events", "nopscope events\n"},
    {"help", "nopscope help record\n"},
    {"doctor",
     "nopscope doctor\n"
     "nopscope doctor --from serial:/dev/ttyUSB0?baud=1500000 --image firmware.elf\n"},
};

}  // namespace

std::string examples_of(const std::string& command) {
    std::string out;
    for (const Examples& one : all) {
        if (one.command != command) continue;
        out = "Examples:\n";
        for (std::string_view rest = one.lines; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
            out += "  " + std::string(rest.substr(0, rest.find('\n') + 1));
        }
    }
    return out;
}

}  // namespace nopscope::host
