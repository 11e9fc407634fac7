# SPDX-License-Identifier: MIT
"""perfetto_reader.py FILE SUBMISSIONS: FILE breaks no rule and has so many submissions, each once, in the process of
its client, and on its node.

Reads a Perfetto trace by the rules that Perfetto documents (docs/reference/synthetic-track-event.md,
docs/concepts/clock-sync.md and the comments of protos/perfetto/trace/), and refuses what breaks one of them. It shares
nothing with the program that writes the trace: fields and their types are listed here once more, from those pages."""

import collections
import sys

VARINT, FIXED64, BYTES = 0, 1, 2
NUMBER, FIXED, TEXT = "number", "fixed", "text"

# Messages: number of a field: (its name, its type or message, whether it may stand more than once).
MESSAGES = {
    "Trace": {1: ("packet", "TracePacket", True)},
    "TracePacket": {
        6: ("clock_snapshot", "ClockSnapshot", False),
        8: ("timestamp", NUMBER, False),
        10: ("trusted_packet_sequence_id", NUMBER, False),
        11: ("track_event", "TrackEvent", False),
        12: ("interned_data", "InternedData", False),
        13: ("sequence_flags", NUMBER, False),
        42: ("previous_packet_dropped", NUMBER, False),
        58: ("timestamp_clock_id", NUMBER, False),
        59: ("trace_packet_defaults", "TracePacketDefaults", False),
        60: ("track_descriptor", "TrackDescriptor", False),
        87: ("first_packet_on_sequence", NUMBER, False),
    },
    "TracePacketDefaults": {58: ("timestamp_clock_id", NUMBER, False)},
    "ClockSnapshot": {1: ("clocks", "Clock", True), 2: ("primary_trace_clock", NUMBER, False)},
    "Clock": {
        1: ("clock_id", NUMBER, False),
        2: ("timestamp", NUMBER, False),
        3: ("is_incremental", NUMBER, False),
        4: ("unit_multiplier_ns", NUMBER, False),
    },
    "InternedData": {2: ("event_names", "Entry", True), 3: ("debug_annotation_names", "Entry", True)},
    "Entry": {1: ("iid", NUMBER, False), 2: ("name", TEXT, False)},
    "TrackDescriptor": {
        1: ("uuid", NUMBER, False),
        2: ("name", TEXT, False),
        3: ("process", "ProcessDescriptor", False),
        5: ("parent_uuid", NUMBER, False),
        8: ("counter", "CounterDescriptor", False),
        11: ("child_ordering", NUMBER, False),
        12: ("sibling_order_rank", NUMBER, False),
        14: ("description", TEXT, False),
        19: ("process_ordering", NUMBER, False),
    },
    "ProcessDescriptor": {1: ("pid", NUMBER, False), 6: ("process_name", TEXT, False)},
    "CounterDescriptor": {3: ("unit", NUMBER, False), 6: ("unit_name", TEXT, False)},
    "TrackEvent": {
        4: ("debug_annotations", "DebugAnnotation", True),
        9: ("type", NUMBER, False),
        10: ("name_iid", NUMBER, False),
        11: ("track_uuid", NUMBER, False),
        23: ("name", TEXT, False),
        30: ("counter_value", NUMBER, False),
        47: ("flow_ids", FIXED, True),
    },
    "DebugAnnotation": {
        1: ("name_iid", NUMBER, False),
        3: ("uint_value", NUMBER, False),
        4: ("int_value", NUMBER, False),
        6: ("string_value", TEXT, False),
    },
}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDED = 1, 2
REALTIME, BOOTTIME = 1, 6
EXPLICIT_CHILDREN, EXPLICIT_PROCESSES = 3, 1
UNIT_COUNT = 2


class Wrong(Exception):
    """A rule that the trace breaks."""


def want(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(part) for part in what))


# ---- messages ----


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        want(at < len(data) and shift < 64, "a number is cut off or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            want(value < 1 << 64, "a number has more than 64 bits")
            return value, at


def read_message(data, kind):
    """The fields of a message by name; those that may stand more than once are lists."""
    fields = {name: [] for name, _, many in MESSAGES[kind].values() if many}
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        want(tag >> 3 in MESSAGES[kind], kind, "has no field", tag >> 3)
        name, of, many = MESSAGES[kind][tag >> 3]
        want(tag & 7 == {NUMBER: VARINT, FIXED: FIXED64}.get(of, BYTES), "the wire type of", kind, name)
        if of == NUMBER:
            value, at = read_varint(data, at)
        elif of == FIXED:
            want(at + 8 <= len(data), name, "is cut off")
            value, at = int.from_bytes(data[at : at + 8], "little"), at + 8
        else:
            length, at = read_varint(data, at)
            want(at + length <= len(data), name, "is cut off")
            piece, at = data[at : at + length], at + length
            value = piece.decode("utf-8") if of == TEXT else read_message(piece, of)
        if many:
            fields[name].append(value)
        else:
            want(name not in fields, kind, "has", name, "twice")
            fields[name] = value
    return fields


# ---- the trace ----

Track = collections.namedtuple("Track", "uuid name parent pid counter rank ordering description")
# A span or, with end None, an instant. `depth` spans of its track are open around it.
Slice = collections.namedtuple("Slice", "track name begin end depth flows notes")


class Trace:
    """What is in a trace. Times are nanoseconds of the primary clock."""

    def __init__(self, data):
        self.tracks = {}
        self.slices = []  # in the order in which they begin
        self.counters = collections.defaultdict(list)  # by uuid: (time, value)
        self.flows = collections.defaultdict(list)  # by id: indices of slices, in the order of the arrows
        self.snapshots = []  # (card's time, host's time)
        self.processes_ordered = False
        self.primary = BOOTTIME
        self.clocks = collections.defaultdict(list)  # by id: (its nanoseconds, the primary clock's)
        self.units = {}
        self.names, self.note_names = {}, {}
        self.valid = False
        self.defaults = None
        self.open = collections.defaultdict(list)
        self.last = 0
        packets = read_message(data, "Trace")["packet"]
        want(packets, "there are no packets")
        for packet in packets:
            self.read_packet(packet)
        for uuid, stack in self.open.items():
            want(not stack, "a span of the track", self.tracks[uuid].name, "has no end")
        self.check_order()

    def read_packet(self, packet):
        want(packet.get("trusted_packet_sequence_id", 0) != 0, "a packet has no sequence")
        flags = packet.get("sequence_flags", 0)
        if flags & CLEARED:
            self.names, self.note_names, self.valid, self.defaults = {}, {}, True, None
        want(self.valid or not flags & NEEDED, "a packet needs state before the sequence has some")
        self.intern(packet.get("interned_data"))
        if "trace_packet_defaults" in packet:
            want(flags & NEEDED, "defaults without the flag that they need")
            self.defaults = packet["trace_packet_defaults"]
        kinds = [kind for kind in ("clock_snapshot", "track_descriptor", "track_event") if kind in packet]
        want(len(kinds) <= 1, "a packet is of two kinds")
        for kind in kinds:
            getattr(self, "read_" + kind)(packet)

    def intern(self, data):
        for names, entries in ((self.names, "event_names"), (self.note_names, "debug_annotation_names")):
            for entry in (data or {}).get(entries, []):
                want(entry.get("iid", 0) != 0, "an interned name has no id")
                want(names.setdefault(entry["iid"], entry["name"]) == entry["name"], "an id has two names")

    def read_clock_snapshot(self, packet):
        snapshot = packet["clock_snapshot"]
        times = {}
        for clock in snapshot["clocks"]:
            unit = clock.get("unit_multiplier_ns", 1)
            want(self.units.setdefault(clock["clock_id"], unit) == unit, "a clock has two units")
            want(not clock.get("is_incremental"), "an incremental clock")
            times[clock["clock_id"]] = clock["timestamp"] * unit
        self.primary = snapshot.get("primary_trace_clock", self.primary)
        want(self.primary in times, "a snapshot without the primary clock")
        for clock, time in times.items():
            want(clock < 64 or clock >= 1 << 31, "the id of a clock of the whole trace", clock)
            before = self.clocks[clock]
            want(not before or before[-1][0] < time or clock == self.primary, "a clock that goes back")
            before.append((time, times[self.primary]))
            if clock != self.primary:
                self.snapshots.append((time, times[self.primary]))

    def resolve(self, packet):
        """The time of a packet, by the last snapshot that is not behind it; by the first one if all are."""
        want("timestamp" in packet, "an event without a time")
        clock = packet.get("timestamp_clock_id", (self.defaults or {}).get("timestamp_clock_id", BOOTTIME))
        time = packet["timestamp"] * self.units.get(clock, 1)
        if clock != self.primary:
            want(self.clocks[clock], "a clock without a snapshot")
            earlier = [pair for pair in self.clocks[clock] if pair[0] <= time]
            own, primary = earlier[-1] if earlier else self.clocks[clock][0]
            time = primary + time - own
        want(time >= self.last, "times go back by", self.last - time)
        self.last = time
        return time

    def read_track_descriptor(self, packet):
        track = packet["track_descriptor"]
        if track["uuid"] == 0:
            self.processes_ordered = track.get("process_ordering") == EXPLICIT_PROCESSES
            want("name" not in track and "process" not in track, "the root has a name")
            return
        want(track["uuid"] not in self.tracks, "a track is described twice")
        process, parent = track.get("process"), track.get("parent_uuid")
        want((process is None) != (parent is None), track.get("name"), "is either a process or a part of one")
        want(parent is None or parent in self.tracks, "a track comes before its parent")
        if process is not None:
            pids = [other.pid for other in self.tracks.values()]
            want(process["pid"] > 0 and process["pid"] not in pids, "a process id is used twice")
            want(process["process_name"] == track["name"], "a process has two names")
        want(track.get("name"), "a track has no name")
        self.tracks[track["uuid"]] = Track(
            track["uuid"],
            track["name"],
            parent,
            process["pid"] if process is not None else None,
            track.get("counter"),
            track.get("sibling_order_rank", 0),
            track.get("child_ordering", 0),
            track.get("description", ""),
        )

    def read_track_event(self, packet):
        event = packet["track_event"]
        track = self.tracks.get(event.get("track_uuid"))
        want(track is not None, "an event of a track that is not described")
        want((event["type"] == COUNTER) == (track.counter is not None), "events of the track", track.name)
        time = self.resolve(packet)
        if event["type"] == COUNTER:
            value = event["counter_value"]
            want(not self.counters[track.uuid] or self.counters[track.uuid][-1][0] < time, "two values of a time")
            self.counters[track.uuid].append((time, value - (1 << 64) if value >> 63 else value))
        elif event["type"] == END:
            want(self.open[track.uuid], "an end without a begin on", track.name)
            index = self.open[track.uuid].pop()
            self.slices[index] = self.slices[index]._replace(end=time)
            want(not event["flow_ids"] and not event["debug_annotations"], "an end has more than a time")
        else:
            self.begin(track, event, time)

    def begin(self, track, event, time):
        want(event["type"] in (BEGIN, INSTANT), "the type of an event")
        want(("name" in event) != ("name_iid" in event), "an event has one name")
        name = event.get("name") or self.names.get(event.get("name_iid"))
        want(name, "a name that is not interned:", event.get("name_iid"))
        notes = {}
        for note in event["debug_annotations"]:
            key = self.note_names.get(note["name_iid"])
            want(key and key not in notes, "the name of an annotation")
            values = [note[kind] for kind in ("string_value", "uint_value", "int_value") if kind in note]
            want(len(values) == 1, "an annotation has one value")
            signed = "int_value" in note and values[0] >> 63
            notes[key] = values[0] - (1 << 64) if signed else values[0]
        for flow in event["flow_ids"]:
            want(flow != 0, "a flow has no id")
            self.flows[flow].append(len(self.slices))
        stack = self.open[track.uuid]
        self.slices.append(Slice(track.uuid, name, time, None, len(stack), tuple(event["flow_ids"]), notes))
        if event["type"] == BEGIN:
            stack.append(len(self.slices) - 1)

    # ---- what a viewer shows ----

    def check_order(self):
        """Siblings stand in the order of their ranks; those of one name are drawn as one track and share a rank."""
        want(self.processes_ordered, "the ranks of processes do not count")
        ranks = collections.defaultdict(dict)
        for track in self.tracks.values():
            siblings = ranks[track.parent]
            want(siblings.setdefault(track.rank, track.name) == track.name, "two tracks of one rank:", track.name)
            parent = self.tracks.get(track.parent)
            want(parent is None or parent.ordering == EXPLICIT_CHILDREN, "the ranks below", parent, "do not count")

    def process_of(self, uuid):
        while self.tracks[uuid].parent is not None:
            uuid = self.tracks[uuid].parent
        return self.tracks[uuid]

    def path(self, uuid):
        """The names of a track and of those above it, the process first."""
        names = []
        while uuid is not None:
            names.insert(0, self.tracks[uuid].name)
            uuid = self.tracks[uuid].parent
        return tuple(names)

    def drawn(self):
        """The paths of all tracks from top to bottom, merged ones once."""
        children = collections.defaultdict(list)
        for track in self.tracks.values():
            children[track.parent].append(track)
        rows, below = [], sorted(children[None], key=lambda one: -one.rank)
        while below:
            track = below.pop()
            if self.path(track.uuid) not in rows:
                rows.append(self.path(track.uuid))
            below += sorted(children[track.uuid], key=lambda one: -one.rank)
        return rows


def check(path, submissions):
    with open(path, "rb") as file:
        trace = Trace(file.read())
    lives, runs = [], []
    for one in trace.slices:
        names = trace.path(one.track)
        if names[-1] == "submissions" and one.depth == 0:
            want(names[0].split(",")[0] == "channel %d" % one.notes["channel"], "a submission of", names)
            want(one.notes["queue"] in names[1], "a submission of", names)
            lives.append((one.notes["queue"], one.name, one.flows))
        elif names[0] == "card" and names[-1] == "node %d" % one.notes.get("node", -1):
            runs.append((one.notes["queue"], "fence " + one.notes["fence"], one.flows))
    want(len(set(lives)) == submissions, len(set(lives)), "submissions, not", submissions)
    want(sorted(lives) == sorted(runs), "the nodes ran other submissions than the queues had")


if __name__ == "__main__":
    check(sys.argv[1], int(sys.argv[2]))
