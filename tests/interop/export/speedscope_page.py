# SPDX-License-Identifier: Apache-2.0
"""Opens files in speedscope itself, and reads what it made of them.

From the environment: NODE, CHROMIUM, and NOPSCOPE_EXPORT_PACKAGES, where node_modules/ is.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil

import exports

HERE = pathlib.Path(__file__).resolve().parent
VALUE = re.compile(r"^([\d.,]+)(ns|µs|ms|s|) \(")
NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "": 1}


@dataclasses.dataclass
class Opened:
    profiles: dict  # in speedscope's own format: all that it read, with all digits
    rows: dict      # {function: (total, self)} of the profile that it shows, in ns, as rounded there


def opened(directory, *paths):
    """Opens files, and returns an Opened of each."""
    scripts = directory / "scripts"
    if not scripts.exists():
        scripts.mkdir()
        shutil.copy(HERE / "speedscope.mjs", scripts)
        shutil.copy(HERE.parent / "web" / "browser.mjs", scripts)
        # Node finds modules from the directory of the script.
        (scripts / "node_modules").symlink_to(pathlib.Path(os.environ["NOPSCOPE_EXPORT_PACKAGES"]) / "node_modules")
    exports.run(os.environ["NODE"], scripts / "speedscope.mjs",
                scripts / "node_modules/speedscope/dist/release/index.html", *paths)
    return [Opened(read(path, "exported"), table(read(path, "rows"))) for path in paths]


def read(path, of):
    return json.loads(path.with_name(f"{path.name}.{of}").read_text(encoding="utf-8"))


def table(rows):
    """Adds up functions of the same name."""
    sums = collections.defaultdict(lambda: (0, 0))
    for total, own, name in rows:
        sums[name] = tuple(before + nanoseconds(text) for before, text in zip(sums[name], (total, own)))
    return sums


def nanoseconds(text):
    value, unit = VALUE.match(text).groups()
    return float(value.replace(",", "")) * NS[unit]
