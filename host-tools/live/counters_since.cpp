// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/counters_since.hpp"

namespace nopscope::host {

void CountersSince::begin(const SessionReader& reader) {
    line_before_ = reader.line();
    stream_before_ = reader.counters();
    if (reader.has_session()) --stream_before_.sessions;  // it goes on
}

StreamCounters CountersSince::stream(const SessionReader& reader) const {
    StreamCounters stream = reader.counters();
    for (const auto field : stream_fields)
        stream.*field = since(stream.*field, stream_before_.*field);
    stream.generated_at_least = reader.counters().generated_at_least;
    for (std::size_t i = 0; i < stream.frames_by_stream.size(); ++i) {
        stream.frames_by_stream[i] =
            since(stream.frames_by_stream[i], stream_before_.frames_by_stream[i]);
    }
    return stream;
}

LineCounters CountersSince::line(const SessionReader& reader) const {
    LineCounters line = reader.line();
    for (const auto field : line_fields) line.*field = since(line.*field, line_before_.*field);
    return line;
}

}  // namespace nopscope::host
