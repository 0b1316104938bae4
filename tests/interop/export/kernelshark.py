# SPDX-License-Identifier: Apache-2.0
"""KernelShark's own library opens a trace.dat, and says what its window would show: no window is needed."""

import collections
import ctypes
import re

import exports

NAME = "libkshark.so.2"


# A line of KernelShark's list. `fields`: of the event, as its plug-ins read them.
Shown = collections.namedtuple("Shown", "at cpu pid task event info fields")


class Entry(ctypes.Structure):
    """`kshark_entry` in libkshark.h of version 2."""


Entry._fields_ = [("next", ctypes.POINTER(Entry)), ("visible", ctypes.c_uint16), ("stream", ctypes.c_int16),
                  ("event", ctypes.c_int16), ("cpu", ctypes.c_int16), ("pid", ctypes.c_int32),
                  ("offset", ctypes.c_int64), ("at", ctypes.c_int64)]
OF_ENTRY = [ctypes.POINTER(Entry)]
FIELDS = {"ftrace/function": ("ip",), "ftrace/funcgraph_entry": ("func", "depth"),
          "ftrace/funcgraph_exit": ("func", "depth", "calltime", "rettime")}


def library():
    try:
        library_ = ctypes.CDLL(NAME)
    except OSError as error:
        raise AssertionError(f"{NAME} is not installed: it is in cmake/packages.txt, ./dev setup installs it") from error
    library_.kshark_instance.restype = ctypes.c_bool
    library_.kshark_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library_.kshark_close.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library_.kshark_load_entries.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    library_.kshark_load_entries.restype = ctypes.c_ssize_t
    library_.kshark_read_event_field_int.argtypes = [*OF_ENTRY, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64)]
    for text in (library_.kshark_get_task, library_.kshark_get_event_name, library_.kshark_get_info):
        text.argtypes, text.restype = OF_ENTRY, ctypes.c_void_p
    return library_


LIBC = ctypes.CDLL(None)
LIBC.free.argtypes = [ctypes.c_void_p]


def text_of(function, entry):
    """Calls a function that returns text which its caller frees."""
    at = function(entry)
    assert at, "KernelShark has no text for an entry"
    text = ctypes.string_at(at).decode()
    LIBC.free(at)
    return text


def field_of(library_, entry, name):
    value = ctypes.c_int64()
    assert library_.kshark_read_event_field_int(entry, name.encode(), ctypes.byref(value)) == 0, name
    return value.value


def entries(path):
    """Returns all lines, in KernelShark's order. It opens no file of another name."""
    named = path.with_suffix(".dat")
    named.unlink(missing_ok=True)
    named.symlink_to(path)
    library_, context = library(), ctypes.c_void_p()
    assert library_.kshark_instance(ctypes.byref(context))
    stream = library_.kshark_open(context, str(named).encode())
    assert stream >= 0, f"KernelShark refuses {path}: {stream}"
    rows = ctypes.POINTER(ctypes.POINTER(Entry))()
    count = library_.kshark_load_entries(context, stream, ctypes.byref(rows))
    assert count > 0, f"KernelShark finds no entry in {path}: {count}"
    shown = []
    for entry in rows[:count]:
        event = text_of(library_.kshark_get_event_name, entry)
        shown.append(Shown(entry[0].at, entry[0].cpu, entry[0].pid, text_of(library_.kshark_get_task, entry), event,
                           text_of(library_.kshark_get_info, entry),
                           {name: field_of(library_, entry, name) for name in FIELDS.get(event, ())}))
        LIBC.free(entry)
    LIBC.free(rows)
    library_.kshark_close(context, stream)
    return shown


BEGIN = re.compile(r"^[^|]*\|  ( *)(.*)\(\)(;| \{)$")


def sums_of(path):
    sums, calls = exports.Sums(), {}  # by task: (the function, its begin) of open calls
    for line in entries(path):
        call = calls.setdefault(line.pid, [])
        if line.event == "ftrace/funcgraph_entry":
            indent, name, _ = BEGIN.match(line.info).groups()
            if not line.fields["depth"] == len(indent) // 2 == len(call):
                sums.failures.append(f"{line.task}: {name} begins {line.fields['depth']} deep in {len(call)} calls")
            call.append((line.fields["func"], line.at))
            sums.begin(line.pid, name, line.at, line.cpu)
        elif line.event == "ftrace/funcgraph_exit":
            expected = (*(call.pop() if call else (None, None)), len(call), line.at)
            found = tuple(line.fields[name] for name in ("func", "calltime", "depth", "rettime"))
            if found != expected:
                sums.failures.append(f"{line.task}: an exit at {line.at} has {found} instead of {expected}")
            sums.end(line.pid, line.at, line.cpu)
        elif line.event == "ftrace/function":
            sums.calls[line.info.partition(" <-- ")[0]] += 1
    return sums
