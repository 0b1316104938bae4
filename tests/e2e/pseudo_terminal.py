# SPDX-License-Identifier: Apache-2.0
"""A pseudo-terminal in the place of a board's serial port. When both its ends close, Linux throws away what its reader
has not read yet."""

import select
import time


def wait_until_read(port, may_stop=lambda: False):
    """Waits until the reader has all that was written. `port` is the reader's end, which the caller holds open too.

    Only poll() tells: it moves first what still waits between the ends. FIONREAD does not count that.
    """
    poll = select.poll()
    poll.register(port, select.POLLIN)
    while poll.poll(0) and not may_stop():
        time.sleep(0.01)
