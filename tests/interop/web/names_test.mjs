// SPDX-License-Identifier: Apache-2.0
// Functions of the same name, such as static ones of several files. Each row, frame and link of the
// page belongs to one of them.
//
//     node --test names_test.mjs, with NOPSCOPE, NOPSCOPE_REPORT_BENCH and CHROMIUM
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addressOf, nopscope, openPage, until } from "./browser.mjs";

let written;
let page;

// main calls two functions named init: a long call of one with a callee, three calls of the other.
function recording() {
    const events = [];
    let now = 1000;
    const put = (type, fn, after) => events.push([type, fn, (now += after)]);
    put(0, 1, 0);
    put(0, 2, 1000);
    put(0, 4, 1000);
    put(1, 4, 9000);
    put(1, 2, 50000);
    for (let i = 0; i < 3; ++i) {
        put(0, 3, 1000);
        put(1, 3, 10000);
    }
    put(1, 1, 1000);
    return written.record("run", events, "1 8 main\n2 10 init\n3 18 init\n4 20 helper\n");
}

before(async () => {
    written = await openPage("names");
    page = written.page;
    nopscope("html", recording(), "-o", written.file);
});
after(() => written?.close());

const open = async (fragment) => {
    await page.goto("about:blank");
    await page.goto(`file://${written.file}${fragment}`);
    await page.waitForTimeout(150);
};
const calls = () => page.textContent("#calls dl.facts div:first-child dd");
const callees = () => page.$$eval("#calls section:last-child td.name", (all) => all.map((one) => one.textContent));

test("a row of the table leads to its own function, and so does the link to it", async () => {
    await open("#view=functions&sort=calls");
    const rows = await page.$$eval("#functions tbody tr", (all) => all.map((row) => [row.cells[0].textContent, row.cells[row.cells.length - 1].firstChild.textContent]));
    for (const [count, itsCallees] of [["1", ["helper"]], ["3", []]]) {
        await open("#view=functions&sort=calls");
        const row = rows.findIndex(([n, name]) => n === count && name === "init");
        await page.locator("#functions tbody tr").nth(row).click();
        assert.equal(await calls(), count);
        assert.deepEqual(await callees(), itsCallees);
        await open(new URL(await addressOf(page)).hash);
        assert.equal(await calls(), count, "by the link");
    }
});

test("a click on a frame zooms into that one", async () => {
    await open("");
    const widths = () => page.$$eval("#flame g.frame[name='init']", (all) => all.map((g) => Number(g.querySelector("rect").getAttribute("width"))).sort((a, b) => a - b));
    const root = await page.$eval("#flame g.frame[name='all'] rect", (rect) => Number(rect.getAttribute("width")));
    const [narrow, wide] = await widths();
    assert.ok(wide > 1.5 * narrow && narrow > 100, `${narrow} and ${wide}`);
    const drawn = await page.$$eval("#flame g.frame[name='init']", (all) => all.map((g) => Number(g.querySelector("rect").getAttribute("width"))));
    await page.locator("#flame g.frame[name='init']").nth(drawn.indexOf(narrow)).click();
    await until(page, () => location.hash !== "");
    const link = new URL(await addressOf(page)).hash;
    for (const how of ["clicked", "by the link"]) {
        await until(page, (width) => [...document.querySelectorAll("#flame g.frame[name='init']")]
            .some((g) => Number(g.getAttribute("width")) > width), root * 0.99);
        const labels = await page.$$eval("#flame g.frame", (all) => all.filter((g) => Number(g.querySelector("rect").getAttribute("width")) > 1).map((g) => g.getAttribute("name")));
        assert.ok(!labels.includes("helper"), `${how}: ${labels}`);
        await open(link);
    }
});

test("nothing was written to the browser's console", () => assert.deepEqual(written.wrong, []));
