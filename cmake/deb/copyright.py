#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The copyright file of a package, in Debian's machine-readable form (copyright-format 1.0).

    copyright.py OUT [WEB]

WEB is where the report page was built: of the host command, which has parts of others. Libraries that are linked
statically, or are headers alone, have their copyright from the Debian package they come from; the parts of the page, from
the npm package that was bundled. Neither is in this tree. On a machine without Debian's copyright files they are left out, with a
warning: a build needs no Debian, and a package is made on one.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Library, and the Debian packages that may have its copyright file.
LINKED = {"CLI11": "libcli11-dev", "nlohmann-json": "nlohmann-json3-dev", "cpp-httplib": "libcpp-httplib-dev",
          "fmt": "libfmt-dev", "llvm": "llvm-14-dev llvm-*-dev"}
APACHE = " On Debian systems the full text of the Apache License, Version 2.0, is in\n /usr/share/common-licenses/Apache-2.0."


def stanzas(text):
    """Each a dictionary of its fields, as they stand."""
    for block in re.split(r"\n\s*\n", text):
        fields, name = {}, ""
        for line in block.splitlines():
            field = re.match(r"^([A-Za-z-]+):\s*(.*)$", line)
            if field:
                name = field[1]
                fields[name] = field[2]
            elif name:
                fields[name] += "\n" + line.rstrip()
        if fields:
            yield fields


def copyright_file(library, packages):
    for pattern in packages.split():
        for path in sorted(pathlib.Path("/usr/share/doc").glob(f"{pattern}/copyright")):
            if any(one.get("Files") == "*" for one in stanzas(path.read_text())):
                return path
    return None


def linked(library, packages):
    """(files, copyright, licence's name, its text); None: it is not known here."""
    path = copyright_file(library, packages)
    if path is None:
        print(f"warning: no /usr/share/doc/*/copyright of {library} ({packages}): a Debian package made here will not name it", file=sys.stderr)
        return None
    found = list(stanzas(path.read_text()))
    of_all = next(one for one in found if one.get("Files") == "*")
    name, _, text = of_all["License"].partition("\n")
    if not text:
        text = next(one["License"].partition("\n")[2] for one in found if one.get("License", "").startswith(name + "\n"))
    return f"linked/{library}/*", of_all["Copyright"].strip(), name, text


def bundled(path, licence, modules):
    name = path.removeprefix("node_modules/")
    if licence == "Apache-2.0":
        author = json.loads((modules / name / "package.json").read_text())["author"]
        return f"page/{name}/*", author if isinstance(author, str) else author["name"], licence, APACHE
    lines = next(iter(sorted((modules / name).glob("LICEN[SC]E*")))).read_text().strip().splitlines()
    holders = [line.split("Copyright ")[1].strip() for line in lines if line.startswith("Copyright ")]
    text = "\n".join(line for line in lines if not line.startswith("Copyright ")).strip()
    return (f"page/{name}/*", "\n           ".join(holders), licence,
            "\n".join(" " + line.rstrip() if line.strip() else " ." for line in text.splitlines()))


def parts(web):
    for library, packages in LINKED.items():
        yield linked(library, packages)
    lock = json.loads((ROOT / "host-tools/views/web/package-lock.json").read_text())
    for path, package in lock["packages"].items():
        if path and not package.get("dev"):
            yield bundled(path, package["license"], web / "node_modules")


def document(web):
    out = ["Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/", "Upstream-Name: nopscope",
           "Source: this package is built from nopscope's own source tree"]
    if web:
        out += ["Comment:", " linked/ stands for the libraries whose code is in the nopscope command, page/ for the parts",
                " of the report page that it writes. Neither is a directory of the source tree.",
                " The package's shared libraries are dependencies, with copyright files of their own."]
    out += ["", "Files: *", "Copyright: 2026 the nopscope authors", "License: Apache-2.0"]
    texts = {"Apache-2.0": APACHE}
    for files, holders, licence, text in filter(None, parts(web) if web else ()):
        short = re.sub(r"[^A-Za-z0-9.+-]+", "-", licence)
        if any(name.lower() == short.lower() and known != text for name, known in texts.items()):
            short += "-" + files.split("/")[1]
        texts[short] = text
        out += ["", f"Files: {files}", f"Copyright: {holders}", f"License: {short}"]
    for name, text in texts.items():
        out += ["", f"License: {name}", text]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(document(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None))
