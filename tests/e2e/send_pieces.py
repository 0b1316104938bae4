# SPDX-License-Identifier: Apache-2.0
"""Writes a file to standard output in equal pieces, and pauses after each.

    send_pieces.py FILE COUNT SECONDS
"""

import pathlib
import sys
import time

data = pathlib.Path(sys.argv[1]).read_bytes()
size = -(-len(data) // int(sys.argv[2]))
for at in range(0, len(data), size):
    sys.stdout.buffer.write(data[at:at + size])
    sys.stdout.buffer.flush()
    time.sleep(float(sys.argv[3]))
