// SPDX-License-Identifier: Apache-2.0
// The page has its recording: the timeline draws every call of any range, and a selected range is
// what the command says of it.
//
//     node --test engine_test.mjs, with NOPSCOPE, NOPSCOPE_RECORDING and CHROMIUM
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, beforeEach, test } from "node:test";
import { addressOf, cellsOf, drawn as ready, eachTestHasAPage, firstEvent, nopscope, until as untilOn } from "./browser.mjs";

const { NOPSCOPE_RECORDING } = process.env;
const directory = eachTestHasAPage("engine", (made) => (page = made));
const file = join(directory, "report.html");
let page, calls, end;

function exported(...options) {
    const lines = [...cellsOf(nopscope("export", "--format", "csv", ...options, NOPSCOPE_RECORDING, "-o", "-"))];
    const begin = firstEvent(lines);
    return lines.filter(([kind, , , , , , , , , name]) => kind === "call" && name !== "(tracer)").map((cells) => ({ from: Number(cells[4]) - begin, to: Number(cells[5]) - begin }));
}
const endOf = (calls) => calls.reduce((latest, { to }) => Math.max(latest, to), 0);

before(async () => {
    nopscope("html", NOPSCOPE_RECORDING, "-o", file);
    calls = exported("--cut-tracer"); // the axis of the timeline, and of parts
    end = endOf(calls);
});
beforeEach(async () => {
    await page.setViewportSize({ width: 1400, height: 6000 }); // has all rows
});

const open = (fragment) => page.goto(`file://${file}${fragment}`);
const notes = () => page.locator("#timeline p.empty");
const drawn = () => page.locator("#timeline canvas").evaluate((canvas) => Number(canvas.dataset.drawn));
const until = (holds, argument) => untilOn(page, holds, argument);
const drawnIs = (count) => until((count) => Number(document.querySelector("#timeline canvas").dataset.drawn) === count, count);
const inside = (from, to, of = calls) => of.filter((call) => call.from <= to && call.to >= from).length;

test("the page is as small as its recording allows", () => {
    const recording = statSync(NOPSCOPE_RECORDING).size;
    assert.ok(statSync(file).size < 1.35 * recording + 2_000_000, `${statSync(file).size} bytes for ${recording}`);
});

test("a narrow range of the timeline has all of its calls, wherever it is", async () => {
    assert.ok(calls.length > 100_000, `${calls.length} calls`);
    for (const share of [0.03, 0.41, 0.97]) {
        const from = Math.floor(end * share);
        // As many ns as some hundred calls take.
        const at = calls.filter((call) => call.from > from).map((call) => call.from).sort((a, b) => a - b)[200];
        await page.goto("about:blank");
        await open(`#view=timeline&range=${from}-${at}`);
        await drawnIs(inside(from, at));
        assert.match(await notes().textContent(), new RegExp(`^All ${calls.length.toLocaleString("en-US")} calls`));
    }
    assert.ok(await drawn() > 100);
});

test("t shows the tracer's own time, and all calls where export has them", async () => {
    const wall = exported();
    assert.ok(endOf(wall) > 2 * end, "the target waited for its line");
    const from = Math.floor(endOf(wall) * 0.41);
    const at = wall.filter((call) => call.from > from).map((call) => call.from).sort((a, b) => a - b)[200];
    const button = page.getByRole("button", { name: "Tracer" });
    const pressed = (said) => until((said) => document.querySelector("#timeline [aria-pressed]").ariaPressed === said, said);
    await open("#view=timeline");
    await ready(page);
    await page.locator("#timeline canvas").focus();
    await page.keyboard.press("t");
    await pressed("true");
    assert.match(await notes().textContent(), /\(tracer\) is the tracer's own time/);
    assert.equal(await page.isVisible("text=Select this range"), false, "a selection's times are without it");
    await page.keyboard.press("x");
    assert.doesNotMatch(await page.evaluate(() => location.hash), /time=/);
    await page.goto("about:blank");
    await open(`#view=timeline&tracer=shown&range=${from}-${at}`);
    await pressed("true");
    await drawnIs(inside(from, at, wall));
    await page.goBack();
    await open("#view=timeline");
    await ready(page);
    await button.click();
    await pressed("true");
    await page.goBack();
    await pressed("false");
    assert.match(await notes().textContent(), /the tracer's own time is cut out/);
    await ready(page);
    const all = await drawn();
    await button.click();
    await pressed("true");
    await page.click("#tab-functions");
    await page.locator("#functions .link").first().click(); // to the call, on the axis of the functions' times
    await pressed("false");
    assert.match(await page.evaluate(() => location.hash), /view=timeline.*range=/);
    await page.keyboard.press("0");
    await drawnIs(all);
});

test("a zoom asks for what it shows", async () => {
    await open("#view=timeline");
    await ready(page);
    const before = await drawn();
    await page.locator("#timeline canvas").focus();
    for (let n = 0; n < 30; ++n) await page.keyboard.press("w");
    const [from, to] = /range=(\d+)-(\d+)/.exec(await addressOf(page)).slice(1).map(Number);
    assert.ok(to - from < 100_000, await addressOf(page));
    await until(() => Number(document.querySelector("#timeline canvas").dataset.drawn) > 0);
    await drawnIs(inside(from, to));
    await page.keyboard.press("0");
    await drawnIs(before);
});

test("a selected range is what the command says of it", async () => {
    const [from, to] = [Math.floor(end * 0.4), Math.floor(end * 0.5)];
    const report = JSON.parse(nopscope("report", NOPSCOPE_RECORDING, "--time", `${from}ns..${to}ns`, "--format", "json"));
    const expected = new Map(report.functions.map(({ name, calls }) => [name, calls]));
    const all = report.functions.reduce((sum, { calls }) => sum + calls, 0);
    await open("#view=timeline");
    const whole = await page.evaluate(() => Number(document.body.dataset.calls));
    await open(`#view=timeline&range=${from}-${to}`);
    await page.getByRole("button", { name: "Select this range" }).click();
    assert.match(await addressOf(page), new RegExp(`time=${from}\\.\\.${to}`));
    const shown = async (link) => {
        await until((all) => Number(document.body.dataset.calls) >= all && !document.getElementById("selected").textContent.includes("…"), all);
        await page.locator("#tab-functions").click();
        const rows = await page.$$eval("#functions tbody tr", (list) => list.map((row) =>
            [row.cells[row.cells.length - 1].firstChild.textContent, Number(row.cells[0].textContent.replaceAll(",", ""))]));
        const functions = new Map(rows.filter(([name]) => expected.has(name)));
        assert.deepEqual(functions, expected, link);
        assert.match(await page.textContent("#headline"), /part: \d/);
        assert.equal(await page.locator("#tab-timeline").isVisible(), true);
    };
    await shown("after the click");
    const link = await addressOf(page);
    await page.goto("about:blank");
    await page.goto(link);
    await shown("by the link");
    await page.locator("#unselect").click();
    await until((whole) => Number(document.body.dataset.calls) === whole, whole);
    assert.equal(await page.locator("#selection").isVisible(), false);
    assert.doesNotMatch(await addressOf(page), /time=/);
});

test("a range in which nothing was recorded says so", async () => {
    await open("#view=functions&time=900000000000000..900000000000001");
    await until(() => /ended at/.test(document.getElementById("selected").textContent));
});

test("a recording that is no longer readable leaves the view, and says why", async () => {
    const broken = join(directory, "broken.html");
    const text = readFileSync(file, "utf8");
    for (const [recording, why] of [["AAAA", /cannot read its recording: .*no trace|cannot read its recording: .*empty|cannot read its recording: .*hello/], ["%", /cannot read its recording: /]]) {
        writeFileSync(broken, text.replace(/"recording":"[^"]*"/, () => `"recording":"${recording}"`));
        await page.goto("about:blank");
        await page.goto(`file://${broken}#view=timeline`);
        await until(() => /cannot read/.test(document.querySelector("#timeline p.empty")?.textContent));
        assert.match(await notes().textContent(), why);
        assert.ok(await drawn() > 100);
    }
});

test("without memory for all calls the page says of how many it has sums", async () => {
    const small = join(directory, "little.html");
    writeFileSync(small, readFileSync(file, "utf8").replace(/"memory":\d+/, '"memory":44000000'));
    await page.goto(`file://${small}#view=timeline`);
    await ready(page);
    const [, all, sums] = /^All ([\d,]+) calls are in this page, but its memory has only sums of the ([\d,]+) oldest\./.exec(await notes().textContent());
    assert.equal(all, calls.length.toLocaleString("en-US"));
    assert.ok(Number(sums.replaceAll(",", "")) > calls.length / 2, sums);
});

test("without the recording the page has what it was written with", async () => {
    const small = join(directory, "small.html");
    nopscope("html", NOPSCOPE_RECORDING, "-o", small, "--no-recording");
    assert.ok(statSync(small).size < statSync(file).size - statSync(NOPSCOPE_RECORDING).size);
    await page.goto(`file://${small}#view=timeline`);
    assert.match(await notes().textContent(), /calls are in this page: the longest of all/);
    assert.equal(await page.getByRole("button", { name: "Select this range" }).isVisible(), false);
    await page.goto(`file://${small}#view=functions&time=1..2`);
    assert.match(await page.textContent("#selection"), /no recording to select from/);
});
