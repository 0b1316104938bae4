#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the host command is made of, with versions: a software bill of materials (SPDX 2.3, JSON).

    sbom.py COMMAND OUT

Shared libraries are those the loader takes, by the Debian package each is of; headers and static libraries, the packages of
cmake/packages.txt that host tools are built from; what is in the page, host-tools/views/web/package-lock.json. What is no Debian
package's has its file for a name. SOURCE_DATE_EPOCH, where it is set, is when it was made.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


# Both ask dpkg once for all: a question takes it a tenth of a second.
def debian(packages):
    listed = said("dpkg-query", "-W", "-f", "${binary:Package} ${Version} ${source:Package}\n", *packages)
    facts = {line.split()[0].split(":")[0]: line.split()[1:] for line in listed.splitlines()}
    for package in packages:
        version, source = facts.get(package, ("", ""))
        yield {"name": package, "version": version, "purl": f"pkg:deb/debian/{package}@{version}" if version else "", "from": source}


def shared(command):
    libraries = re.findall(r"(?:=> )?(/\S+) \(0x", said("ldd", command))
    # Debian 12's libraries are known by their name in /usr or before it.
    names = {library: (library, os.path.realpath(library), library.removeprefix("/usr")) for library in libraries}
    listed = said("dpkg-query", "-S", *(path for paths in names.values() for path in paths))
    owners = {path: owner.split(":")[0] for owner, path in re.findall(r"^(\S+?),?(?: .*)?: (/.*)$", listed, re.MULTILINE)}
    owned = {library: next((owners[path] for path in paths if path in owners), "") for library, paths in names.items()}
    yield from debian(sorted({owner for owner in owned.values() if owner}))
    for library, owner in owned.items():
        if not owner:
            yield {"name": library, "version": "", "purl": "", "from": ""}


def built_from():
    section = (ROOT / "cmake/packages.txt").read_text().split("# Host tools")[1].split("\n#")[0]
    return debian([package for package in section.splitlines()[1:] if package])


def in_the_page():
    lock = json.loads((ROOT / "host-tools/views/web/package-lock.json").read_text())
    for path, package in lock["packages"].items():
        if path and not package.get("dev"):
            name = path.removeprefix("node_modules/")
            yield {"name": name, "version": package["version"], "purl": f"pkg:npm/{name}@{package['version']}", "from": "",
                   "licence": package.get("license", "")}


def document(command):
    parts = {part["name"]: part for part in [*shared(command), *built_from(), *in_the_page()]}
    version = re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text().split("project(")[1])[1]
    digest = hashlib.sha256(pathlib.Path(command).read_bytes()).hexdigest()
    made = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp())),
                                           datetime.timezone.utc)
    packages = [{"SPDXID": "SPDXRef-nopscope", "name": "nopscope", "versionInfo": version, "downloadLocation": "NOASSERTION",
                 "licenseDeclared": "Apache-2.0", "filesAnalyzed": False}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-nopscope"}]
    for name in sorted(parts):
        part, mark = parts[name], "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
        package = {"SPDXID": mark, "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                   "versionInfo": part["version"] or "NOASSERTION",
                   "licenseDeclared": part.get("licence") or "NOASSERTION"}
        if part["from"]:
            package["sourceInfo"] = f"Debian source package {part['from']}"
        if part["purl"]:
            package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                        "referenceLocator": part["purl"]}]
        packages.append(package)
        relations.append({"spdxElementId": "SPDXRef-nopscope", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": mark})
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"nopscope-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/nopscope-{version}-{digest[:16]}",
            "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cmake/sbom.py"]},
            "packages": packages, "relationships": relations}


if __name__ == "__main__":
    command, out = sys.argv[1:]
    pathlib.Path(out).write_text(json.dumps(document(command), indent=1) + "\n")
