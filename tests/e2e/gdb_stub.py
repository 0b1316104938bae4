# SPDX-License-Identifier: Apache-2.0
"""A debugger for tests: QEMU's gdb stub on a Unix socket, and through it QEMU's monitor.

    with Debugger(path) as debugger:
        debugger.run_to(address)
        debugger.monitor("info status")

The end of the block disconnects. The machine stays stopped, unless the test has resumed it.
"""

import socket

import machines

HANG_SECONDS = 120


class Halted(machines.Started):
    """QEMU, stopped before its first instruction, with a debugger on the socket `stub`."""

    def __init__(self, command, stub):
        super().__init__(stub, [*command, "-gdb", f"unix:{stub},server=on,wait=off", "-S"])
        self.stub = stub
        self.start()

    def __enter__(self):
        return self


class Debugger:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(HANG_SECONDS)
        machines.wait_for(lambda: self.socket.connect_ex(str(path)) == 0, "the stub takes no debugger")
        self.bytes = b""

    def __enter__(self):
        assert self.ask("qSupported:hwbreak+").startswith("PacketSize")
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, text):
        data = text.encode()
        self.socket.sendall(b"$%s#%02x" % (data, sum(data) & 0xff))

    def receive(self):
        while True:
            begin = self.bytes.find(b"$")
            end = self.bytes.find(b"#", begin)
            if begin >= 0 and 0 <= end <= len(self.bytes) - 3:
                packet, self.bytes = self.bytes[begin + 1:end], self.bytes[end + 3:]
                self.socket.sendall(b"+")
                return packet.decode()
            more = self.socket.recv(65536)
            assert more, "the stub has closed the connection"
            self.bytes += more

    def ask(self, text):
        self.send(text)
        return self.receive()

    def command(self, text):
        answer = self.ask(text)
        assert answer == "OK", f"{text}: {answer}"

    def run_to(self, address):
        """Runs to a hardware breakpoint at the address."""
        self.command(f"Z1,{address:x},4")
        assert self.ask("vCont;c").startswith("T05")
        self.command(f"z1,{address:x},4")

    def read(self, address, count):
        return bytes.fromhex(self.ask(f"m{address:x},{count:x}"))

    def write(self, address, data):
        self.command(f"M{address:x},{len(data):x}:{data.hex()}")

    def resume(self):
        self.send("vCont;c")

    def detach(self):
        self.command("D")

    def monitor(self, text):
        said = ""
        answer = self.ask("qRcmd," + text.encode().hex())
        while answer != "OK":
            assert answer.startswith("O"), answer
            said += bytes.fromhex(answer[1:]).decode()
            answer = self.receive()
        return said
