# SPDX-License-Identifier: Apache-2.0
"""Describes an image for the coherence oracle (coherence.cpp), from its ELF alone."""

import sites

ALIAS = 0x40_0000_0000  # hal/arm64/machine.hpp
# The public functions that change text, by the beginning of their linkage names. When one of them
# returns, all that it stored is complete. (The C functions and host commands call these.)
REQUESTS = ["_ZN8nopscope" + name for name in (
    "4initE", "6enableE", "7disableE", "6attachE", "6detachE", "10set_filterE", "12count_eventsE",
    "12set_recorderE", "7move_toE")]
# Code that loads slots.
READERS = ("nopscope_callback", "nopscope_callback_unguarded", "nopscope_far", "nopscope_profile_entry", "nopscope_profile_events_entry")
# The object of no ops, and the targets of docs/ops.md's words and lists.
OPS = ("_ZN8nopscope12_GLOBAL__N_18none_opsE", "nopscope_walk_list",
       "_ZN8nopscope7guardedEmmPNS_3OpsEPNS_4RegsE", "nopscope_callback", "nopscope_callback_unguarded", "nopscope_far")
PATCHER = "_ZN8nopscope12_GLOBAL__N_17patcherE"  # it contains the lists


def find(image, name):
    """GCC 15 marks names that are internal to a file with an L."""
    return image.symbols.get(name) or image.symbols[name.replace("_GLOBAL__N_1", "_GLOBAL__N_1L")]


def text_of(image):
    """Returns (begin, bytes) of all executable sections, with zeros in the gaps."""
    parts = [(start, offset, size) for _, kind, flags, start, offset, size, *_ in image.sections
             if kind == 1 and flags & 4]  # PROGBITS, SHF_EXECINSTR
    begin = min(start for start, _, _ in parts) & ~0xFFF
    end = max(start + size for start, _, size in parts)
    text = bytearray((end - begin + 0xFFF) & ~0xFFF)
    for start, offset, size in parts:
        text[start - begin:start - begin + size] = image.data[offset:offset + size]
    return begin, bytes(text)


def usable_sites(image):
    """Returns [(word, function)] of table entries that are as compiled. The tracer refuses others."""
    found = []
    for slot in sites.slots(image):
        try:
            function, word = slot + 8, sites.toggling_word(image, slot + 8)
            if slot % 8 == 0 and all(image.word(at) == sites.NOP for at in (slot, slot + 4, word - 4, word)):
                found.append((word, function))
        except ValueError:
            continue
    return found


def describe(elf, description, text_path):
    """Writes both files. Returns the ELF's symbols by address."""
    image = sites.Image(elf)
    begin, text = text_of(image)
    text_path.write_bytes(text)
    lines = [f"text {begin:x} {begin + len(text):x}", f"alias {ALIAS:x}"]
    lines += [f"site {word:x} {function:x}" for word, function in usable_sites(image)]
    requests = {address for name, address in image.symbols.items() if name.startswith(tuple(REQUESTS))}
    if not requests:
        raise ValueError("it has no function of the tracer's that changes text")
    lines += [f"request {address:x}" for address in sorted(requests)]
    if "nopscope_callback" in image.symbols:
        lines.append("ops " + " ".join(f"{find(image, name):x}" for name in OPS))
        begin = image.symbols["nopscope_callback"]
        end, made = (image.symbols["nopscope_callback_unguarded_" + which] for which in ("end", "made"))
        lines += [f"holder {begin:x} {end:x}", f"made {made:x}"]
        patcher = find(image, PATCHER)
        lines.append(f"lists {patcher:x} {image.ends[patcher]:x}")
        lines += [f"reader {image.symbols[name]:x} {image.symbols[name + '_end']:x}" for name in READERS if name in image.symbols]
    lines += [f"switch {begin:x} {end:x}" for begin, end in sites.switching(image, "switch_stacks")]
    description.write_text("\n".join(lines) + "\n")
    return image.names_by_address()
