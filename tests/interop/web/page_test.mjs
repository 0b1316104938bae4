// SPDX-License-Identifier: Apache-2.0
// The report page in headless Chromium. Clicks, text input and links do what they say. The page
// loads nothing and reports no error.
//
//     node --test page_test.mjs, with NOPSCOPE, NOPSCOPE_RECORDING (of samples, too) and CHROMIUM
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { launch, newPage, nopscope } from "./browser.mjs";

const { NOPSCOPE_RECORDING } = process.env;
const directory = mkdtempSync(join(tmpdir(), "nopscope-page-"));
const file = join(directory, "report.html");
let browser;
let page;
let report;
let graph;
const wrong = [];

before(async () => {
    nopscope("html", NOPSCOPE_RECORDING, "-o", file);
    report = JSON.parse(nopscope("report", NOPSCOPE_RECORDING, "--format", "json"));
    graph = JSON.parse(nopscope("graph", NOPSCOPE_RECORDING, "--format", "json"));
    browser = await launch();
});
after(async () => {
    await browser?.close();
    rmSync(directory, { recursive: true, force: true });
});
beforeEach(async () => {
    page = await newPage(browser, wrong);
});
afterEach(async () => {
    await page.close();
    assert.deepEqual(wrong.splice(0), []);
});

const open = (fragment = "") => page.goto(`file://${file}${fragment}`);
// The drawn frames by name. A zoom keeps the others in place, but without width.
const widths = () =>
    page.$$eval("#flame g.frame", (frames) =>
        frames.map((g) => [g.getAttribute("name"), Number(g.querySelector("rect").getAttribute("width"))]));
const settled = () => page.waitForTimeout(150);

test("the flame graph has the paths of `graph`, as wide as they are long", async () => {
    await open();
    await settled();
    const top = graph.nodes.filter((node) => node.depth === 0 && node.address !== null);
    const all = top.reduce((sum, node) => sum + node.corrected_total_ns, 0);
    const longest = top[0];
    const drawn = await widths();
    const root = drawn.find(([name]) => name === "all");
    const shown = drawn.find(([name]) => name === longest.name);
    assert.ok(Math.abs(shown[1] / root[1] - longest.corrected_total_ns / all) < 0.02, `${shown} of ${root}`);
    assert.ok(drawn.length > 20, `${drawn.length} frames`);
});

test("a click zooms, the link to it leads there, and back goes back", async () => {
    await open();
    await settled();
    const longest = graph.nodes[0].name;
    const root = (await widths()).find(([name]) => name === "all")[1];
    await page.locator(`#flame g.frame[name="${longest}"]`).first().click();
    await settled();
    assert.match(page.url(), new RegExp(`zoom=${graph.nodes[0].address}`));
    const zoomed = (await widths()).filter(([name]) => name === longest).map(([, width]) => width);
    assert.ok(Math.max(...zoomed) > root * 0.99, `${zoomed} of ${root}`);
    const link = page.url();
    await page.goBack();
    await settled();
    assert.doesNotMatch(page.url(), /zoom/);
    await page.goto("about:blank");
    await page.goto(link);
    await settled();
    const again = (await widths()).filter(([name]) => name === longest).map(([, width]) => width);
    assert.ok(Math.max(...again) > root * 0.99, `by the link: ${again} of ${root}`);
});

test("search marks what it finds, and says how much of the time that is", async () => {
    await open();
    await settled();
    await page.keyboard.press("/");
    await page.keyboard.type("luaV_execute");
    await settled();
    const marked = await page.$$eval("#flame g.frame", (frames) =>
        frames.filter((g) => g.querySelector("rect").getAttribute("fill") === "var(--found)").map((g) => g.getAttribute("name")));
    assert.ok(marked.length > 0);
    assert.deepEqual([...new Set(marked)], ["luaV_execute"]);
    assert.match(await page.textContent("#matched"), /^[0-9.]+ % matched$/);
    await page.keyboard.press("Escape");
    await settled();
    assert.equal(await page.textContent("#matched"), "");
});

test("inverted, the widest frame is the function with the most self time", async () => {
    await open("#order=callees");
    await settled();
    const most = report.functions.reduce((a, b) => (b.corrected_self_ns > a.corrected_self_ns ? b : a));
    const drawn = (await widths()).filter(([name]) => name !== "all").sort((a, b) => b[1] - a[1]);
    assert.equal(drawn[0][0], most.name);
});

test("the table has the report's functions, sorts and filters", async () => {
    await open("#view=functions");
    const rows = () => page.$$eval("#functions tbody tr", (all) =>
        all.map((row) => ({ calls: Number(row.cells[0].textContent.replaceAll(",", "")), name: row.cells[row.cells.length - 1].firstChild.textContent })));
    const shown = await rows();
    const interrupts = (report.interrupts ?? []).map((one) => [`(interrupt ${one.interrupt})`, one.calls]);
    assert.deepEqual(new Map(shown.map((row) => [row.name, row.calls])), new Map([...report.functions.map((f) => [f.name, f.calls]), ...interrupts]));
    await page.getByRole("button", { name: "calls", exact: true }).click();
    const sorted = await rows();
    assert.deepEqual(sorted.map((row) => row.calls), [...sorted.map((row) => row.calls)].sort((a, b) => b - a));
    await page.fill("#search", "LUAH_");
    const found = await rows();
    assert.ok(found.length > 3 && found.every((row) => row.name.startsWith("luaH_")), JSON.stringify(found));
    await page.locator("#functions tbody tr").first().click();
    assert.match(page.url(), /view=calls/);
    assert.ok((await page.textContent("#calls h2")).startsWith(found[0].name));
});

test("callers and callees are the graph's", async () => {
    const name = "luaV_execute";
    await open(`#view=calls&fn=${name}`);
    const expected = new Map();
    for (const node of graph.nodes) {
        if (node.parent === null || graph.nodes[node.parent].name !== name) continue;
        expected.set(node.name, (expected.get(node.name) ?? 0) + node.calls);
    }
    const shown = await page.$$eval("#calls section:last-child tbody tr", (rows) =>
        rows.map((row) => [row.cells[2].textContent, Number(row.cells[0].textContent.replaceAll(",", ""))]));
    assert.deepEqual(new Map(shown), expected);
    await page.locator("#calls section:last-child tbody tr").first().click();
    assert.ok((await page.textContent("#calls h2")).startsWith(shown[0][0]));
});

test("samples have a graph of their own", async () => {
    await open("#view=samples");
    await settled();
    const drawn = await page.$$eval("#samples g.frame", (frames) => frames.map((g) => g.getAttribute("name")));
    assert.ok(drawn.length > 5 && drawn.includes("luaV_execute"), `${drawn.length} frames`);
    await page.locator("#samples g.frame").first().hover();
    assert.match(await page.textContent("#details"), new RegExp(`all — ${report.samples.count.toLocaleString("en-US")} samples, 100`));
});

test("what the recording says of itself is there", async () => {
    await open("#view=recording");
    const said = await page.textContent("#recording");
    for (const part of [report.image.build_id, report.image.board, report.integrity.generated.toLocaleString("en-US")]) {
        assert.ok(said.includes(part), `${part} in ${said}`);
    }
    assert.equal((await page.textContent("#state")) === "complete", report.integrity.clean);
});

test("a name is text, whatever it says", async () => {
    const hostile = "<img src=x onerror=console.error(1)>\"';</script>";
    const said = JSON.stringify(hostile).slice(1, -1).replaceAll("<", "\\u003c");
    const other = join(directory, "hostile.html");
    writeFileSync(other, readFileSync(file, "utf8").replaceAll('"luaV_execute"', `"${said}"`));
    for (const fragment of ["", "#view=functions", `#view=calls&fn=${encodeURIComponent(hostile)}`, "#view=samples"]) {
        await page.goto("about:blank");
        await page.goto(`file://${other}${fragment}`);
        await settled();
        assert.equal(await page.locator("img").count(), 0);
        assert.ok((await page.textContent("main")).includes(hostile), fragment);
    }
});
