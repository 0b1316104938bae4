#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a forge's files against its documentation: issue forms, CI.

    forge_rules.py ROOT     one line for each breach; exit status 1 if there is any

The keys come from GitHub's "Syntax for issue forms" and "Syntax for GitHub's form schema".
"""


import tree
import yaml

FORM_KEYS = {"name", "description", "body", "title", "labels", "assignees", "projects", "type"}
ATTRIBUTES = {
    "markdown": ({"value"}, {"value"}),
    "textarea": ({"label"}, {"label", "description", "placeholder", "value", "render"}),
    "input": ({"label"}, {"label", "description", "placeholder", "value"}),
    "dropdown": ({"label", "options"}, {"label", "description", "multiple", "options", "default"}),
    "checkboxes": ({"label", "options"}, {"label", "description", "options"}),
}


def is_text(value):
    return isinstance(value, str) and bool(value.strip())


def key_breaches(what, found, required, allowed):
    if not isinstance(found, dict):
        yield f"{what} is no map"
        return
    for key in sorted(required - found.keys()):
        yield f"{what} lacks {key}"
    for key in sorted(found.keys() - allowed, key=str):
        yield f"{what} may not have {key}"
    for key in ("name", "description", "label", "title", "placeholder", "value", "render"):
        if key in found and not is_text(found[key]):
            yield f"{what}: {key} is no text"


def option_breaches(what, kind, options):
    if not isinstance(options, list) or not options:
        yield f"{what}: options is no list"
        return
    if kind == "dropdown":
        if not all(map(is_text, options)) or len(set(options)) != len(options) or "None" in options:
            yield f"{what}: options are not texts, or two are equal"
        return
    for option in options:
        yield from key_breaches(f"{what}: an option", option, {"label"}, {"label", "required"})


def field_breaches(number, field):
    what = f"field {number}"
    kind = field.get("type") if isinstance(field, dict) else None
    if kind not in ATTRIBUTES:
        yield f"{what}: type is {kind}"
        return
    required, allowed = ATTRIBUTES[kind]
    yield from key_breaches(what, field, {"attributes"}, {"type", "id", "attributes", "validations"} if kind != "markdown" else
                            {"type", "attributes"})
    attributes = field.get("attributes", {})
    yield from key_breaches(what, attributes, required, allowed)
    if "options" in required and isinstance(attributes, dict) and "options" in attributes:
        yield from option_breaches(what, kind, attributes["options"])
    validations = field.get("validations", {})
    if not isinstance(validations, dict) or validations.keys() - {"required"} or not isinstance(validations.get("required", False), bool):
        yield f"{what}: validations may have required: true alone"


def form_breaches(form):
    yield from key_breaches("the form", form, {"name", "description", "body"}, FORM_KEYS)
    fields = form.get("body") if isinstance(form, dict) else None
    if not isinstance(fields, list) or not fields:
        yield "body is no list"
        return
    for number, field in enumerate(fields, 1):
        yield from field_breaches(number, field)
    for key in ("id", "label"):
        values = [field.get("id") if key == "id" else field.get("attributes", {}).get("label") for field in fields if isinstance(field, dict)]
        values = [value for value in values if value is not None]
        if len(set(values)) != len(values):
            yield f"two fields have one {key}"
    if all(isinstance(field, dict) and field.get("type") == "markdown" for field in fields):
        yield "there is nothing to fill in"


def chooser_breaches(config):
    yield from key_breaches("it", config, set(), {"blank_issues_enabled", "contact_links"})
    for link in config.get("contact_links", []):
        yield from key_breaches("a link", link, {"name", "url", "about"}, {"name", "url", "about"})


def workflow_breaches(root, workflow):
    # YAML 1.1 reads the key `on` as true.
    yield from key_breaches("it", {("on" if key is True else key): value for key, value in workflow.items()}, {"on", "jobs"},
                            {"name", "on", "jobs", "env", "permissions", "concurrency", "defaults", "run-name"})
    runs = []
    for name, job in workflow.get("jobs", {}).items():
        if not is_text(job.get("runs-on")) or not job.get("steps"):
            yield f"job {name} lacks runs-on or steps"
        for step in job.get("steps", []):
            if ("run" in step) == ("uses" in step):
                yield f"job {name}: a step has run or uses, one of them"
            if "uses" in step and "@" not in step["uses"]:
                yield f"job {name}: {step['uses']} has no version"
            runs.append(step.get("run", ""))
    if not any(run.split()[:1] == [".ci/run"] for run in runs):
        yield "nothing runs .ci/run"
    if not (root / ".ci/run").exists():
        yield "there is no .ci/run"


def breaches(root):
    """Yields 'PATH: the error'."""
    forms = sorted((root / ".github/ISSUE_TEMPLATE").glob("*.y*ml"))
    checks = [(path, chooser_breaches if path.stem == "config" else form_breaches) for path in forms]
    checks += [(path, lambda found: workflow_breaches(root, found)) for path in sorted((root / ".github/workflows").glob("*.y*ml"))]
    for path, check in checks:
        try:
            found = list(check(yaml.safe_load(path.read_text(encoding="utf-8"))))
        except (OSError, yaml.YAMLError) as error:
            found = [" ".join(str(error).split())]
        yield from (f"{path.relative_to(root)}: {reason}" for reason in found)
    if len(forms) < 2:
        yield ".github/ISSUE_TEMPLATE: no forms"


if __name__ == "__main__":
    tree.main(breaches, __doc__)
