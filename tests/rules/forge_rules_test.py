#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of forge_rules.py and version_rules.py once and checks that it is reported."""

import copy
import unittest

from breaking import ROOT, Breaking
from forge_rules import chooser_breaches, form_breaches, hook_breaches, workflow_breaches
from version_rules import changelog_breaches, header_breaches, said_breaches

FORM = {"name": "n", "description": "d", "body": [
    {"type": "markdown", "attributes": {"value": "v"}},
    {"type": "input", "id": "a", "attributes": {"label": "A"}, "validations": {"required": True}},
    {"type": "dropdown", "id": "b", "attributes": {"label": "B", "options": ["x", "y"]}},
    {"type": "checkboxes", "id": "c", "attributes": {"label": "C", "options": [{"label": "x"}]}}]}
JOB = {"runs-on": "u", "steps": [{"uses": "a/b@v1"}, {"run": ".ci/run"}]}
HEADER = '#define NOPSCOPE_VERSION "1.2.3"\n#define NOPSCOPE_VERSION_MAJOR 1\n#define NOPSCOPE_VERSION_MINOR 2\n#define NOPSCOPE_VERSION_PATCH 3\n'
SAID = "nopscope 1.2.3\nline: reads formats 2 and 3\nrecording: writes format 2, reads format 2\nbuild: GNU 12.2.0, Release, commit unknown\n"


class ForgeRules(Breaking):
    def changed(self, change):
        form = copy.deepcopy(FORM)
        change(form, form["body"])
        return form_breaches(form)

    def test_forms(self):
        self.assertEqual(list(form_breaches(FORM)), [])
        for change, words in [
                (lambda form, body: form.pop("name"), "lacks name"),
                (lambda form, body: form.update(description=True), "description is no text"),
                (lambda form, body: form.update(about="x"), "may not have about"),
                (lambda form, body: form.update(body=[]), "body is no list"),
                (lambda form, body: body[1].update(type="text"), "type is text"),
                (lambda form, body: body[0].update(id="m"), "may not have id"),
                (lambda form, body: body[1]["attributes"].pop("label"), "lacks label"),
                (lambda form, body: body[1]["attributes"].update(render="text"), "may not have render"),
                (lambda form, body: body[1].update(validations={"require": True}), "validations"),
                (lambda form, body: body[2]["attributes"].update(options=["x", "x"]), "two are equal"),
                (lambda form, body: body[3]["attributes"].update(options=["x"]), "is no map"),
                (lambda form, body: body[2].update(id="a"), "two fields have one id"),
                (lambda form, body: form.update(body=body[:1]), "nothing to fill in")]:
            self.one(self.changed(change), words)

    def test_the_rest(self):
        self.one(chooser_breaches({"blank_issues": True}), "blank_issues")
        self.one(chooser_breaches({"contact_links": [{"name": "n", "url": "u"}]}), "lacks about")
        good = {True: {"push": None}, "jobs": {"j": JOB}}
        self.assertEqual(list(workflow_breaches(ROOT, good)), [])
        self.one(workflow_breaches(ROOT, {"jobs": {"j": JOB}}), "lacks on")
        self.one(workflow_breaches(ROOT, {True: 1, "jobs": {"j": {"runs-on": "u", "steps": [{"run": "make"}]}}}), "nothing runs")
        self.one(workflow_breaches(ROOT, {True: 1, "jobs": {"j": {"runs-on": "u", "steps": [*JOB["steps"], {"uses": "a/b"}]}}}), "no version")
        hook = {"id": "h", "entry": "tests/rules/source_rules.py .", "language": "system"}
        self.assertEqual(list(hook_breaches(ROOT, {"repos": [{"repo": "local", "hooks": [hook]}]})), [])
        self.one(hook_breaches(ROOT, {"repos": [{"repo": "https://example.org", "hooks": [hook]}]}), "not local")
        self.one(hook_breaches(ROOT, {"repos": [{"repo": "local", "hooks": [hook | {"entry": "x.py"}]}]}), "no script")

    def test_versions(self):
        self.assertEqual(list(header_breaches("1.2.3", HEADER)), [])
        self.one(header_breaches("1.2.3", HEADER.replace("MINOR 2", "MINOR 3")), "MINOR is 3")
        self.assertEqual(list(said_breaches("1.2.3", SAID)), [])
        self.one(said_breaches("1.2.4", SAID), "says")
        self.one(said_breaches("1.2.3", SAID.replace("commit unknown", "commit unknown, Nov 23 2026")), "says")
        log = "## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n\n## [1.2.2] - 2026-01-01\n"
        self.assertEqual(list(changelog_breaches("1.2.4", log)), [])
        self.one(changelog_breaches("1.2.4", log.replace("## [Unreleased]\n", "")), "neither")
        self.one(changelog_breaches("1.2.3", log.replace("[1.2.3] - 2026-01-02", "[1.2.3]")), "has no date")
        self.one(changelog_breaches("1.2.3", log.replace("[1.2.2]", "[1.2.9]")), "do not fall")


if __name__ == "__main__":
    unittest.main()
