# SPDX-License-Identifier: Apache-2.0
"""Captured registers, results, counters, marks and masked times, for the second reader (decode.py)."""
from collections import Counter, defaultdict

from trace2 import ARGUMENTS, COUNTER, MASKED, RESULT


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


class Captured:
    """Values of registers, results and counters: {(site, "x0") or counter: [(session and clock, value)]}."""

    def __init__(self):
        self.series, self.marks = defaultdict(list), []
        self.masked = []  # (instructions from text_base, ticks)

    def take(self, what, argument, data, when):
        """Takes the data behind a record. Returns whether the value is complete."""
        if what == MASKED:
            if len(data) == 2:
                self.masked.append((signed(data[0], 57), data[1]))
            return len(data) == 2
        if what == ARGUMENTS:
            slots = [(f"x{n}", argument >> 8 + n & 1) for n in range(8) if argument >> n & 1]
        elif what == RESULT:
            slots = [("result", argument & 1)]
        elif what == COUNTER:
            slots = [(argument >> 1, argument & 1)]
        else:
            return True
        numbers = iter(data if what == COUNTER else data[1:])
        if len(data) < sum(1 + wide for _, wide in slots) + (what != COUNTER):
            return False
        for name, wide in slots:
            value = signed(next(numbers), 57) if not wide else signed(next(numbers) | next(numbers) << 57, 64)
            self.series[name if what == COUNTER else (data[0], name)].append((when, value))
        return True


def summary(series):
    """Returns count, least, most, last, and how often each value occurs if there are few."""
    values = [value for _, value in series]
    times = Counter(values)
    return (len(values), min(values), max(values), max(enumerate(series), key=lambda s: (s[1][0], s[0]))[1][1],
            sorted(times.items()) if len(times) <= 8 else None)
