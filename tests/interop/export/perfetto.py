# SPDX-License-Identifier: Apache-2.0
"""Reads Perfetto's format, decoded by protoc with the published field numbers. Clocks and interning work as Perfetto documents them. Slices
nest as in trace_processor's SliceTracker: at most 512 on a track, simultaneous instants nest in each other, and an end names no slice."""

import codecs
import collections
import pathlib
import zlib

import exports
from hostile_names import Varints

SCHEMA = pathlib.Path(__file__).resolve().parent / "perfetto_trace.proto"
REAL_TIME, BOOT_TIME = 1, 6
MAX_DEPTH = 512  # kMaxDepth in SliceTracker
MOST_OF_A_BLOCK = 512 * 1024  # trace_packet.proto
PACKET, COMPRESSED = 1 << 3 | 2, 50 << 3 | 2  # tags
BEGIN, END, INSTANT = "TYPE_SLICE_BEGIN", "TYPE_SLICE_END", "TYPE_INSTANT"


def fields(data):
    """Yields (tag, content) of a message that has only length-delimited fields."""
    numbers = Varints(data)
    while numbers.more():
        yield numbers.next(), numbers.take(numbers.next())


def inflated(trace):
    """Returns a trace's bytes with its packets uncompressed."""
    packets = b""
    for tag, packet in fields(trace):
        assert tag == PACKET and len(packet) < MOST_OF_A_BLOCK
        (kind, block), = fields(packet)
        assert kind == COMPRESSED
        packets += zlib.decompress(block)
    return packets


def message(lines):
    """Converts protoc's text form to dictionaries: {field: [values]}. A field that is not in the schema is an error."""
    fields = {}
    for line in lines:
        line = line.lstrip()
        if line == "}":
            break
        name, _, text = line.partition(": ")
        if not text:
            name, value = name.removesuffix(" {"), message(lines)
        elif text[0] == '"':
            value = codecs.escape_decode(text[1:-1].encode())[0].decode()
        else:
            value = int(text) if text.lstrip("-").isdigit() else text
        assert not name.isdigit(), f"field {name} is not in the published format"
        fields.setdefault(name, []).append(value)
    return fields


def one(fields, name, default=None):
    values = fields.get(name, [default])
    assert len(values) == 1, (name, values)
    return values[0]


class Trace:
    def __init__(self, path):
        self.sums = exports.Sums()
        self.tracks = {}  # uuid: descriptor
        self.named = {}   # uuid: the name of its thread, or its own
        self.parents = {}  # uuid: its parent's
        self.threads = {}  # number: name
        self.events = collections.defaultdict(list)  # name of track: (time, type, name, event)
        self.locations = {}
        self.sequences = {}
        self.slices = []   # until they are sorted: (time, number, uuid, type, name, core, is a call)
        self.log = []      # (boot time, text)
        self.categories = collections.defaultdict(set)  # of calls' begins: by name
        self.states = []   # (time, core, thread, its name, state, priority)
        self.real_minus_boot = self.about = self.attributes = None
        decoded = exports.run("protoc", f"--proto_path={SCHEMA.parent}", "--decode=perfetto.protos.Trace", SCHEMA.name,
                              input=inflated(path.read_bytes()))
        for packet in message(iter(decoded.stdout.decode().splitlines()))["packet"]:
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

    def nest(self):
        """Nests the slices as Perfetto's importer does. The levels of a context lie one above the other."""
        stacks = collections.defaultdict(list)  # by uuid: True, or the time of an instant
        for at, _, uuid, kind, name, core, is_call in sorted(self.slices):
            stack, context = stacks[uuid], uuid
            while not one(self.tracks[context], "thread"):
                context = self.parents[context]
            while stack and stack[-1] is not True and (stack[-1] < at or kind != INSTANT):
                stack.pop()
            if kind == END:
                assert stack and stack[-1] is True, f"an end at {at} of nothing"
                stack.pop()
                self.sums.end(context, at, core)
                continue
            assert len(stack) < MAX_DEPTH, f"{name} at {at} is dropped: too deep"
            stack.append(True if kind == BEGIN else at)
            if kind == BEGIN:
                self.sums.begin(context, name, at, core)
            elif is_call:
                self.sums.calls[name] += 1

    def packet(self, packet):
        if descriptor := one(packet, "track_descriptor"):
            self.track(one(descriptor, "uuid"), descriptor)
            return
        if attributes := one(packet, "trace_attributes"):
            self.attributes = {one(a, "key"): one(a, "string_value") for a in attributes["attribute"]}
            return
        if state := one(packet, "generic_kernel_task_state_event"):
            assert one(packet, "timestamp_clock_id") == BOOT_TIME
            self.states.append((one(packet, "timestamp"), one(state, "cpu", 0), one(state, "tid"), one(state, "comm"),
                                one(state, "state").removeprefix("TASK_STATE_"), one(state, "prio", 0)))
            return
        clocks = {one(clock, "clock_id"): clock for clock in one(packet, "clock_snapshot", {}).get("clocks", [])}
        if REAL_TIME in clocks:
            self.real_minus_boot = one(clocks[REAL_TIME], "timestamp") - one(clocks[BOOT_TIME], "timestamp")
        for line in one(packet, "android_log", {}).get("events", []):
            assert self.real_minus_boot is not None  # a log's clock is REALTIME
            self.log.append((one(line, "timestamp") - self.real_minus_boot, one(line, "message")))
        number, interned = one(packet, "trusted_packet_sequence_id"), one(packet, "interned_data", {})
        if one(packet, "sequence_flags", 0) & 1:
            defaults = one(packet, "trace_packet_defaults")
            own = one(defaults, "timestamp_clock_id")
            assert one(clocks[own], "is_incremental") == "true" and 64 <= own < 128
            assert one(clocks[own], "timestamp") == one(clocks[BOOT_TIME], "timestamp")
            self.sequences[number] = {"now": one(clocks[own], "timestamp"), "names": {}, "places": {},
                                      "track": one(one(defaults, "track_event_defaults"), "track_uuid"),
                                      "categories": {one(c, "iid"): one(c, "name") for c in interned["event_categories"]}}
            return
        sequence = self.sequences[number] if one(packet, "sequence_flags", 0) & 2 else None  # it needs state
        for name in interned.get("event_names", []):
            assert one(name, "iid") not in sequence["names"]
            sequence["names"][one(name, "iid")] = one(name, "name")
        for place in interned.get("source_locations", []):
            sequence["places"][one(place, "iid")] = (one(place, "file_name"), one(place, "line_number"))
        if event := one(packet, "track_event"):
            self.event(packet, sequence, event)

    def track(self, uuid, descriptor):
        if uuid == 0:  # the root
            assert one(descriptor, "thread_ordering") == "THREAD_ORDERING_EXPLICIT"
            return
        assert uuid not in self.tracks and (one(descriptor, "parent_uuid", 1) in {*self.tracks, uuid})
        self.tracks[uuid], self.parents[uuid] = descriptor, one(descriptor, "parent_uuid")
        thread = one(descriptor, "thread")
        self.named[uuid] = one(thread, "thread_name") if thread else one(descriptor, "name")
        if thread:
            assert one(thread, "tid") > 0
            self.threads[one(thread, "tid")] = self.named[uuid]
        if process := one(descriptor, "process"):
            self.about = one(process, "process_name"), process["cmdline"]

    def event(self, packet, sequence, event):
        if sequence:
            sequence["now"] += one(packet, "timestamp")
            at = sequence["now"]
        else:
            assert one(packet, "timestamp_clock_id") == BOOT_TIME
            at = one(packet, "timestamp")
        uuid = one(event, "track_uuid", sequence and sequence["track"])
        track, kind, name = self.named[uuid], one(event, "type"), one(event, "name")
        if iid := one(event, "name_iid"):
            name = sequence["names"][iid]
            self.categories[name].add(sequence["categories"][one(event, "category_iids")])
            if place := one(event, "source_location_iid"):
                self.locations[name] = sequence["places"][place]
        self.events[track].append((at, kind, name, event))
        if one(self.tracks[uuid], "thread") or track.startswith("from depth "):
            core = one(packet, "trusted_packet_sequence_id") - 1
            self.slices.append((at, len(self.slices), uuid, kind, name, core, bool(iid)))

    def annotations(self):
        """Yields (type of event, name, what, value) of each annotation that is an integer. An end has the name of its call."""
        for events in self.events.values():
            open_ = collections.defaultdict(list)
            for _, kind, name, event in events:
                uuid = one(event, "track_uuid")
                if kind == BEGIN:
                    open_[uuid].append(name)
                elif kind == END:
                    name = open_[uuid].pop()
                for annotation in event.get("debug_annotations", []):
                    if "int_value" in annotation:
                        yield kind, name, one(annotation, "name"), one(annotation, "int_value")
