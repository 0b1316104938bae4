# SPDX-License-Identifier: Apache-2.0
"""A pseudo-terminal that replaces a board's serial port. When both its ends close, Linux discards bytes that were not read yet."""

import select
import time


def wait_until_read(port, may_stop=lambda: False):
    """Waits until the reader has read all. `port`: the reader's end, which the caller holds open.

    Only poll() shows it: it first moves the bytes between the ends, which FIONREAD omits.
    """
    poll = select.poll()
    poll.register(port, select.POLLIN)
    while poll.poll(0) and not may_stop():
        time.sleep(0.01)
