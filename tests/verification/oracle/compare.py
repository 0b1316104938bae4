# SPDX-License-Identifier: Apache-2.0
"""Compares nopscope's call counts with the oracle's, function by function: a report
(`nopscope report --format json`) with what the plugin wrote in the same run."""

import collections


def by_address(counted):
    """The functions of a report, or of the plugin's result, in which a number that is 0 may be missing."""
    functions = {function["address"]: collections.Counter(function) for function in counted["functions"] if function["calls"]}
    if len(functions) < sum(function["calls"] != 0 for function in counted["functions"]):
        raise ValueError("a function is named twice")
    return functions


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


def different_calls(told, seen):
    """A sentence for each function, by address, whose calls are not equal."""
    none = {"name": "(not in the report)", "calls": 0}
    pairs = [(address, told.get(address, none), seen.get(address, none)) for address in sorted(told.keys() | seen.keys())]
    return [f"{address} {ours['name']}: nopscope {ours['calls']}, oracle {theirs['calls']}"
            for address, ours, theirs in pairs if ours["calls"] != theirs["calls"]]


def differences(report, oracle):
    """A sentence for each difference. Empty if both agree and at least one function was called."""
    told, seen = by_address(report), by_address(oracle)
    return integrity_faults(report["integrity"]) + different_calls(told, seen) + ([] if seen else ["the oracle saw no traced call at all"])
