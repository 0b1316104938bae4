#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Perfetto's format, decoded by protoc with the published field numbers. Clocks and interning work
as Perfetto documents them. Slices nest as in trace_processor's SliceTracker: at most 512 on a
track, simultaneous instants nest in each other, and an end names no slice."""

import collections
import pathlib
import re

import exports
import hostile_names
import packets
from protoc import decode, one

SCHEMA = pathlib.Path(__file__).resolve().parent / "perfetto_trace.proto"
REAL_TIME, BOOT_TIME = 1, 6
MAX_DEPTH = 512  # kMaxDepth in SliceTracker


def plain(path):
    """Writes the trace with its packets uncompressed, as the importer sees them. Returns the path."""
    out = pathlib.Path(f"{path}.plain")
    out.write_bytes(packets.inflated(path.read_bytes()))
    return out


class Trace:
    def __init__(self, path, sums=None, key=lambda name: name):
        self.sums = sums or exports.Sums()
        self.key = key    # the sums' key of a function's name
        self.tracks = {}  # uuid: descriptor
        self.named = {}   # uuid: the name of its thread, or its own
        self.events = collections.defaultdict(list)  # name of track: (time, type, name, event)
        self.locations = {}
        self.sequences = {}
        self.parents = {}  # uuid: its parent's
        self.slices = collections.defaultdict(list)  # by uuid, until they are sorted: (time, type, name, core, is a call)
        self.real_minus_boot = None
        self.number = 0    # number of events
        self.log = []      # (boot time, text)
        self.categories = collections.defaultdict(set)  # of calls' begins: by name
        self.states = []   # (time, core, thread, its name, state, priority)
        self.about = self.attributes = None
        for packet in decode(SCHEMA, "perfetto.protos.Trace", plain(path))["packet"]:
            self.packet(packet)
        self.nest()
        self.lanes = [state[:4] for state in self.states if state[4] == "RUNNING"]

    def ran(self):
        """What Perfetto's importer makes of the states, by its rules: yields (core, thread, begin, end, state after it)
        of each time that a thread ran. A state ends the slice on its core if the thread is that slice's."""
        runs = {}  # by core: (thread, since)
        for at, core, thread, _, state, _ in sorted(self.states, key=lambda state: state[0]):
            if state != "RUNNING" and (core not in runs or runs[core][0] != thread):
                continue
            if core in runs:
                yield core, *runs.pop(core), at, state if state != "RUNNING" else None
            if state == "RUNNING":
                runs[core] = thread, at
        assert not runs, f"still running at the end: {runs}"

    def root(self, uuid):
        """Returns the context that a track of deeper levels belongs to."""
        while not one(self.tracks[uuid], "thread"):
            uuid = self.parents[uuid]
        return uuid

    def nest(self):
        """Nests the slices as Perfetto's importer does. The levels of a context lie one above the
        other."""
        stacks = collections.defaultdict(list)  # by uuid: True, or the time of an instant
        events = sorted(((at, number, uuid, kind, name, core, is_call) for uuid, its in self.slices.items()
                         for at, number, kind, name, core, is_call in its))
        for at, _, uuid, kind, name, core, is_call in events:
            stack = stacks[uuid]
            while stack and stack[-1] is not True and (stack[-1] < at or kind != "TYPE_INSTANT"):
                stack.pop()
            if kind == "TYPE_SLICE_END":
                assert stack and stack[-1] is True, f"an end at {at} of nothing"
                stack.pop()
                self.sums.end(self.root(uuid), at, core)
                continue
            assert len(stack) < MAX_DEPTH, f"{name} at {at} is dropped: too deep"
            stack.append(True if kind == "TYPE_SLICE_BEGIN" else at)
            if kind == "TYPE_SLICE_BEGIN":
                self.sums.begin(self.root(uuid), self.key(name), at, core)
            elif is_call:
                self.sums.point(self.key(name))
        self.deepest = max((len(its) for its in stacks.values()), default=0)

    def packet(self, packet):
        if descriptor := one(packet, "track_descriptor"):
            uuid = one(descriptor, "uuid")
            if uuid == 0:  # the root
                assert one(descriptor, "thread_ordering") == "THREAD_ORDERING_EXPLICIT"
                return
            assert uuid not in self.tracks and (one(descriptor, "parent_uuid", 1) in {*self.tracks, uuid})
            self.tracks[uuid] = descriptor
            thread = one(descriptor, "thread")
            self.named[uuid] = one(thread, "thread_name") if thread else one(descriptor, "name")
            self.parents[uuid] = one(descriptor, "parent_uuid")
            assert not thread or one(thread, "tid") > 0
            if process := one(descriptor, "process"):
                self.about = one(process, "process_name"), process["cmdline"]
            return
        if attributes := one(packet, "trace_attributes"):
            self.attributes = {one(a, "key"): one(a, "string_value") for a in attributes["attribute"]}
            return
        if state := one(packet, "generic_kernel_task_state_event"):
            assert one(packet, "timestamp_clock_id") == BOOT_TIME
            self.states.append((one(packet, "timestamp"), one(state, "cpu", 0), one(state, "tid"), one(state, "comm"),
                                one(state, "state").removeprefix("TASK_STATE_"), one(state, "prio", 0)))
            return
        if clocks := one(packet, "clock_snapshot", {}).get("clocks", []):
            at = {one(clock, "clock_id"): one(clock, "timestamp") for clock in clocks}
            if REAL_TIME in at:
                self.real_minus_boot = at[REAL_TIME] - at[BOOT_TIME]
        for line in one(packet, "android_log", {}).get("events", []):
            assert self.real_minus_boot is not None  # a log's clock is REALTIME
            self.log.append((one(line, "timestamp") - self.real_minus_boot, one(line, "message")))
        number = one(packet, "trusted_packet_sequence_id")
        if one(packet, "sequence_flags", 0) & 1:
            clocks = {one(clock, "clock_id"): clock for clock in one(packet, "clock_snapshot")["clocks"]}
            defaults = one(packet, "trace_packet_defaults")
            own = one(defaults, "timestamp_clock_id")
            assert one(clocks[own], "is_incremental") == "true" and 64 <= own < 128
            assert one(clocks[own], "timestamp") == one(clocks[BOOT_TIME], "timestamp")
            self.sequences[number] = {"now": one(clocks[own], "timestamp"), "names": {}, "places": {},
                                      "track": one(one(defaults, "track_event_defaults"), "track_uuid"),
                                      "categories": {one(c, "iid"): one(c, "name") for c in
                                                     one(packet, "interned_data")["event_categories"]}}
            return
        needs_state = one(packet, "sequence_flags", 0) & 2
        sequence = self.sequences[number] if needs_state else None
        for name in one(packet, "interned_data", {}).get("event_names", []):
            assert one(name, "iid") not in sequence["names"]
            sequence["names"][one(name, "iid")] = one(name, "name")
        for place in one(packet, "interned_data", {}).get("source_locations", []):
            sequence["places"][one(place, "iid")] = (one(place, "file_name"), one(place, "line_number"))
        if event := one(packet, "track_event"):
            self.event(packet, sequence, event)

    def event(self, packet, sequence, event):
        self.number += 1
        if sequence:
            sequence["now"] += one(packet, "timestamp")
            at = sequence["now"]
        else:
            assert one(packet, "timestamp_clock_id") == BOOT_TIME
            at = one(packet, "timestamp")
        uuid = one(event, "track_uuid", sequence and sequence["track"])
        track = self.named[uuid]
        kind = one(event, "type")
        name = one(event, "name")
        if iid := one(event, "name_iid"):
            name = sequence["names"][iid]
            self.categories[name].add(sequence["categories"][one(event, "category_iids")])
            if place := one(event, "source_location_iid"):
                self.locations[name] = sequence["places"][place]
        self.events[track].append((at, kind, name, event))
        if not one(self.tracks[uuid], "thread") and not track.startswith("from depth "):
            return
        core = one(packet, "trusted_packet_sequence_id") - 1
        self.slices[uuid].append((at, self.number, kind, name, core, bool(iid)))


def annotations(trace):
    """Yields (type of event, name, what, value) of each annotation that is an integer. An end has the name of its call."""
    for track, events in trace.events.items():
        open_ = collections.defaultdict(list)
        for _, kind, name, event in events:
            uuid = one(event, "track_uuid")
            if kind == "TYPE_SLICE_BEGIN":
                open_[uuid].append(name)
            elif kind == "TYPE_SLICE_END":
                name = open_[uuid].pop()
            for annotation in event.get("debug_annotations", []):
                if "int_value" in annotation:
                    yield kind, name, one(annotation, "name"), one(annotation, "int_value")


class Perfetto(exports.Case):
    FORMAT = "perfetto"
    traces = {}

    def trace(self, name, *options):
        key = name, options
        if key not in self.traces:
            self.traces[key] = Trace(self.export(name, *options))
        return self.traces[key]

    def test_calls_and_times_are_the_report_s(self):
        for name, options in exports.RUNS:
            trace = self.trace(name, *options)
            self.check_events(name, trace.sums, options)
            self.assertRegex(" ".join([trace.about[0], *trace.about[1]]), r"\(nopscope, raw times\) times are raw: ")

    def test_the_console_is_a_log(self):
        shown = self.trace("tasks").log
        self.assertEqual("".join(text for _, text in shown),
                         "".join(row["text"] for row in exports.rows_of("tasks", self.directory, "console")))
        self.assertGreater(len(shown), 0)

    def test_source_lines(self):
        trace = self.trace("torture")
        expected = {row["name"]: (row["file"], row["line"])
                    for row in exports.report("torture")["functions"] if row["file"]}
        self.assertGreater(len(expected), 10)
        self.assertEqual(trace.locations, expected)

    def test_tracks_marks_counters_and_values(self):
        tasks = self.trace("tasks")
        self.assertGreater(len([t for t in tasks.tracks.values() if one(t, "thread")]), 2)
        for name in ("tasks", "captured"):
            trace = self.trace(name)
            marks = [(e[0], e[2]) for events in trace.events.values() for e in events if str(e[2]).startswith("mark ")]
            first = min(e[0] for events in trace.events.values() for e in events if e[1] != "TYPE_COUNTER")
            self.assertEqual(sorted(text for _, text in marks),
                             sorted(f"mark {mark['id']}" for mark in exports.graph(name)["markers"]))
            if name == "tasks":
                self.assertEqual(sorted(at - first for at, _ in marks),
                                 sorted(mark["time_ns"] for mark in exports.graph(name)["markers"]))
        report = exports.report("captured")
        for counter in report["counters"]:
            values = [one(e[3], "counter_value") for e in trace.events[f"counter {counter['id']}"]]
            self.assertEqual((len(values), min(values), max(values)), (counter["count"], counter["min"], counter["max"]))
        found, ways = collections.defaultdict(list), collections.Counter()
        for kind, name, what, value in annotations(trace):
            found[name.removesuffix(f" {what}"), what].append(value)
            ways[kind, what == "result"] += 1
        self.assertEqual(exports.ranges(found), exports.ranges_of(report["captured"], lambda row: (row["name"], row["what"])))
        self.assertTrue(report["captured"] and report["counters"])
        # Arguments are the begin's, a result is the end's. A value without an open call is an instant.
        self.assertGreater(ways["TYPE_SLICE_BEGIN", False], 10)
        self.assertGreaterEqual(ways["TYPE_SLICE_END", True], 10)
        self.assertEqual(ways["TYPE_SLICE_END", False], 0)

    def test_threads_come_in_their_order(self):
        for name in ("tasks", "contexts", "cores"):
            threads = [(one(track, "sibling_order_rank", 0), one(one(track, "thread"), "thread_name"))
                       for track in self.trace(name).tracks.values() if one(track, "thread")]
            numbers = [[int(number) for number in re.findall(r"\d+", name.replace("several", "99"))]
                       for _, name in sorted(threads)]
            self.assertEqual(numbers, sorted(numbers))
            self.assertEqual(len({rank for rank, _ in threads}), len(threads))

    def test_lanes_show_which_context_runs(self):
        trace = self.trace("tasks")
        of_thread = {one(one(track, "thread"), "tid"): one(one(track, "thread"), "thread_name")
                     for track in trace.tracks.values() if one(track, "thread")}
        self.assertEqual({(tid, name) for _, _, tid, name in trace.lanes}, set(of_thread.items()))
        self.assertTrue(all(a[2] != b[2] for a, b in zip(trace.lanes, trace.lanes[1:])))
        # A call begins and ends on the track of the context that runs.
        runs = [lane[0] for lane in trace.lanes]
        checked = 0
        for track, events in trace.events.items():
            for at, kind, name, _ in events:
                if kind == "TYPE_SLICE_BEGIN" and name not in (exports.AWAY, exports.TRACER, None) and at not in runs:
                    _, _, _, running = [lane for lane in trace.lanes if lane[0] <= at][-1]
                    self.assertEqual(running, track, f"{name} at {at}")
                    checked += 1
        self.assertGreater(checked, 20)
        self.assertEqual(self.trace("torture").lanes, [])

    def test_it_names_image_board_and_build_id(self):
        trace, report = self.trace("tasks"), exports.report("tasks")
        self.assertEqual(trace.about[0], f"{report['image']['name']} on {report['image']['board']}, build-id "
                                         f"{report['image']['build_id']} (nopscope, raw times)")
        self.assertEqual(trace.attributes["nopscope.build_id"], report["image"]["build_id"])
        self.assertNotIn("nopscope.part", trace.attributes)

    def test_a_part_says_so_and_keeps_the_target_s_times(self):
        whole, part = self.trace("begin"), self.trace("begin", "--time", "2ms..2.5ms")
        self.assertEqual(part.attributes["nopscope.part"], "2ms..2.5ms")
        self.assertIn("a part of the recording: 2ms..2.5ms", part.about[1])
        begin, end = (of(event[0] for events in part.events.values() for event in events) for of in (min, max))
        # `--time` counts without the tracer's time here, so the part is longer on the target's clock.
        self.assertGreaterEqual(end - begin, 490_000)
        calls = {event[:3] for events in whole.events.values() for event in events if event[1] == "TYPE_SLICE_BEGIN"}
        of_part = [event[:3] for events in part.events.values() for event in events if event[1] == "TYPE_SLICE_BEGIN"]
        self.assertGreater(len(of_part), 100)
        self.assertEqual([event for event in of_part if event[0] > begin and event not in calls], [])
        self.assertLess(len(of_part), len(calls) // 2)

    def test_categories(self):
        categories = self.trace("samples").categories | self.trace("begin").categories | self.trace("tasks").categories
        for name, found in categories.items():
            expected = {exports.TRACER: "tracer", exports.AWAY: "context"}.get(
                name, "irq" if name.startswith("(interrupt ") else "call")
            self.assertEqual(found, {expected}, name)
        self.assertEqual({kind for found in categories.values() for kind in found}, {"tracer", "context", "irq", "call"})

    def test_gaps(self):
        for name in ("gaps", "stream"):
            trace = self.trace(name)
            found = [tuple(one(a, "uint_value") for a in event["debug_annotations"])
                     for track, events in trace.events.items() for _, kind, _, event in events
                     if track.endswith((": lost", ": dropped")) and kind == "TYPE_SLICE_BEGIN"]
            self.assertGreater(len(found), 1)
            self.assertEqual(sorted(found), exports.gaps_of(name))

    def test_samples(self):
        trace = self.trace("samples")
        own, paths = collections.Counter(), 0
        for _, _, name, event in trace.events["core 0: samples"]:
            frames = one(event, "callstack")["frames"]
            self.assertEqual(one(frames[-1], "function_name"), name)
            own[name] += 1
            paths += len(frames)
        self.assertEqual(own, exports.sampled())
        self.assertGreater(paths, 2 * sum(own.values()))

    def test_hostile_names(self):
        trace = self.trace("hostile")
        self.check_events("hostile", trace.sums, spelt=hostile_names.without_nul)
        self.assertIn(hostile_names.NAMES[0].decode(), trace.sums.calls)


if __name__ == "__main__":
    exports.main()
