// SPDX-License-Identifier: Apache-2.0
// Field numbers of Perfetto's trace format, from its protos/perfetto/trace.
#pragma once

#include <cstdint>

namespace nopscope::host::perfetto {

namespace trace {
enum : std::uint32_t { packet = 1 };
}
namespace packet {
enum : std::uint32_t {
    clock_snapshot = 6,
    timestamp = 8,
    sequence_id = 10,
    track_event = 11,
    interned_data = 12,
    sequence_flags = 13,
    android_log = 39,
    compressed_packets = 50,
    timestamp_clock_id = 58,
    defaults = 59,
    track_descriptor = 60,
    task_state = 117,
    attributes = 126,
};
}
namespace defaults {
enum : std::uint32_t { track_event = 11, timestamp_clock_id = 58 };
}
namespace clock_snapshot {
enum : std::uint32_t { clocks = 1 };
}
namespace clock {
enum : std::uint32_t { id = 1, timestamp = 2, is_incremental = 3 };
}
namespace event {
enum : std::uint32_t {
    category_iids = 3,
    annotations = 4,
    type = 9,
    name_iid = 10,
    track_uuid = 11,
    categories = 22,
    name = 23,
    counter_value = 30,
    location_iid = 34,
    callstack = 55,
};
}
namespace callstack {
enum : std::uint32_t { frames = 1, function = 1, file = 2, line = 3 };
}
namespace annotation {
enum : std::uint32_t { uint_value = 3, int_value = 4, string_value = 6, name = 10 };
}
namespace interned {
enum : std::uint32_t {
    event_categories = 1,
    event_names = 2,
    source_locations = 4,
    iid = 1,
    name = 2
};
}
namespace location {
enum : std::uint32_t { iid = 1, file = 2, function = 3, line = 4 };
}
namespace descriptor {
enum : std::uint32_t {
    uuid = 1,
    name = 2,
    process = 3,
    thread = 4,
    parent = 5,
    counter = 8,
    order = 12,
    thread_ordering = 20
};
}
namespace process {
enum : std::uint32_t { pid = 1, command_line = 2, name = 6 };
}
namespace thread {
enum : std::uint32_t { pid = 1, tid = 2, name = 5 };
}

namespace log {
enum : std::uint32_t {
    events = 1,
    pid = 2,
    tid = 3,
    timestamp = 5,
    tag = 6,
    priority = 7,
    message = 8
};
}
namespace task_state {
enum : std::uint32_t { cpu = 1, comm = 2, tid = 3, state = 4, prio = 5 };
}
namespace attributes {
enum : std::uint32_t { attribute = 1, key = 1, string_value = 3 };
}

}  // namespace nopscope::host::perfetto
