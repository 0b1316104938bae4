# SPDX-License-Identifier: Apache-2.0
"""Compares nopscope's call counts with the oracle's, function by function: a report
(`nopscope report --format json`) with what the plugin wrote in the same run."""


def reported_counts(report):
    counts = {}
    for function in report["functions"]:
        address = int(function["address"], 16)
        if address in counts:
            raise ValueError(f"the report names {address:#x} twice")
        counts[address] = function["calls"]
    return counts


def integrity_faults(integrity):
    """Why a comparison means nothing: records are missing, or the tracer's sums are wrong."""
    faults = [f"integrity.{key} is {integrity[key]}, must be 0"
              for key in ("dropped", "corrupt_frames", "gaps", "lost", "orphans")
              if integrity.get(key, 0) != 0]
    for key in ("generated", "delivered", "dropped", "corrupt_frames", "gaps"):
        if key not in integrity:
            faults.append(f"integrity.{key} is missing")
    parts = ("delivered", "dropped", "overwritten", "aggregated", "filtered")
    if integrity.get("generated") != sum(integrity.get(key, 0) for key in parts):
        faults.append("integrity: generated is not " + " + ".join(parts))
    return faults


def differences(report, oracle):
    """A sentence for each difference. Empty if both agree and at least one function was called."""
    found = integrity_faults(report["integrity"])
    names = {int(f["address"], 16): f["name"] for f in report["functions"]}
    told = reported_counts(report)
    seen = {int(site["address"], 16): site["bl"] for site in oracle["sites"]}
    for address in sorted(told.keys() | seen.keys()):
        if address not in seen:
            found.append(f"{address:#x} {names[address]}: reported, but no patch site is there")
        elif told.get(address, 0) != seen[address]:
            found.append(f"{address:#x} {names.get(address, '(not in the report)')}: "
                         f"nopscope {told.get(address, 0)}, oracle {seen[address]}")
    if not any(seen.values()):
        found.append("the oracle saw no traced call at all")
    return found
