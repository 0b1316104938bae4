// SPDX-License-Identifier: Apache-2.0
// The report page in headless Chromium. Clicks, text input and links do what they say. The page
// loads nothing and reports no error.
//
//     node --test page_test.mjs, with NOPSCOPE, NOPSCOPE_RECORDING (of samples, too) and CHROMIUM
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { addressOf, eachTestHasAPage, nopscope } from "./browser.mjs";

const { NOPSCOPE_RECORDING } = process.env;
const directory = eachTestHasAPage("page", (made) => (page = made));
const file = join(directory, "report.html");
let page;
let report;
let graph;

before(async () => {
    nopscope("html", NOPSCOPE_RECORDING, "-o", file);
    report = JSON.parse(nopscope("report", NOPSCOPE_RECORDING, "--format", "json"));
    graph = JSON.parse(nopscope("graph", NOPSCOPE_RECORDING, "--format", "json"));
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
    assert.match(await addressOf(page), new RegExp(`zoom=${graph.nodes[0].address}`));
    const zoomed = (await widths()).filter(([name]) => name === longest).map(([, width]) => width);
    assert.ok(Math.max(...zoomed) > root * 0.99, `${zoomed} of ${root}`);
    const link = await addressOf(page);
    await page.goBack();
    await settled();
    assert.doesNotMatch(await addressOf(page), /zoom/);
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
    const matched = await page.textContent("#matched");
    assert.match(matched, /^[0-9.]+ % matched$/);
    await page.click("#tab-samples");
    assert.notEqual(await page.textContent("#matched"), matched);
    await page.click("#tab-flame");
    assert.equal(await page.textContent("#matched"), matched);
    await page.focus("#search");
    await page.keyboard.press("Escape"); // leaves the field
    assert.match(await page.textContent("#matched"), /matched/);
    assert.ok(await page.evaluate(() => document.activeElement.closest("#flame")));
    await page.keyboard.press("Escape");
    await settled();
    assert.equal(await page.textContent("#matched"), "");
});

const count = () => page.textContent("#count");
const functions = () => page.$$eval("#functions tbody tr", (rows) => rows.map((row) => row.cells[row.cells.length - 1].firstChild.textContent));

test("search is for a part, a pattern or an expression", async () => {
    await open("#view=functions");
    const all = await functions();
    const said = {
        "LUAH_": (name) => name.toLowerCase().includes("luah_"),
        "luah_*": (name) => name.startsWith("luaH_"),
        "*_ge?": (name) => /_ge.$/.test(name),
        "luaH_": (name) => name.includes("luaH_"),
        "ua?_get": () => false,
        "/^lua[HV]_.*e$/": (name) => /^lua[HV]_.*e$/.test(name),
        "/^LUAH_/": () => false,
        "/^LUAH_/i": (name) => /^luaH_/.test(name),
        "a.b": () => false,
    };
    for (const [text, finds] of Object.entries(said)) {
        await page.fill("#search", text);
        const expected = all.filter(finds);
        assert.deepEqual(await functions(), expected, text);
        assert.equal(await count(), `${expected.length} found`);
        assert.ok(finds("luaH_get") === false || expected.length > 0, text);
    }
    assert.equal(await page.textContent("#wrong"), "");
    await page.fill("#search", "/lua(/");
    assert.match(await page.textContent("#wrong"), /^This is no regular expression: .+\.$/);
    assert.deepEqual(await functions(), all);
    assert.equal(await count(), "");
});

test("search steps from match to match, in a table and in the flame graph", async () => {
    await open("#view=functions");
    await page.keyboard.press("/");
    await page.keyboard.type("luaH_");
    const names = await functions();
    const current = () => page.$$eval("#functions tr[aria-current]", (rows) => rows.map((row) => row.cells[row.cells.length - 1].firstChild.textContent));
    assert.ok(names.length > 3);
    const steps = [["Enter", 0], ["Enter", 1], ["F3", 2], ["Shift+Enter", 1], ["Shift+F3", 0], ["Shift+Enter", names.length - 1], ["Enter", 0]];
    for (const [key, at] of steps) {
        await page.keyboard.press(key);
        assert.deepEqual(await current(), [names[at]], key);
        assert.equal(await count(), `${at + 1} of ${names.length}`);
    }
    await page.getByRole("button", { name: "Next match" }).click();
    assert.deepEqual(await current(), [names[1]]);
    await page.getByRole("button", { name: "Previous match" }).click();
    await page.focus("#search");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), names[0], "the row has the focus");

    await open(`#search=luaH_`);
    await settled();
    const frames = graph.nodes.filter((node) => node.name.includes("luaH_") && node.address !== null).length;
    const found = Number(/^([\d,]+) found$/.exec(await count())[1].replaceAll(",", ""));
    assert.ok(found > 5 && found <= frames, `${found} of ${frames}`);
    await page.focus("#search");
    const seen = new Set();
    const few = Math.min(found, 15);
    const said = found.toLocaleString("en-US");
    for (let at = 1; at <= few; ++at) {
        await page.keyboard.press("Enter");
        await settled();
        assert.equal(await count(), `${at} of ${said}`);
        const [name, width, box] = await page.$eval("#flame-current", (g) => [g.getAttribute("name"), Number(g.getAttribute("width")), g.getAttribute("data-current")]);
        assert.match(name, /luaH_/);
        assert.equal(box, "match");
        assert.ok(width > 1, "it is drawn, if by a zoom");
        assert.equal(await page.textContent("#announced"), await page.textContent("#details"));
        seen.add(`${await addressOf(page)} ${await page.$eval("#flame-current", (g) => g.getAttribute("transform"))}`);
    }
    assert.equal(seen.size, few);
    await page.keyboard.press("Escape");
    await page.keyboard.press("F3");
    assert.equal(await count(), `${few % found + 1} of ${said}`);
});

test("each column sorts both ways, and what is not known is last", async () => {
    const data = JSON.parse(/id="data">(.*?)<\/script>/s.exec(readFileSync(file, "utf8"))[1]);
    for (const at of [0, 3, 5]) Object.assign(data.functions[at], { calls: 1, mean: null, max: null, bins: [] });
    const other = join(directory, "unknown.html");
    writeFileSync(other, readFileSync(file, "utf8").replace(/(id="data">).*?(<\/script>)/s, (_, begin, end) => begin + JSON.stringify(data).replaceAll("<", "\\u003c") + end));
    await page.goto(`file://${other}#view=functions`);
    const of = new Map(data.functions.map((one) => [one.address === "0x0" ? one.name : one.address, one]));
    const keys = () => page.$$eval("#functions tbody tr", (rows) => rows.map((row) => row.dataset.key));
    const values = { calls: (f) => f.calls, self: (f) => f.self, share: (f) => f.share, total: (f) => f.total, mean: (f) => f.mean, max: (f) => f.max, function: (f) => f.name };
    const heads = await page.locator("#functions th").allTextContents();
    assert.ok(heads.length > Object.keys(values).length);
    for (const head of heads) {
        const button = page.locator("#functions th button", { hasText: new RegExp(`^${head}$`) });
        const sorted = [];
        for (let n = 0; n < 2; ++n) {
            await button.click();
            const marks = await page.$$eval("#functions th[aria-sort]", (all) => all.map((th) => [th.textContent, th.getAttribute("aria-sort"), getComputedStyle(th.firstChild, "::after").content]));
            assert.equal(marks.length, 1);
            assert.equal(marks[0][0], head);
            sorted.push(marks[0][1]);
            assert.ok(marks[0][2].startsWith(marks[0][1] === "ascending" ? '"▴"' : '"▾"'), marks[0][2]);
            const cells = await page.$$eval("#functions tbody tr", (rows, at) => rows.map((row) => row.cells[at].textContent), heads.indexOf(head));
            if (/^(mean|p50|p99|max)$/.test(head)) {
                const unknown = cells.map((cell, at) => [cell, at]).filter(([cell]) => cell === "–").map(([, at]) => at);
                assert.ok(unknown.length >= 3 && unknown[0] === cells.length - unknown.length, `${head}: ${unknown}`);
            }
            if (!values[head]) continue;
            const shown = (await keys()).map((key) => values[head](of.get(key))).filter((value) => value !== null);
            const expected = [...shown].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
            assert.deepEqual(shown, marks[0][1] === "ascending" ? expected : expected.reverse(), head);
        }
        assert.deepEqual(sorted, head === "function" ? ["ascending", "descending"] : ["descending", "ascending"], head);
    }
    const link = await addressOf(page);
    const before = await functions();
    await page.goto("about:blank");
    await page.goto(link);
    assert.deepEqual(await functions(), before, "by the link");

    await open("#view=calls&fn=luaV_execute");
    for (const [section, head, at] of [["last", "calls", 0], ["last", "function", 2], ["first", "calls", 0]]) {
        const table = page.locator(`#calls .sides section:${section}-child`);
        const cells = async () => (await table.locator(`tbody td:nth-child(${at + 1})`).allTextContents())
            .map((cell) => (head === "calls" ? Number(cell.replaceAll(",", "")) : cell));
        await table.locator("th button", { hasText: head }).click();
        const once = await cells();
        await table.locator("th button", { hasText: head }).click();
        const rising = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
        assert.deepEqual(once, [...once].sort(head === "calls" ? (a, b) => rising(b, a) : rising), head);
        const twice = await cells();
        assert.deepEqual(twice, [...once].sort(head === "calls" ? rising : (a, b) => rising(b, a)), head);
        assert.ok(once.length > 1 || section === "first");
    }
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
    assert.match(await addressOf(page), /view=calls/);
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
