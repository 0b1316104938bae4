// SPDX-License-Identifier: Apache-2.0
// Functions of the same name, such as static ones of several files. Each row, frame and link of the
// page belongs to one of them.
//
//     node --test names_test.mjs, with NOPSCOPE, NOPSCOPE_REPORT_BENCH and CHROMIUM
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { directory, frames, nopscope, open as openUrl, page, record, rowsOf, suite, text } from "./browser.mjs";

// main calls two functions named init: a long call of one with a callee, three calls of the other.
suite("names", () => {
    const events = [[0, 1, 1000], [0, 2, 2000], [0, 4, 3000], [1, 4, 12000], [1, 2, 62000]];
    for (const at of [63000, 74000, 85000]) events.push([0, 3, at], [1, 3, at + 10000]);
    events.push([1, 1, 96000]);
    nopscope("html", record("run", events, "1 8 main\n2 10 init\n3 18 init\n4 20 helper\n"), "-o", join(directory, "names.html"));
});

const open = (fragment) => openUrl(`${join(directory, "names.html")}${fragment}`);
const hash = () => new URL(page.url()).hash;

test("a row of the table leads to its own function, and so does the link to it", async () => {
    for (const [count, itsCallees] of [["1", ["helper"]], ["3", []]]) {
        await open("#view=functions&sort=calls");
        const row = (await rowsOf("#functions")).findIndex((cells) => cells[0] === count && cells.at(-1) === "init");
        await page.locator("#functions tbody tr").nth(row).click();
        assert.equal(await text("#calls dl.facts div:first-child dd"), count);
        assert.deepEqual(await page.locator("#calls section:last-child td.name").allTextContents(), itsCallees);
        await open(hash());
        assert.equal(await text("#calls dl.facts div:first-child dd"), count, "by the link");
    }
});

test("a click on a frame zooms into that one", async () => {
    await open("");
    const drawn = await frames();
    const root = drawn.find(({ name }) => name === "all").width;
    const widths = drawn.filter(({ name }) => name === "init").map(({ width }) => width);
    const [narrow, wide] = [...widths].sort((a, b) => a - b);
    assert.ok(wide > 1.5 * narrow && narrow > 100, `${narrow} and ${wide}`);
    await page.locator("#flame g.frame[name='init']").nth(widths.indexOf(narrow)).click();
    await page.waitForFunction(() => location.hash !== "");
    const link = hash();
    for (const how of ["clicked", "by the link"]) {
        await page.waitForFunction((width) => [...document.querySelectorAll("#flame g.frame[name='init']")]
            .some((g) => Number(g.querySelector("rect").getAttribute("width")) > width), root * 0.99);
        const labels = (await frames()).filter(({ width }) => width > 1).map(({ name }) => name);
        assert.ok(!labels.includes("helper"), `${how}: ${labels}`);
        await open(link);
    }
});
