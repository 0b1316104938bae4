# SPDX-License-Identifier: Apache-2.0
"""Where a core's time goes, for decode.py and times.py. Written from docs/trace-format.md, "What a reader does".

Each interval between two records of a core is given to one context, and there to a call, to the tracer, to nothing or to a gap.
"""
from collections import defaultdict
from dataclasses import dataclass

from trace2 import CALL, CONTEXT, DATA, DURATION, ENTRY, EXTENDED, IDENTITY, INTERRUPT, RET, TASK, TRACER_BEGIN, TRACER_END

MOVED = 0                 # a task's fact
SEVERAL = (1 << 25) - 1   # stands for contexts that the target could not name
MOST_MARKERS = 64         # gaps without a return from before them
MARKER = None


@dataclass
class Call:
    """An open call. Or a MARKER: since a gap, no record has shown that the calls below it are open."""
    index: int
    site: object     # or ("interrupt", number), or MARKER
    before: int = 0  # its function's total when it began
    own: int = 0     # ticks while it was innermost
    other: int = 0   # ticks of calls inside, of gaps, and while the core was in other contexts

    def total(self):
        return self.before + self.own + self.other


class Context:
    """One context of a core: the open calls, outermost first, and the ticks by what they were."""

    def __init__(self, core):
        self.core = core
        self.calls, self.functions = [], defaultdict(lambda: [0, 0, 0])  # by site: calls, total, self
        self.clock = None        # of its last record, or when the core left it
        self.left = None         # when the core left it, and the tracer's ticks in all contexts then
        self.gap_begin = None    # since the last gap this context has no record
        self.unwinding = False   # longjmp ended the last call: the target works until the next record
        self.bracket = None      # [number of calls that were open, ticks]: an open tracer_begin
        self.ran = self.tracer = self.nothing = self.gaps = self.orphans = 0
        self.whole = False       # it has calls from duration records
        self.unpaired = 0        # the tracer's brackets without begin or end, or with a gap inside
        self.moved = False

    @property
    def own(self):
        return sum(own for _, _, own in self.functions.values())

    def give(self, ticks, kind):
        """Gives it the time up to a record of this kind."""
        self.ran += ticks
        if self.gap_begin is not None:
            self.gaps += ticks
        elif self.unwinding and kind != EXTENDED:
            self.tracer += ticks
        elif self.bracket and self.bracket[0] == len(self.calls):
            self.bracket[1] += ticks
        else:
            self.give_to(len(self.calls), ticks)

    def give_to(self, depth, ticks):
        if depth:
            self.calls[depth - 1].own += ticks
        else:
            self.nothing += ticks

    def end_bracket(self):
        if self.bracket:
            self.tracer += self.bracket[1]
        self.bracket = None

    def forget_bracket(self):
        """The open bracket has no end: gives its time back to the call."""
        self.unpaired += self.bracket is not None
        if self.bracket:
            self.give_to(*self.bracket)
        self.bracket = None

    def away(self, clock, tracer):
        """The core has run other contexts until `clock`. `tracer`: the tracer's ticks in all contexts."""
        since, before = self.left
        if self.clock is None:
            return
        self.clock = clock
        if self.gap_begin is not None:
            self.gap_begin += tracer - before
        elif self.calls:
            self.calls[-1].other += max(0, clock - since - (tracer - before))

    def gap(self):
        self.unwinding = False
        if self.clock is not None:
            self.end_bracket()
            self.gap_begin = self.clock if self.gap_begin is None else self.gap_begin

    def end_gap(self):
        if self.gap_begin is not None and self.calls:
            if self.calls[-1].site is not MARKER:
                self.merge_markers()
                self.calls.append(Call(MARKER, MARKER))
            self.calls[-1].other += max(0, self.clock - self.gap_begin)
        self.gap_begin = None

    def merge_markers(self):
        markers = [n for n, call in enumerate(self.calls) if call.site is MARKER]
        if len(markers) < MOST_MARKERS:
            return
        first, second = markers[:2]
        for call in self.calls[first + 1:second]:
            self.add(call, max(call.total(), self.functions[call.site][1]))
        self.calls[first].own += self.calls[second].own
        self.calls[first].other += self.calls[second].other + sum(call.own + call.other for call in self.calls[first + 1:second])
        del self.calls[first + 1:second + 1]

    def find(self, entry):
        """Returns the number of calls below the one with this entry, or None."""
        for below in range(len(self.calls) - 1, -1, -1):
            call = self.calls[below]
            if call.site is not MARKER and (call.index - entry) & IDENTITY == 0:
                return below
        return None

    def has(self, entry):
        return self.find(entry) is not None

    def add(self, call, total):
        """Counts the times of a call that has ended."""
        of = self.functions[call.site]
        of[1], of[2] = total, of[2] + call.own

    def close(self, below, has_returned=True):
        """Ends the calls down to `below`. `has_returned`: the lowest of them has, which shows that it was open in each gap above it."""
        if self.bracket and below < self.bracket[0]:
            self.forget_bracket()
        is_behind_gap, own, other = False, 0, 0  # the ticks of the markers
        while len(self.calls) > below:
            call = self.calls.pop()
            if call.site is MARKER:
                is_behind_gap = True
                own, other = (own + call.own, other + call.other) if has_returned else (0, call.own + call.other)
                self.gaps += 0 if has_returned else call.own
                continue
            if is_behind_gap and has_returned and len(self.calls) > below:
                self.add(call, max(call.total(), self.functions[call.site][1]))  # it had ended when the gap began
            else:
                call.own += own
                call.other += other
                is_behind_gap, own, other = False, 0, 0
                self.add(call, call.total())
            if self.calls:
                self.calls[-1].other += call.own + call.other

    def begin(self, site, index):
        self.functions[site][0] += 1
        self.calls.append(Call(index, site, self.functions[site][1]))

    def event(self, kind, value, index, clock):
        self.give(self.core.ticks, kind)
        self.unwinding = self.unwinding and kind == EXTENDED and self.core.ticks == 0
        self.clock = clock
        self.end_gap()
        if kind == CALL:
            self.functions[value][0] += 1
        elif kind == ENTRY:
            self.begin(value, index)
        elif kind == RET:
            self.ret(value)
        elif value & 15 == INTERRUPT:
            self.begin(("interrupt", value >> 4), index)
        elif value & 15 == TRACER_BEGIN:
            self.forget_bracket()
            self.bracket = [len(self.calls), 0]
        elif value & 15 == TRACER_END:
            self.unpaired += self.bracket is None
            self.end_bracket()
        elif value & 15 == DURATION:
            self.whole = True

    def ret(self, value):
        below = self.find(value >> 1)
        if below is None:
            self.orphans += 1
            return
        if self.bracket and value & 1 and below < self.bracket[0]:
            for call in self.calls[self.bracket[0]:]:  # what longjmp left inside the bracket is the tracer's
                self.bracket[1] += call.own + call.other
                call.own = call.other = 0
            self.bracket[0] = below  # the call ended where the bracket begins
        self.close(below)
        self.unwinding = bool(value & 1) and self.bracket is None

    def take(self, old, clock):
        """The context has moved here from another core, where `old` has its open calls."""
        self.moved = old.moved = True
        if old.clock is None:
            return
        self.forget_bracket()
        self.close(0)  # what it seemed to have here
        self.clock = clock
        if old.bracket:
            old.tracer += old.bracket[1]
            self.bracket = [old.bracket[0], 0]
        for call in old.calls:
            if call.site is not MARKER:
                call.before += self.functions[call.site][1] - old.functions[call.site][1]
        self.calls, old.calls = old.calls, self.calls
        if old.gap_begin is not None:
            self.gap_begin = old.gap_begin
        elif self.calls:
            self.calls[-1].other += max(0, clock - old.clock)
        old.bracket = old.gap_begin = None

    def finish(self):
        if self.clock is not None:
            self.end_gap()
            self.end_bracket()
            self.close(0, has_returned=False)


class Core:
    """A core of a session: its records in order, as [(index, kind, value, clock, where records are missing before it: (context,
    clock))], and the contexts that they belong to. `cores`: all by number."""

    def __init__(self, cores):
        self.cores, self.steps, self.at = cores, [], 0
        self.contexts, self.current, self.clock = {0: Context(self)}, 0, None
        self.ticks = 0              # from the last record to this one, until they are given to a context
        self.first = None
        self.gaps = 0               # in no context
        self.backwards = False

    def tracer(self):
        return sum(context.tracer for context in self.contexts.values())

    def enter(self, number, clock, since=None):
        """`since`: the latest time at which the core may have left the other context, if the switch has no record."""
        old = self.contexts[self.current]
        if since is None:
            old.give(self.ticks, EXTENDED)
        else:
            self.gaps += self.ticks
        self.ticks = 0
        old.unwinding = False
        if number == self.current:
            return
        since = clock if since is None else since
        if old.clock is not None and old.gap_begin is None:
            old.clock = since
        old.left = since, self.tracer()
        new = self.contexts.setdefault(number, Context(self))
        if new.left:
            new.away(clock, self.tracer())
        self.current = number

    def event(self, kind, value, index, clock):
        before, self.clock = self.clock, clock
        if kind == EXTENDED and value & 15 == CONTEXT:
            self.enter(value >> 4, clock)
            return
        if kind == RET and not self.contexts[self.current].has(value >> 1):
            for number, context in self.contexts.items():
                if context.has(value >> 1):
                    self.enter(number, clock, before)
                    break
            else:
                for core in self.cores.values():
                    if core is not self and self.current in core.contexts and core.contexts[self.current].has(value >> 1):
                        self.move(core, clock)
                        break
        self.contexts[self.current].event(kind, value, index, clock)

    def move(self, core, clock):
        """The context that runs here has left another core."""
        number = self.current
        if number in (0, SEVERAL) or number not in core.contexts or core is self:
            return
        if core.current == number:
            core.enter(SEVERAL, core.clock)  # until its record of the next context comes
        self.contexts[number].take(core.contexts[number], clock)

    def moved(self, at):
        """The other core and its first index afterwards, if the record at this place tells a move."""
        if at + 1 >= len(self.steps):
            return None
        (index, kind, value, _, _), (after, data_kind, data, _, gap) = self.steps[at:at + 2]
        if kind != EXTENDED or value & 0x1FF != TASK | MOVED << 4 or not value >> 9 & 31:
            return None
        if gap or after != index + 1 or data_kind != EXTENDED or data & 15 != DATA:
            return None
        return self.cores.get(data >> 4 & 0xFF), data >> 12

    def waits(self):
        """Whether a move comes next, and the other core has not come to its switch. The pump's records may come before that."""
        _, kind, value, _, _ = self.steps[self.at]
        is_switch = kind == EXTENDED and value & 15 == CONTEXT
        core, after = self.moved(self.at + is_switch) or (None, 0)
        if core in (None, self) or core.at == len(core.steps):
            return False
        return core.steps[core.at][0] <= after or core.current == (value >> 4 if is_switch else self.current)

    def step(self):
        index, kind, value, clock, gap = self.steps[self.at]
        if self.first is None:
            self.first = self.clock = clock
        self.ticks = clock - self.clock
        self.backwards |= self.ticks < 0
        if gap:
            self.gaps += self.ticks
            self.ticks = 0
            for context in self.contexts.values():
                context.gap()
            self.enter(*gap)
        move = self.moved(self.at)
        self.at += 1
        self.event(kind, value, index, clock)
        self.ticks = 0
        if move and move[0]:
            self.move(move[0], clock)

    def finish(self):
        for number in [*self.contexts, self.current]:
            self.enter(number, self.clock)
        for context in self.contexts.values():
            context.finish()


def run(cores):
    """Reads the records of a session's cores, those of a task in their order."""
    while True:
        left = [core for core in cores.values() if core.at < len(core.steps)]
        if not left:
            return
        ready = [core for core in left if not core.waits()] or left[:1]
        for core in ready:
            core.step()
            while core.at < len(core.steps) and not core.waits():
                core.step()
