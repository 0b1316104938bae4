// SPDX-License-Identifier: Apache-2.0
// The page that `diff --html` writes, in headless Chromium: a differential flame graph, what changed in
// functions, and both timelines.
//
//     node --test diff_test.mjs, with NOPSCOPE, NOPSCOPE_REPORT_BENCH and CHROMIUM
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { nopscope, openPage, until } from "./browser.mjs";

let written;
let page;

// One call of main with these calls inside: [function, ns].
function recording(name, calls) {
    let now = 1000;
    const inside = calls.flatMap(([fn, length]) => [[0, fn, now], [1, fn, (now += length)]]);
    const names = "1 8 main\n2 10 slower\n3 18 faster\n4 20 same\n5 28 fresh\n6 30 gone\n";
    return written.record(name, [[0, 1, 1000], ...inside, [1, 1, now + 1000]], names);
}

before(async () => {
    written = await openPage("diff");
    page = written.page;
    const old = recording("old", [[2, 10_000], [3, 30_000], [4, 20_000], [6, 5_000]]);
    const now = recording("now", [[2, 30_000], [3, 20_000], [4, 20_000], [5, 10_000]]);
    nopscope("diff", old, now, "--html", written.file);
    await page.goto(`file://${written.file}`);
    await page.waitForTimeout(300);
});
after(() => written?.close());

// By name: [red, green, blue] and the width.
const frames = () =>
    page.$$eval("#flame g.frame", (all) => Object.fromEntries(all.map((g) => {
        const rect = g.querySelector("rect");
        return [g.getAttribute("name"), [...getComputedStyle(rect).fill.match(/\d+/g).slice(0, 3).map(Number), Number(rect.getAttribute("width"))]];
    })));

async function saysOf(name) {
    await page.hover(`#flame g.frame[name="${name}"]`);
    return page.textContent("#details");
}

test("red is slower, blue is faster, grey is the same; frames are as wide as they are now", async () => {
    const of = await frames();
    const [red, , blue] = of.slower;
    assert.ok(red > blue + 60, `slower: ${of.slower}`);
    assert.ok(of.faster[2] > of.faster[0] + 30, `faster: ${of.faster}`);
    assert.ok(Math.max(...of.same.slice(0, 3)) - Math.min(...of.same.slice(0, 3)) <= 2, `same: ${of.same}`);
    assert.ok(of.fresh[0] > of.fresh[2] + 20, `fresh: ${of.fresh}`);
    assert.ok(of.slower[1] < of.fresh[1], "what has changed most has the strongest colour");
    assert.equal(of.gone, undefined);
    assert.ok(Math.abs(of.slower[3] / of.faster[3] - 1.5) < 0.02);
});

test("a frame says what it was before", async () => {
    assert.match(await saysOf("slower"), /^slower — 30.*before 10.*\(\+200/);
    assert.match(await saysOf("faster"), /before 30.*\(-33/);
    assert.match(await saysOf("fresh"), /\(new\)/);
});

test("inverted, too, and what has gone is in the facts", async () => {
    await page.click("#order");
    await page.waitForTimeout(300);
    const of = await frames();
    assert.ok(of.slower[0] > of.slower[2] + 60 && of.faster[2] > of.faster[0] + 30);
});

// The table of functions, as text, by name.
const functions = () => page.$$eval("#functions tbody tr", (rows) => rows.map((row) => [
    row.querySelector(".name button").textContent, ...[...row.cells].map((cell) => cell.textContent),
]));

test("the table has what changed, what is new and what has gone, the largest change first", async () => {
    await page.click("#tab-functions");
    const heads = await page.$$eval("#functions th", (cells) => cells.map((cell) => cell.textContent.trim()));
    assert.ok(heads.includes("change") && heads.includes("before") && !heads.includes("p"), heads);
    const rows = await functions();
    const at = (head) => heads.findIndex((text) => text.startsWith(head));
    const change = (name) => {
        const row = rows.find((row) => row.includes(name));
        return [row[1 + at("before") - (at("before") > at("function") ? 1 : 0)], row[1 + at("change") - (at("change") > at("function") ? 1 : 0)]];
    };
    assert.equal(rows[0][0], "slower");
    assert.deepEqual(change("slower"), ["10.0 µs", "+20.0 µs (+200.0 %)"]);
    assert.deepEqual(change("faster"), ["30.0 µs", "–10.0 µs (–33.3 %)"]);
    assert.deepEqual(change("fresh"), ["–", "+10.0 µs"]);
    assert.deepEqual(change("gone"), ["5.00 µs", "–5.00 µs (–100.0 %)"]);
    assert.deepEqual(rows.map(([name]) => name), ["slower", "faster", "fresh", "gone", "main", "same"]);
    const notes = await page.$$eval("#functions tbody tr", (rows) => rows.map((row) => row.querySelector(".notes")?.textContent ?? ""));
    assert.deepEqual(notes, ["slower", "faster", "new", "gone", "", ""]);
});

// Each side has 9,000 calls of two functions. On one side `work` is in two pieces.
function many(name, fns) {
    const events = [[0, 1, 1000]];
    for (let n = 0; n < 9000; ++n) events.push(...fns.flatMap((fn, at) => [[0, fn, 1000 + 3000 * n + 1000 * at], [1, fn, 2000 + 3000 * n + 1000 * at]]));
    return written.record(name, [...events, [1, 1, 1000 + 3000 * 9000]], "1 8 main\n2 10 other\n3 18 work\n4 20 work.part.0\n5 28 late\n");
}
const sections = () => page.locator("#timeline > section");
const where = async (side) => (await sections().nth(side).locator(".where").first().textContent()).split(" · ")[0];
async function tip(side, share, depth) {
    const box = await sections().nth(side).locator("canvas").boundingBox();
    await page.mouse.move(box.x + 3, box.y + 3);
    await page.mouse.move(box.x + share * box.width, box.y + 26 + 22 + 18 * (depth + 0.5));
    const tip = sections().nth(side).locator(".tip");
    return (await tip.isVisible()) ? tip.locator("div").allTextContents() : [];
}
async function openTimelines(fragment) {
    await page.goto("about:blank");
    await page.goto(`file://${written.file}#${fragment}`);
    await until(page, () => [...document.querySelectorAll("#timeline > section")].length === 2
        && [...document.querySelectorAll("#timeline > section")].every((side) => /All [\d,]+ calls/.test(side.textContent) && !side.querySelector("canvas").dataset.waits));
}

test("both timelines have every call, and functions have the same names and colours", async () => {
    const [before, after] = [many("many-before", [2, 3]), many("many-after", [4, 3, 5])];
    nopscope("diff", before, after, "--html", written.file);
    await openTimelines("view=timeline&range=3000000-3006000&rangebefore=3000000-3006000");
    assert.deepEqual(await page.locator("#timeline h2").allTextContents(), ["Before: many-before.nsc", "After: many-after.nsc"]);
    assert.match(await sections().nth(0).textContent(), /All 18,001 calls are in this page/);
    assert.match(await sections().nth(1).textContent(), /All 27,001 calls are in this page/);
    const names = async (side) => {
        const list = [];
        for (const share of [1, 3, 5, 7, 9, 11]) list.push((await tip(side, share / 12, 1))[0] ?? "");
        return list;
    };
    assert.deepEqual(await names(0), ["other", "work", "", "other", "work", ""]);
    assert.deepEqual(await names(1), ["work", "work", "late", "work", "work", "late"], "pieces have their function's name");
    const colour = (side, share) => sections().nth(side).locator("canvas").evaluate((canvas, [share, y]) =>
        [...canvas.getContext("2d").getImageData(Math.round(share * canvas.width) + 3, y, 1, 1).data], [share, 26 + 22 + 18 + 3]);
    assert.deepEqual(await colour(0, 3 / 12), await colour(1, 3 / 12));
    assert.notDeepEqual(await colour(0, 1 / 12), await colour(1, 1 / 12));
});

test("keys move the timeline under the pointer, and the link has both ranges", async () => {
    await openTimelines("view=timeline");
    const [before, after] = [await where(0), await where(1)];
    await tip(1, 0.5, 0);
    await page.keyboard.press("w");
    assert.equal(await where(0), before);
    assert.notEqual(await where(1), after);
    await tip(0, 0.5, 0);
    for (const key of ["w", "w"]) await page.keyboard.press(key);
    assert.notEqual(await where(0), before);
    const hash = await page.evaluate(() => location.hash);
    assert.match(hash, /range=\d+-\d+/);
    assert.match(hash, /rangebefore=\d+-\d+/);
    const moved = [await where(0), await where(1)];
    await openTimelines(hash.slice(1));
    assert.deepEqual([await where(0), await where(1)], moved);
    await page.keyboard.press("Escape");
    assert.deepEqual([await where(0), await where(1)], [before, after]);
});

test("a page that compares selects nothing, and opens no other recording", async () => {
    await openTimelines("view=timeline&core=0");
    assert.match(await page.textContent("#selection"), /A page that compares selects nothing/);
    assert.deepEqual(await page.locator("#timeline button:enabled:visible", { hasText: /Select|core/ }).allTextContents(), []);
    assert.equal(await page.isVisible("#tab-events"), false);
    assert.equal(await page.isVisible("#open"), false);
});

test("without recordings, and of a part, the timelines have the longest calls", async () => {
    const [before, after] = [many("many-before", [2, 3]), many("many-after", [4, 3, 5])];
    for (const option of [["--no-recording"], ["--core", "0"]]) {
        nopscope("diff", before, after, "--html", written.file, ...option);
        await page.goto("about:blank");
        await page.goto(`file://${written.file}#view=timeline`);
        for (const side of [0, 1]) assert.match(await sections().nth(side).textContent(), /[\d,]+ of [\d,]+ calls are in this page: the longest/, option.join(" "));
    }
    assert.deepEqual(written.wrong, []);
});
