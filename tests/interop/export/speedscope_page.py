# SPDX-License-Identifier: Apache-2.0
"""Opens files in speedscope itself, and reads what it made of them.

From the environment: NODE, CHROMIUM, and NOPSCOPE_EXPORT_PACKAGES, where node_modules/ is.
"""

import json
import os
import pathlib
import shutil

import exports

HERE = pathlib.Path(__file__).resolve().parent


def opened(directory, *paths):
    """Opens files. Returns all that speedscope read from each, in its own format."""
    scripts = directory / "scripts"
    if not scripts.exists():
        scripts.mkdir()
        shutil.copy(HERE / "speedscope.mjs", scripts)
        shutil.copy(HERE.parent / "web" / "browser.mjs", scripts)
        # Node finds modules from the directory of the script.
        (scripts / "node_modules").symlink_to(pathlib.Path(os.environ["NOPSCOPE_EXPORT_PACKAGES"]) / "node_modules")
    exports.run(os.environ["NODE"], scripts / "speedscope.mjs",
                scripts / "node_modules/speedscope/dist/release/index.html", *paths)
    return [json.loads(path.with_name(f"{path.name}.exported").read_text(encoding="utf-8")) for path in paths]
