// SPDX-License-Identifier: Apache-2.0
// The list of all calls is what `nopscope export --format csv` says, in the order of begins, and so
// are the calls that the page finds: next, previous, first, longest and shortest of a function.
//
//     node --test events_test.mjs, with NOPSCOPE, CHROMIUM, and what web_test.py makes
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { addressOf, cellsOf, drawn, eachTestHasAPage, firstEvent, nopscope, until as untilOn } from "./browser.mjs";

const directory = eachTestHasAPage("events", (made) => (page = made));
const recordings = {
    demo: { file: process.env.NOPSCOPE_DEMO, options: ["--cut-tracer"] }, // a core: the page's axis, too
    cores: { file: process.env.NOPSCOPE_CORES, options: [] },
    gaps: { file: process.env.NOPSCOPE_GAPS, options: ["--cut-tracer"] },
    hostile: { file: process.env.NOPSCOPE_HOSTILE, options: ["--cut-tracer"] },
};
let page;

const endings = { returned: "", gap: "a gap follows: it may have gone on", unwound: "left by longjmp or an exception", open: "not over yet at the end" };
// The rows that the page must have.
function expected({ file, options }, tracks) {
    const at = new Map();
    tracks.forEach(({ core, context }, number) => [`${core} ${context}`, context].forEach((key) => at.has(key) || at.set(key, number)));
    const calls = [];
    const lines = [...cellsOf(nopscope("export", "--format", "csv", ...options, file, "-o", "-"))];
    for (const [kind, core, context, depth, from, to, , , how, name] of lines) {
        if (kind !== "call") continue;
        const track = at.get(`${core} ${context}`) ?? at.get(Number(context));
        calls.push({ from: Number(from), duration: Number(to) - Number(from), track, depth: Number(depth), name, ended: endings[how] });
    }
    const begin = firstEvent(lines);
    for (const call of calls) call.from -= begin;
    return calls.sort((a, b) => a.from - b.from || a.track - b.track || a.depth - b.depth);
}

before(() => {
    for (const [name, of] of Object.entries(recordings)) {
        of.page = join(directory, `${name}.html`);
        nopscope("html", of.file, "-o", of.page);
        of.view = JSON.parse(readFileSync(of.page, "utf8").match(/id="data">(.*?)<\/script>/s)[1]);
        of.calls = expected(of, of.view.timeline.tracks);
        of.tracks = of.view.timeline.tracks.map((track) => track.name);
    }
});

async function open(of, fragment) {
    await page.goto("about:blank");
    await page.goto(`file://${of.page}#${fragment}`);
    await untilOn(page, () => document.body.dataset.engine === "ready");
}
const escaped = (name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const settled = () => untilOn(page, () => document.querySelector("#events tbody tr") && !document.getElementById("events").dataset.waits);
const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
    await settled();
};
const ns = (said) => {
    const [, number, unit] = /^(-?[\d.]+) (ns|µs|ms|s)$/.exec(said);
    return Math.round(Number(number) * { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 }[unit]);
};
// The rows on the screen, each with its place in the list.
async function shown() {
    await settled();
    const rows = await page.$$eval("#events tbody tr", (list) => list.map((row) => [Number(row.getAttribute("aria-rowindex")), ...[...row.cells].map((cell) => cell.textContent)]));
    return rows.map(([index, from, duration, track, depth, name, ended]) => ({ place: index - 2, from: ns(from), duration: ns(duration), track, depth: Number(depth), name, ended }));
}
// Compares the rows on the screen with those of csv. Returns the first row's place.
async function same(of, calls = of.calls) {
    const rows = await shown();
    assert.ok(rows.length > 10, `${rows.length} rows`);
    const first = rows[0].place;
    // The page's names are as a terminal may have them.
    const names = new Set(of.view.functions.map(({ name }) => name));
    for (const [at, row] of rows.entries()) {
        const { name, track, ...call } = calls[first + at];
        assert.deepEqual(row, { ...call, place: first + at, track: of.tracks[track], name: of === recordings.hostile ? row.name : name }, `row ${first + at}`);
        if (of === recordings.hostile) assert.ok(names.has(row.name), row.name);
    }
    return { first, rows: rows.length };
}
const length = () => page.$eval("#events table", (table) => Number(table.getAttribute("aria-rowcount")) - 1);
// A browser tells of a scroll in its next frame.
const nextFrame = () => page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
async function scrollTo(share) {
    await page.$eval("#events .scroll", (scroll, share) => (scroll.scrollTop = share * (scroll.scrollHeight - scroll.clientHeight)), share);
    await nextFrame();
}

for (const name of ["demo", "cores", "gaps", "hostile"]) {
    test(`the list is csv's calls in the order of their begins: ${name}`, async () => {
        const of = recordings[name];
        await open(of, "view=events");
        assert.equal((await same(of)).first, 0);
        assert.equal(await length(), of.calls.length);
        assert.match(await page.textContent("#events .tools"), new RegExp(`${of.calls.length.toLocaleString("en-US")} calls · 1 to`));
        for (const share of [0.001, 0.37, 0.5, 0.93]) {
            await scrollTo(share);
            const { first } = await same(of);
            assert.ok(Math.abs(first - share * of.calls.length) < 0.01 * of.calls.length + 60, `${share}: ${first}`);
        }
        await page.focus("#events table");
        await press("End");
        const end = await same(of);
        assert.equal(end.first + end.rows, of.calls.length);
    });
}

test("recordings have what the lists are for", () => {
    const { demo, cores, gaps } = recordings;
    assert.ok(demo.calls.length * 24 > 2_000_000, "the scroll bar stands for a share of the list");
    assert.ok(gaps.calls.length * 24 < 2_000_000);
    assert.ok(new Set(cores.view.timeline.tracks.map(({ core }) => core)).size > 1);
    assert.ok(new Set(cores.calls.map(({ track }) => track)).size > 4, "several tasks");
    assert.ok(gaps.calls.some(({ ended }) => ended === endings.gap));
});

test("by keyboard: rows, pages, ends, the call in the timeline, its function", async () => {
    const of = recordings.demo;
    await open(of, "view=events");
    await settled();
    await page.focus("#events table");
    const current = () => page.$eval("#events table", (table) => {
        const row = document.getElementById(table.getAttribute("aria-activedescendant"));
        return [Number(row.getAttribute("aria-rowindex")) - 2, row.getAttribute("aria-selected"), [...row.parentNode.children].filter((one) => one.ariaSelected).length];
    });
    const rows = (await shown()).length;
    const last = of.calls.length - 1;
    for (const [key, place] of [["ArrowUp", 0], ["ArrowDown", 1], ["ArrowDown", 2], ["ArrowUp", 1], ["PageDown", rows], ["PageDown", 2 * rows - 1], ["PageUp", rows], ["End", last], ["ArrowDown", last], ["ArrowUp", last - 1], ["PageUp", last - rows], ["Home", 0]]) {
        await press(key);
        assert.deepEqual(await current(), [place, "true", 1], key);
        await same(of);
    }
    await press("PageDown", "ArrowDown");
    // When the browser tells of the scroll, the list is hidden.
    const place = await page.$eval("#events table", (table) => {
        table.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown" }));
        const at = Number(document.getElementById("current-call").getAttribute("aria-rowindex")) - 2;
        table.dispatchEvent(new KeyboardEvent("keydown", { key: "c" }));
        return at;
    });
    await nextFrame();
    assert.match(await page.evaluate(() => location.hash), /view=calls/);
    assert.ok((await page.textContent("#calls h2")).startsWith(of.calls[place].name));
    await page.goBack();
    await settled();
    assert.deepEqual(await current(), [place, "true", 1], "the list is where it was");
    await page.focus("#events table");
    await page.keyboard.press("Enter");
    await drawn(page);
    const { from, duration, name } = of.calls[place];
    const [begin, end] = /range=(\d+)-(\d+)/.exec(await addressOf(page)).slice(1).map(Number);
    assert.ok(begin <= from && from + duration <= end && end - begin <= 3 * duration + 200, `${begin} to ${end}, not around ${from}`);
    assert.match(await page.textContent("#timeline .tools"), new RegExp(`${escaped(name)}: `));
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "CANVAS");
});

test("a wheel moves by rows, also where the scroll bar is coarse", async () => {
    const of = recordings.demo;
    await open(of, "view=events");
    await settled();
    await page.hover("#events tbody tr");
    await page.mouse.wheel(0, 24 * 7);
    await untilOn(page, () => document.querySelector("#events tbody tr").getAttribute("aria-rowindex") === String(7 + 2));
    await page.mouse.wheel(0, -24 * 3);
    await untilOn(page, () => document.querySelector("#events tbody tr").getAttribute("aria-rowindex") === String(4 + 2));
    assert.equal((await same(of)).first, 4);
});

test("a selected range, and a search, list their calls", async () => {
    for (const of of [recordings.demo, recordings.cores]) {
        const { origin } = of.view.timeline;
        const end = of.calls.at(-1).from;
        const [from, to] = [Math.floor(end * 0.4), Math.floor(end * 0.5)];
        await open(of, `view=events&time=${from - origin}..${to - origin}`);
        const inside = of.calls.filter((call) => call.from >= from && call.from < to);
        assert.ok(inside.length > 50);
        await same(of, inside);
        assert.equal(await length(), inside.length);
        const name = inside[Math.floor(inside.length / 2)].name;
        await page.fill("#search", `/^${escaped(name)}$/`);
        const named = inside.filter((call) => call.name === name);
        await untilOn(page, (count) => Number(document.querySelector("#events table").getAttribute("aria-rowcount")) === count + 1, named.length);
        const rows = await shown();
        assert.deepEqual(rows.map((row) => row.from), named.slice(0, rows.length).map((call) => call.from));
    }
    await page.fill("#search", "no function has this name");
    await untilOn(page, () => /No call is/.test(document.querySelector("#events p").textContent));
});

test("a selected core, and a selected task, list their calls", async () => {
    const of = recordings.cores;
    const { tracks } = of.view.timeline;
    const selected = async (condition, isOn) => {
        await open(of, `view=events&${condition}`);
        await untilOn(page, () => !document.getElementById("selected").textContent.includes("…"));
        const inside = of.calls.filter(({ track }) => isOn(tracks[track]));
        assert.ok(inside.length > 50 && inside.length < of.calls.length, `${condition}: ${inside.length}`);
        await same(of, inside);
        assert.equal(await length(), inside.length, condition);
        return inside;
    };
    await selected("core=1", ({ core }) => core === 1);
    // By name, on all cores: those of csv with the same option.
    const named = tracks.map(({ name }) => /^([a-z]+) \d+$/.exec(name)?.[1]).find((name) => name);
    const some = await selected(`task=${named}`, ({ name }) => name.startsWith(`${named} `) && !name.includes("("));
    const csv = [...cellsOf(nopscope("export", "--format", "csv", "--task", named, of.file, "-o", "-"))];
    assert.equal(some.filter(({ name }) => !name.startsWith("(")).length, csv.filter(([kind, , , , , , , , , name]) => kind === "call" && !name.startsWith("(")).length);
    // In each run the cores have other tasks.
    const counts = tracks.map((_, number) => of.calls.filter(({ track }) => track === number).length);
    const busy = tracks[counts.indexOf(Math.max(...counts))];
    const inside = await selected(`task=${busy.context}&core=${busy.core}`, ({ core, context }) => core === busy.core && context === busy.context);
    // From the table of functions, too.
    const count = (name) => inside.filter((call) => call.name === name).length;
    const isListed = new Set(of.view.functions.map(({ name }) => name));
    const { name } = inside.filter(({ ended, name }) => ended === "" && isListed.has(name)).reduce((a, b) => (count(b.name) > count(a.name) ? b : a));
    await page.click("#tab-functions");
    await page.locator("#functions tr", { has: page.locator(".name button", { hasText: new RegExp(`^${escaped(name)}$`) }) }).locator("button.link").click();
    const calls = inside.filter((call) => call.name === name);
    const longest = calls.filter(({ ended }) => ended === "" || ended === endings.unwound).reduce((best, call) => (call.duration > best.duration ? call : best));
    await isShown(longest, calls.indexOf(longest), calls.length);
});

const said = () => page.textContent("#timeline .tools [role=status]");
const number = (n) => n.toLocaleString("en-US");
// Waits for the call that the timeline says it shows.
async function isShown({ name, from, duration }, place, all) {
    const start = `${name}: call ${number(place + 1)} of ${number(all)}, `;
    await untilOn(page, (start) => document.querySelector("#timeline .tools [role=status]").textContent.startsWith(start), start);
    const [, took, at] = /, ([\d.]+ \S+) at ([\d.]+ \S+)$/.exec(await said());
    assert.deepEqual([ns(took), ns(at)], [duration, from]);
    await drawn(page);
}
// A function with some hundred calls, not all of one length.
function chosenFunction(of) {
    const lists = new Map(of.view.functions.map(({ name }) => [name, []]));
    for (const call of of.calls) lists.get(call.name)?.push(call);
    const alone = of.view.functions.filter(({ name }, _, all) => all.filter((other) => other.name === name).length === 1).map(({ name }) => name);
    const name = alone.find((name) => lists.get(name).length > 30 && new Set(lists.get(name).map(({ duration }) => duration)).size > 5);
    return { name, calls: lists.get(name) };
}

for (const name of ["demo", "cores", "gaps"]) {
    test(`from a function to its first, next, previous, longest and shortest call: ${name}`, async () => {
        const of = recordings[name];
        const { name: fn, calls } = chosenFunction(of);
        await open(of, `view=calls&fn=${encodeURIComponent(fn)}`);
        const button = (what) => page.getByRole("button", { name: `${what} call` }).click();
        await button("First");
        await isShown(calls[0], 0, calls.length);
        // No two steps lead to calls that look the same.
        const looks = ({ from, track, depth, duration }) => `${from} ${track} ${depth} ${duration}`;
        const steps = calls.map((call, place) => ({ call, place })).filter(({ call, place }) => place === 0 || looks(call) !== looks(calls[place - 1])).slice(0, 8);
        for (const { call, place } of steps.slice(1)) {
            await page.keyboard.press("n");
            await isShown(call, place, calls.length);
        }
        for (const { call, place } of steps.slice(0, -1).reverse()) {
            await page.keyboard.press("p");
            await isShown(call, place, calls.length);
        }
        await page.keyboard.press("p");
        await untilOn(page, () => /there is no previous call$/.test(document.querySelector("#timeline .tools [role=status]").textContent));
        const timed = calls.filter(({ ended }) => ended === "" || ended === endings.unwound);
        const extreme = (better) => timed.reduce((best, call) => (better(call.duration, best.duration) ? call : best));
        for (const [what, call] of [["Longest", extreme((a, b) => a > b)], ["Shortest", extreme((a, b) => a < b)]]) {
            await page.goBack();
            await page.locator("#tab-calls").click();
            await button(what);
            await isShown(call, calls.indexOf(call), calls.length);
        }
        // In a part: of those that lie in it.
        const [from, to] = [calls[5].from, calls.at(-3).from];
        const { origin } = of.view.timeline;
        await open(of, `view=calls&fn=${encodeURIComponent(fn)}&time=${from - origin}..${to - origin}`);
        await untilOn(page, () => !document.getElementById("selected").textContent.includes("…"));
        const inside = calls.filter((call) => call.from >= from && call.from < to);
        const longest = inside.filter((call) => timed.includes(call) && call.from + call.duration <= to).reduce((best, call) => (call.duration > best.duration ? call : best));
        await button("Longest");
        await isShown(longest, inside.indexOf(longest), inside.length);
    });
}

test("from the largest duration in the table of functions to its call", async () => {
    const of = recordings.demo;
    const { name, calls } = chosenFunction(of);
    await open(of, "view=functions");
    await page.locator("#functions tr", { has: page.locator(".name button", { hasText: new RegExp(`^${escaped(name)}$`) }) }).locator("button.link").click();
    const longest = calls.filter(({ ended }) => ended === "" || ended === endings.unwound).reduce((best, call) => (call.duration > best.duration ? call : best));
    await isShown(longest, calls.indexOf(longest), calls.length);
});

test("the call under the pointer chooses the function of n and p", async () => {
    const of = recordings.demo;
    const long = of.calls.filter(({ depth, ended }) => depth === 0 && ended === "").reduce((best, call) => (call.duration > best.duration ? call : best));
    await open(of, `view=timeline&range=${long.from}-${long.from + long.duration}`);
    await drawn(page);
    const track = page.locator("#timeline canvas");
    await track.hover({ position: { x: 400, y: 26 + 22 + 9 } }); // below the axis and the track's name
    assert.match(await page.textContent("#timeline .tip"), new RegExp(`^${escaped(long.name)}`));
    const all = of.calls.filter(({ name }) => name === long.name);
    await page.keyboard.press("n");
    const next = all[all.indexOf(long) + 1];
    if (next) await isShown(next, all.indexOf(next), all.length);
    else await untilOn(page, () => /there is no next call$/.test(document.querySelector("#timeline .tools [role=status]").textContent));
});

test("without memory for all calls the list begins behind those of which only sums are left", async () => {
    const of = recordings.demo;
    const little = join(directory, "little.html");
    writeFileSync(little, readFileSync(of.page, "utf8").replace(/"memory":\d+/, '"memory":44000000'));
    await open({ page: little }, "view=events");
    const rows = await shown();
    const [, sums] = /^The list begins at .*: the page's memory has only sums of ([\d,]+) older calls\./.exec(await page.textContent("#events p"));
    const listed = await length();
    assert.ok(Number(sums.replaceAll(",", "")) > of.calls.length / 2 && listed > 1000, `${sums}, ${listed}`);
    const kept = of.calls.slice(-listed);
    assert.deepEqual(rows.map((row) => [row.from, row.duration, row.name]), kept.slice(0, rows.length).map((call) => [call.from, call.duration, call.name]));
});

test("without the recording there is no list", async () => {
    const small = join(directory, "small.html");
    nopscope("html", recordings.demo.file, "-o", small, "--no-recording");
    await page.goto(`file://${small}#view=functions`);
    assert.equal(await page.locator("#tab-events").isVisible(), false);
    assert.equal(await page.locator("#functions button.link").count(), 0);
    await page.goto("about:blank");
    await page.goto(`file://${small}#view=events`);
    assert.match(await page.textContent("#events p"), /has no recording/);
});
