# SPDX-License-Identifier: Apache-2.0
"""Opens a file with speedscope itself, in headless Chromium, and reads its table.

From the environment: NOPSCOPE_SPEEDSCOPE, speedscope's release from npm.
"""

import base64
import collections
import html
import os
import pathlib
import re
import tempfile
import time

import exports

NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "": 1}
CELL = r'<td class="\w+">([\d.]+)(ns|µs|ms|s|) \([^)]*\)<div.*?</td>'
ROW = re.compile(CELL + CELL + r"<td[^>]*><span[^>]*></span>(.*?)</td></tr>", re.DOTALL)


def imported(directory, text):
    """Returns {function: (total, self)} in nanoseconds, of the profile that is shown first."""
    script = directory / "profile.js"
    script.write_text(f"speedscope.loadFileFromBase64('x.json', '{base64.b64encode(text.encode()).decode()}')")
    page = pathlib.Path(os.environ["NOPSCOPE_SPEEDSCOPE"]) / "index.html"
    rows, until = [], time.monotonic() + exports.HANG_SECONDS / 2
    while not rows and time.monotonic() < until:  # Chromium may take the page before it is drawn
        done = exports.run("chromium", "--headless", "--no-sandbox", "--enable-unsafe-swiftshader",
                           f"--user-data-dir={tempfile.mkdtemp(dir=directory)}", "--window-size=1400,12000",
                           "--virtual-time-budget=20000", "--dump-dom",
                           f"{page.as_uri()}#localProfilePath={script}&view=sandwich")
        rows = ROW.findall(done.stdout.decode())
    assert rows, "speedscope shows no table"
    sums = collections.defaultdict(lambda: (0, 0))
    for total, total_unit, own, own_unit, name in rows:
        before = sums[html.unescape(name)]
        sums[html.unescape(name)] = (before[0] + float(total) * NS[total_unit], before[1] + float(own) * NS[own_unit])
    return sums
