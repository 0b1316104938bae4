# SPDX-License-Identifier: Apache-2.0
"""gdb's unwinder for calls that nopscope has hooked, and `info nopscope`. nopscope-gdb.py registers them.

A traced call returns to a hook of the tracer. A shadow stack has the real return address, with the
call's SP, which is the frame's CFA. gdb does not give a Python unwinder the results of others, so
this one reads the call frame information itself. It unwinds only frames that gdb would get wrong:

- the return address is a hook: the shadow frame with this CFA has the real one;
- the code is a hook that has not loaded the return address yet (tracer/arch/arm64/unwind.h): the same;
- the return address is signed (PAC): gdb 13 does not know the masks of QEMU's stub, and a core dump has none.

gdb unwinds all other frames. If this script finds something unreadable or damaged, the backtrace
ends as without the script, and `info nopscope` says why.
"""

import bisect
import collections
import re
import struct
import zlib

import gdb
import gdb.unwinder

from nopscope_call_frames import LR, PC, SCRATCH, SP, WORD, CallFrames, Elf, NotFound

V0 = 64  # DWARF register number
# Registers that may still have the caller's values. A callee saves the lower half of v8-v15.
REGISTERS = (*(f"x{n}" for n in range(30)), "cpsr", "fpsr", "fpcr", *(f"v{n}" for n in range(8, 16)))
MOST_CONTEXTS = 4096
MOST_FRAMES = 1 << 16

Frame = collections.namedtuple("Frame", "return_address sp hook")
Stack = collections.namedtuple("Stack", "name base top end low high")  # addresses


def read(address, count):
    return bytes(gdb.selected_inferior().read_memory(address, count))


def word(address):
    return struct.unpack("<Q", read(address, 8))[0]


class Layout:
    """The fields' offsets in a struct of the tracer, from the image's debug information."""

    def __init__(self, name):
        try:
            kind = gdb.lookup_type("nopscope::" + name)
        except gdb.error:
            raise NotFound("the image has no debug information of the tracer: build the tracer with -g") from None
        self.bytes = kind.sizeof
        self.fields = {f.name: (f.bitpos // 8, f.type.sizeof) for f in kind.fields() if hasattr(f, "bitpos")}

    def read(self, address, data=None):
        data = data or read(address, self.bytes)
        return {name: int.from_bytes(data[at:at + size], "little") for name, (at, size) in self.fields.items()}


class Image:
    """The image with the tracer: its code, and the shadow stacks in the target's memory."""

    def __init__(self, path):
        elf = Elf(path)
        self.path, self.symbols = path, elf.symbols()
        if "nopscope_descriptor" not in self.symbols:
            raise NotFound(f"{path} has no tracer")
        self.frames = CallFrames(elf)
        self.functions = sorted((at, at + size) for at, size, is_function in self.symbols.values() if is_function)
        self.hooks = {at: (name, at + size) for name, (at, size, _) in self.symbols.items()
                      if re.fullmatch(r"nopscope_\w+_hook", name)}
        # gdb unwinds in steps, too. `known` keeps stacks only while gdb has stopped for its user.
        self.layouts, self.known, self.is_stopped = {}, None, False

    def layout(self, name):
        if name not in self.layouts:
            self.layouts[name] = Layout(name)
        return self.layouts[name]

    def at(self, symbol):
        if symbol not in self.symbols:
            raise NotFound(f"{self.path} has no symbol {symbol}")
        return self.symbols[symbol][0]

    def of_contexts(self, name):
        """The address of a variable in contexts.cpp; None: the image has no contexts."""
        symbols = (f"_ZN8nopscope12_GLOBAL__N_1{more}{len(name)}{name}E" for more in ("", "L"))  # GCC 12, GCC 15
        return next((self.symbols[symbol][0] for symbol in symbols if symbol in self.symbols), None)

    def function(self, pc):
        """The begin of the function at pc in gdb's view: part of a frame's identity."""
        block, symbol = gdb.block_for_pc(pc), None
        while block is not None and not block.is_static and not block.is_global:
            symbol, block = block.function or symbol, block.superblock  # inner ones are inlined
        if symbol is not None:
            return int(symbol.value().address) & WORD
        at = bisect.bisect_right(self.functions, (pc, WORD)) - 1
        return self.functions[at][0] if at >= 0 and pc < self.functions[at][1] else pc

    def cores(self):
        """Each core that records: (number, Core)."""
        descriptor = self.layout("Descriptor").read(self.at("nopscope_descriptor"))
        if descriptor["ready"] != 1:
            raise NotFound("the tracer has not been initialised")
        for number in range(min(descriptor["core_count"], 64)):
            core = self.layout("Core").read(descriptor["cores"] + number * descriptor["core_stride_bytes"])
            if core["shadow_base"] != 0:
                yield number, core

    def stacks(self):
        """The shadow stacks of all contexts: (Stack, its open calls, newest first, or NotFound)."""
        known = self.known or [(stack, self.open_calls(stack)) for stack in self.all_stacks()]
        self.known = known if self.is_stopped else None
        return known

    def all_stacks(self):
        cores = list(self.cores())
        found = [(f"core {number}", core) for number, core in cores]
        mains, created = self.of_contexts("mains"), self.of_contexts("created")
        if mains is not None and created is not None:
            layout = self.layout("Context")
            others = [(f"core {number}'s main context", mains + number * layout.bytes) for number, _ in cores]
            at = word(created)
            while at != 0 and len(others) < MOST_CONTEXTS:
                context = layout.read(at)
                others.append((f"context {context['number']}", at))
                at = context["next"]
            running = {core["context"] for _, core in cores}
            found += [(name, layout.read(at)) for name, at in others if at not in running]
        return [Stack(name, *(one[field] for field in ("shadow_base", "top", "frames_end", "stack_low", "stack_high")))
                for name, one in found if one["shadow_base"] != 0]

    def open_calls(self, stack):
        layout = self.layout("ShadowFrame")
        count, odd = divmod(stack.top - stack.base, layout.bytes)
        try:
            if odd or not 0 <= count <= MOST_FRAMES or stack.top > stack.end:
                raise NotFound(f"the shadow stack of {stack.name} is damaged: its top is {stack.top:#x}")
            data = read(stack.base, count * layout.bytes) if count else b""
            return [self.frame(stack.base + n * layout.bytes, data[n * layout.bytes:]) for n in range(count - 1, -1, -1)]
        except gdb.error as error:
            return NotFound(f"the shadow stack of {stack.name} cannot be read: {error}")
        except NotFound as error:
            return error

    def frame(self, at, data=None):
        frame = self.layout("ShadowFrame").read(at, data)
        return Frame(frame["return_address"], frame["sp"], frame["hook"])

    def caller(self, sp, hook=None):
        """The real return address of the call with this SP that returns to `hook` (None: to any)."""
        damage = None
        for _, calls in self.stacks():
            if isinstance(calls, NotFound):
                damage = calls
                continue
            is_ours = False
            for frame in calls:
                # A tail call's return address is a hook. The frame below has the caller's address.
                is_ours = frame.sp == sp and (is_ours or hook in (None, frame.hook))
                if is_ours and frame.return_address not in self.hooks:
                    return frame.return_address
        raise damage or NotFound(f"no shadow stack has an open call with SP {sp:#x}")

    def just_ended(self, sp):
        """The same for a call whose frame nopscope_on_return() has freed, before it returns."""
        hook = self.at("nopscope_callback_hook")
        for stack, calls in self.stacks():
            if stack.low <= sp < stack.high and not isinstance(calls, NotFound):
                for frame in (*calls[:1], *([self.frame(stack.top)] if stack.top < stack.end else [])):
                    if (frame.sp, frame.hook) == (0, hook):
                        address = frame.return_address
                        return self.caller(sp, address) if address in self.hooks else address
        raise NotFound(f"no shadow stack has an open call with SP {sp:#x}")


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Pending:
    """The frame to unwind: its registers, and its caller's registers by the rules of its row."""

    def __init__(self, frame, row, within):
        self.frame, self.row, self.within = frame, row, within
        self.number = frame.read_register("x0").type
        self.cfa = (self[row.cfa[0]] + row.cfa[1]) & WORD

    def __getitem__(self, register):
        return int(self.frame.read_register(self.name(register)).cast(self.number)) & WORD

    @staticmethod
    def name(register):
        return "sp" if register == SP else "pc" if register == PC else f"x{register}"

    def rule(self, register):
        return self.row.rules.get(register, ("same", 0))

    def value(self, register):
        """The caller's value of the register; None: not known."""
        how, what = self.rule(register)
        if how == "at":
            return word((self.cfa + what) & WORD)
        return None if how == "undefined" else self[what if how == "register" else register]

    def claim(self, image, caller):
        """gdb's unwind info for the caller's frame; `caller`: its pc."""
        new = lambda number: gdb.Value(number & WORD).cast(self.number)
        info = self.frame.create_unwind_info(FrameId(new(self.cfa), new(image.function(self.within))))
        info.add_saved_register("pc", new(caller))
        info.add_saved_register("sp", new(self.cfa))
        info.add_saved_register("x30", new(caller))
        for name in REGISTERS:
            number = V0 + int(name[1:]) if name[0] == "v" else int(name[1:]) if name[0] == "x" else None
            how, what = self.rule(number)
            try:
                value = self.frame.read_register(name)
                if how == "at":
                    data = read((self.cfa + what) & WORD, 8)
                    value = gdb.Value(data.ljust(value.type.sizeof, b"\0"), value.type)
                elif how == "register":
                    value = new(self[what])
                int(value["d"]["u"][0] if name[0] == "v" else value)  # gdb.error: unknown
                if how != "undefined":
                    info.add_saved_register(name, value)
            except (gdb.error, ValueError):  # not saved by the inner frame, or not in a core dump
                pass
        return info


class Nopscope(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__("nopscope")
        self.images = {}  # file name -> Image, or NotFound
        self.why = None   # why the last frame could not be unwound
        self.warned = False
        self.asked = {}  # thread -> frame level -> its pc, and whether it is an interrupt's
        gdb.events.stop.connect(lambda _: self.forget(is_stopped=True))
        gdb.events.cont.connect(self.resumed)
        for event in ("memory_changed", "before_prompt", "inferior_call", "exited"):
            getattr(gdb.events, event).connect(self.forget)
        for event in ("new_objfile", "clear_objfiles"):
            getattr(gdb.events, event).connect(self.forget_all)

    def resumed(self, _):
        self.asked = {}
        self.forget(is_stopped=False)

    def forget(self, _=None, is_stopped=None):
        for image in self.images.values():
            image.known = None
            if is_stopped is not None:
                image.is_stopped = is_stopped

    def forget_all(self, _=None):
        self.images, self.warned, self.asked = {}, False, {}

    def image(self):
        """The image with the tracer. Raises NotFound."""
        for objfile in gdb.objfiles():
            name = objfile.filename
            if name not in self.images:
                try:
                    self.images[name] = Image(name)
                except (NotFound, OSError, struct.error, ValueError, IndexError, KeyError, zlib.error) as error:
                    self.images[name] = NotFound(str(error))
            if isinstance(self.images[name], Image):
                return self.images[name]
        raise NotFound("there is no image with nopscope's tracer")

    def __call__(self, frame):
        try:
            return self.unwind(frame)
        except Exception as error:  # after any error gdb's own unwinder takes the frame
            self.why = str(error)
            if isinstance(error, NotFound) and "-g" in self.why and not self.warned:
                self.warned = True
                gdb.write(f"nopscope: {self.why}\n", gdb.STDERR)
            return None

    def unwind(self, frame):
        try:
            image = self.image()
        except NotFound:
            return None
        image.layout("Core")  # raises NotFound if there is no debug information
        pc = int(frame.read_register("pc")) & WORD
        within = pc if pc in image.hooks or self.is_exact(image, pc, frame.level()) else pc - 1
        row = image.frames.row(within)
        if row is None:
            return None
        pending = Pending(frame, row, within)
        if PC in row.rules:  # code of an entry or of an interrupt
            return None
        if pending.rule(LR)[0] == pending.rule(SCRATCH)[0] == "undefined":
            caller = self.caller_of_hook(image, pending, pc)
        else:
            link = pending.value(LR)
            if link is None:
                return None
            plain = image.frames.stripped(link) if row.signed else link
            if plain in image.hooks:
                caller = image.caller(pending.cfa, plain)
            elif plain != link:
                caller = plain
            else:
                return None
        return pending.claim(image, caller)

    @staticmethod
    def caller_of_hook(image, pending, pc):
        try:
            return image.caller(pending.cfa)
        except NotFound:
            begin = image.at("nopscope_callback_hook")
            if not begin <= pc < image.hooks[begin][1]:
                raise
            return image.just_ended(pending.cfa)

    def is_exact(self, image, pc, level):
        """True if pc is the frame's current instruction; false for a return address, which may lie
        after its function. gdb asks for a frame after the frames that it called, and never for
        inlined ones. It may renumber frames while the target is stopped."""
        asked = self.asked.setdefault(gdb.selected_thread().ptid, {})
        if level == 0:
            asked.clear()
        asked[level] = pc, image.frames.is_signal(pc)
        inner = max((other for other, (its_pc, _) in asked.items() if other < level and its_pc != pc), default=None)
        return inner is None or asked[inner][1]


class InfoNopscope(gdb.Command):
    """Whether gdb has found nopscope's tracer, what records, and how many hooked calls are open."""

    def __init__(self, unwinder):
        super().__init__("info nopscope", gdb.COMMAND_STATUS)
        self.unwinder = unwinder

    def invoke(self, argument, from_tty):
        try:
            image = self.unwinder.image()
            image.known = None
            for line in self.lines(image):
                print(line)
        except (NotFound, gdb.error) as error:
            print(f"nopscope: {error}.")
        if self.unwinder.why:
            print(f"nopscope: the last frame that could not be unwound: {self.unwinder.why}.")

    @staticmethod
    def lines(image):
        stacks = image.stacks()
        in_force = image.layout("InForce").read(image.at("_ZN8nopscope8in_forceE"))["recorders_"]
        numbers = [f for f in gdb.lookup_type("nopscope::Recorder").fields() if in_force << 1 >> f.enumval & 1]
        names = ", ".join(f.name.split("::")[-1] for f in numbers) or "none"
        count = sum(len(calls) for _, calls in stacks if not isinstance(calls, NotFound))
        yield f"nopscope: the tracer of {image.path}; recorders in force: {names}; open hooked calls: {count}."
        for stack, calls in stacks:
            if isinstance(calls, NotFound):
                yield f"{stack.name}: {calls}"
                continue
            hooks = collections.Counter(image.hooks.get(call.hook, ("being written",))[0] for call in calls)
            if calls:
                yield f"{stack.name}: " + ", ".join(f"{count} to {name}" for name, count in sorted(hooks.items()))


def register():
    if int(re.search(r"\d+", gdb.VERSION)[0]) < 13:  # older ones lack rules of arm64/unwind.h
        raise gdb.GdbError("nopscope-gdb.py needs gdb 13 or newer.")
    unwinder = Nopscope()
    gdb.unwinder.register_unwinder(None, unwinder, replace=True)
    InfoNopscope(unwinder)
