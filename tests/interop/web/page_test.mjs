// SPDX-License-Identifier: Apache-2.0
// The report page in headless Chromium. Clicks, text input and links do what they say. The page loads nothing and reports no error.
//
//     node --test page_test.mjs, with NOPSCOPE, NOPSCOPE_RECORDING (of samples, too) and CHROMIUM
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { directory, frame, frames, functions, jsonOf, nopscope, numberOf, open as openUrl, page, rowsOf, settled, suite, text } from "./browser.mjs";

const { NOPSCOPE_RECORDING } = process.env;
let file, report, graph;

suite("page", () => {
    file = join(directory, "report.html");
    nopscope("html", NOPSCOPE_RECORDING, "-o", file);
    report = jsonOf("report", NOPSCOPE_RECORDING);
    graph = jsonOf("graph", NOPSCOPE_RECORDING);
});

const open = (fragment = "") => openUrl(`${file}${fragment}`);
const widest = async (wanted) => Math.max(...(await frames()).filter(({ name }) => name === wanted).map(({ width }) => width));

test("the flame graph has the paths of `graph`, as wide as they are long", async () => {
    await open();
    const top = graph.nodes.filter((node) => node.depth === 0 && node.address !== null);
    const all = top.reduce((sum, node) => sum + node.corrected_total_ns, 0);
    const drawn = await frames();
    const [root, shown] = ["all", top[0].name].map((wanted) => drawn.find(({ name }) => name === wanted).width);
    assert.ok(Math.abs(shown / root - top[0].corrected_total_ns / all) < 0.02, `${shown} of ${root}`);
    assert.ok(drawn.length > 20, `${drawn.length} frames`);
});

test("a click zooms, the link to it leads there, and back goes back", async () => {
    await open();
    const { name, address } = graph.nodes[0];
    const root = await widest("all");
    await frame(name).click();
    await settled();
    const link = page.url();
    assert.match(link, new RegExp(`zoom=${address}`));
    assert.ok((await widest(name)) > root * 0.99);
    await page.goBack();
    await settled();
    assert.doesNotMatch(page.url(), /zoom/);
    await openUrl(link);
    assert.ok((await widest(name)) > root * 0.99, "by the link");
});

test("search marks what it finds, and says how much of the time that is", async () => {
    await open();
    await page.keyboard.press("/");
    await page.keyboard.type("luaV_execute");
    await settled();
    const marked = (await frames()).filter(({ fill }) => fill === "var(--found)").map(({ name }) => name);
    assert.deepEqual([...new Set(marked)], ["luaV_execute"]);
    assert.match(await text("#matched"), /^[0-9.]+ % matched$/);
    await page.keyboard.press("Escape");
    await settled();
    assert.equal(await text("#matched"), "");
});

test("inverted, the widest frame is the function with the most self time", async () => {
    await open("#order=callees");
    const most = report.functions.reduce((a, b) => (b.corrected_self_ns > a.corrected_self_ns ? b : a));
    const drawn = (await frames()).filter(({ name }) => name !== "all").sort((a, b) => b.width - a.width);
    assert.equal(drawn[0].name, most.name);
});

test("the table has the report's functions, sorts and filters", async () => {
    await open("#view=functions");
    const interrupts = (report.interrupts ?? []).map((one) => [`(interrupt ${one.interrupt})`, one.calls]);
    assert.deepEqual(await functions(), new Map([...report.functions.map((of) => [of.name, of.calls]), ...interrupts]));
    await page.getByRole("button", { name: "calls", exact: true }).click();
    const sorted = (await rowsOf("#functions")).map((row) => numberOf(row[0]));
    assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a));
    await page.fill("#search", "LUAH_");
    const found = (await rowsOf("#functions")).map((row) => row.at(-1));
    assert.ok(found.length > 3 && found.every((name) => name.startsWith("luaH_")), JSON.stringify(found));
    await page.locator("#functions tbody tr").first().click();
    assert.match(page.url(), /view=calls/);
    assert.ok((await text("#calls h2")).startsWith(found[0]));
});

test("callers and callees are the graph's", async () => {
    await open("#view=calls&fn=luaV_execute");
    const expected = new Map();
    for (const node of graph.nodes) {
        if (node.parent === null || graph.nodes[node.parent].name !== "luaV_execute") continue;
        expected.set(node.name, (expected.get(node.name) ?? 0) + node.calls);
    }
    const shown = (await rowsOf("#calls section:last-child")).map((row) => [row[2], numberOf(row[0])]);
    assert.deepEqual(new Map(shown), expected);
    await page.locator("#calls section:last-child tbody tr").first().click();
    assert.ok((await text("#calls h2")).startsWith(shown[0][0]));
});

test("samples have a graph of their own", async () => {
    await open("#view=samples");
    const drawn = (await frames("#samples")).map(({ name }) => name);
    assert.ok(drawn.length > 5 && drawn.includes("luaV_execute"), `${drawn.length} frames`);
    await page.locator("#samples g.frame").first().hover();
    assert.match(await text("#details"), new RegExp(`all — ${report.samples.count.toLocaleString("en-US")} samples, 100`));
});

test("what the recording says of itself is there", async () => {
    await open("#view=recording");
    const said = await text("#recording");
    for (const part of [report.image.build_id, report.image.board, report.integrity.generated.toLocaleString("en-US")]) {
        assert.ok(said.includes(part), `${part} in ${said}`);
    }
    assert.equal((await text("#state")) === "complete", report.integrity.clean);
    assert.ok(!said.includes("\\x0a"), said);
});

test("in a narrow window a function's name is in view, and its row is low", async () => {
    await page.setViewportSize({ width: 800, height: 600 });
    await open("#view=functions");
    const cells = await page.$$eval("#functions tbody td.name", (all) => all.map((cell) => cell.getBoundingClientRect().toJSON()));
    for (const { right, width, height } of cells) assert.ok(right <= 800 && width > 150 && height < 90, `${right} ${width} ${height}`);
    await page.setViewportSize({ width: 1400, height: 900 });
});

test("a name is text, whatever it says", async () => {
    const hostile = "<img src=x onerror=console.error(1)>\"';</script>";
    const said = JSON.stringify(hostile).slice(1, -1).replaceAll("<", "\\u003c");
    const other = join(directory, "hostile.html");
    writeFileSync(other, readFileSync(file, "utf8").replaceAll('"luaV_execute"', `"${said}"`));
    for (const fragment of ["", "#view=functions", `#view=calls&fn=${encodeURIComponent(hostile)}`, "#view=samples"]) {
        await openUrl(`${other}${fragment}`);
        assert.equal(await page.locator("img").count(), 0);
        assert.ok((await text("main")).includes(hostile), fragment);
    }
});
