// SPDX-License-Identifier: Apache-2.0
// The timeline's charts have the values that `nopscope export --format csv` says: times with interrupts masked,
// counters, and events of the PMU in each call.
//
//     node --test charts_test.mjs, with NOPSCOPE, CHROMIUM, and in NOPSCOPE_RECORDINGS what
//     make_recordings.py makes
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { cellsOf, drawn, eachTestHasAPage, firstEvent, nopscope, until } from "./browser.mjs";

const directory = eachTestHasAPage("charts", (made) => (page = made));
const recordings = { captured: {}, counted: {}, "kernel-1": {}, kernel: {} };
let page;

const jsonOf = (html) => JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)[1]);

before(() => {
    for (const [name, of] of Object.entries(recordings)) {
        const file = join(process.env.NOPSCOPE_RECORDINGS, `${name}.nsc`);
        of.page = join(directory, `${name}.html`);
        nopscope("html", file, "-o", of.page);
        of.timeline = jsonOf(readFileSync(of.page, "utf8")).timeline;
        const cut = of.timeline.times.includes("cut out") ? ["--cut-tracer"] : [];
        const lines = [...cellsOf(nopscope("export", "--format", "csv", ...cut, file, "-o", "-"))];
        const begin = firstEvent(lines);
        of.records = lines.filter(([kind]) => ["masked", "counter", "events"].includes(kind)).map(([kind, core, , , from, to, , , how, name, , , , value]) => ({
            chart: { masked: `core ${core}: interrupts masked`, counter: `core ${core}: counter ${how}`, events: `core ${core}: ${how} each call` }[kind],
            kind, core, name, from: Number(from) - begin, value: kind === "masked" ? BigInt(to) - BigInt(from) : BigInt(value),
            what: how,
        }));
        of.charts = new Map(of.records.map(({ chart }) => [chart, of.records.filter((one) => one.chart === chart)]));
    }
});

async function open(file, fragment) {
    await page.goto("about:blank");
    await page.goto(`file://${file}#${new URLSearchParams({ view: "timeline", ...fragment })}`);
}
async function opened(of, fragment = {}) {
    await open(of.page, fragment);
    await drawn(page);
}
const number = (n) => n.toLocaleString("en-US");
const ns = (said) => {
    const [, amount, unit] = /(-?[\d.]+) (ns|µs|ms|s)(?:$|,| at)/.exec(said);
    return Math.round(Number(amount) * { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 }[unit]);
};
// Scrolls to a chart, from the last rows up. Returns where it begins in the canvas.
async function placeOf(chart) {
    await page.$eval("#timeline .scroll", async (scroll, start) => {
        for (let top = scroll.scrollHeight - scroll.clientHeight; ; top -= scroll.clientHeight / 2) {
            scroll.scrollTop = Math.max(0, top);
            await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
            const heads = [...document.querySelectorAll("#timeline .heads div")];
            const head = heads.find((one) => one.textContent.startsWith(start));
            if (head && parseFloat(head.style.top) >= 0 && parseFloat(head.style.top) + 70 <= scroll.clientHeight) return;
            if (top < 0) throw new Error(`no ${start}`);
        }
    }, `${chart}, `);
    const head = page.locator("#timeline .heads div").filter({ hasText: `${chart}, ` });
    return { head: await head.textContent(), y: await head.evaluate((div) => 26 + parseFloat(div.style.top) + 22), box: await page.locator("#timeline canvas").boundingBox() };
}
async function tipAt(chart, share, height = 9) {
    const { y, box } = await placeOf(chart);
    await page.mouse.move(box.x + share * box.width, box.y + y + height);
    return page.$eval("#timeline .tip", (tip) => (tip.hidden ? "" : [...tip.children].map((line) => line.textContent).join(" | ")));
}

test("recordings have what the charts are for", () => {
    const kinds = new Set(Object.values(recordings).flatMap(({ records }) => records.map(({ kind }) => kind)));
    assert.deepEqual([...kinds].sort(), ["counter", "events", "masked"]);
    assert.ok(new Set(recordings.kernel.records.map(({ core }) => core)).size > 1);
    for (const { timeline } of Object.values(recordings)) assert.doesNotMatch(timeline.left_out, /counter|masked|events/);
});

for (const name of ["captured", "counted", "kernel-1"]) {
    test(`heads and tips say what csv says: ${name}`, async () => {
        const of = recordings[name];
        assert.equal(of.timeline.charts.charts.length, of.charts.size);
        for (const [chart, records] of of.charts) {
            const { kind } = records[0];
            const values = records.map(({ value }) => value);
            const most = values.reduce((a, b) => (a > b ? a : b));
            const least = values.reduce((a, b) => (a < b ? a : b));
            const alone = records.filter(({ from }) => records.filter((other) => other.from === from).length === 1);
            assert.ok(alone.length > 0);
            for (const record of alone.filter((_, at) => at % Math.ceil(alone.length / 5) === 0)) {
                const length = kind === "masked" ? Number(record.value) : 0;
                const room = Math.max(40, length);
                const [from, to] = [Math.max(0, record.from - room), Math.min(of.timeline.duration, record.from + length + room)];
                await opened(of, { range: `${from}-${to}` });
                const { head } = await placeOf(chart);
                const limits = kind !== "masked" ? (least === most ? number(most) : `${number(least)} to ${number(most)}`) : `${records.length} new maxim${records.length === 1 ? "um" : "a"}, the longest `;
                assert.ok(head.startsWith(`${chart}, ${limits}`), `${head}, not ${limits}`);
                // A counter's value stays until the next.
                const at = Math.max(record.from, from) + (kind === "counter" ? 2 : length / 2);
                const tip = await tipAt(chart, (Math.min(at, to - 1) - from) / (to - from));
                const core = `core ${record.core}`;
                if (kind === "counter") assert.match(tip, new RegExp(`^counter ${record.what}: ${number(record.value)} \\| since `));
                if (kind === "events") assert.ok(tip.startsWith(`${record.what}: ${number(record.value)} in ${record.name} | at `) && tip.endsWith(`, ${core}`), tip);
                if (kind === "masked") {
                    assert.ok(tip.startsWith(`interrupts masked by ${record.name} | `) && tip.endsWith(`, ${core}`), tip);
                    assert.equal(ns(tip.split(" | ")[1]), length);
                }
                assert.equal(ns(tip.split(/ at | since /)[1]), record.from, tip);
            }
        }
    });
}

// The row of the canvas in which a column has the first pixel of the charts' colour.
const firstRow = (x, y) => page.$eval("#timeline canvas", (canvas, [x, y]) => {
    const { data } = canvas.getContext("2d").getImageData(x, y, 1, 36);
    const probe = document.createElement("canvas").getContext("2d");
    const style = document.createElement("span");
    style.style.color = "var(--accent)";
    document.body.append(style);
    probe.fillStyle = getComputedStyle(style).color;
    probe.fillRect(0, 0, 1, 1);
    const colour = probe.getImageData(0, 0, 1, 1).data;
    return [...Array(36).keys()].find((row) => [0, 1, 2].every((part) => data[4 * row + part] === colour[part]));
}, [x, y]);

for (const colorScheme of ["light", "dark"]) {
    test(`a counter's line is where its values are: ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        const of = recordings.captured;
        await opened(of);
        const [chart, records] = [...of.charts].find(([chart, records]) => records[0].kind === "counter" && records.length > 3);
        const { y, box } = await placeOf(chart);
        const values = records.map(({ value }) => Number(value));
        const [least, most] = [Math.min(...values), Math.max(...values)];
        assert.ok(most > least);
        for (const [at, { from, value }] of records.entries()) {
            const middle = (from + (records[at + 1]?.from ?? of.timeline.duration)) / 2;
            const row = await firstRow(Math.round((middle / of.timeline.duration) * box.width), y);
            assert.ok(Math.abs(row - (1 + 31 * (1 - (Number(value) - least) / (most - least)))) <= 1.5, `${value}: row ${row}`);
        }
    });
}

test("a core's charts are behind its tracks, and their heads select it", async () => {
    const of = recordings.kernel;
    await opened(of);
    const { head } = await placeOf("core 2: interrupts masked");
    assert.match(head, /^core 2: interrupts masked, /);
    const heads = await page.locator("#timeline .heads div").allTextContents();
    const at = heads.findIndex((one) => one.startsWith("core 2: "));
    if (at > 0) assert.match(heads[at - 1], /^core 2/);
    if (at + 1 < heads.length) assert.match(heads[at + 1], /^core 3/);
    await page.locator("#timeline .heads div").filter({ hasText: "core 2: interrupts masked" }).getByRole("button").click();
    await until(page, () => document.getElementById("conditions").textContent.includes("core 2"));
});

// Records of one slot are one point. A test of the engine has the values of such points.
test("joined records are said together", async () => {
    const file = join(directory, "joined.html");
    nopscope("html", "--no-recording", join(process.env.NOPSCOPE_RECORDINGS, "counted.nsc"), "-o", file);
    const html = readFileSync(file, "utf8");
    const view = jsonOf(html);
    const { duration } = view.timeline;
    const [from, length] = [Math.floor(duration * 0.4), Math.floor(duration * 0.2)];
    const chart = (kind, core, name, more) => ({ kind, core, name, least: 1, most: 2_000, records: 1_234, from: [from], last: [7], duration: [length], min: [5], max: [1_500], joined: [1_234], ...more });
    view.timeline.charts = { all: false, slot: length, names: ["f\u00e9"], charts: [
        chart("masked", 0, "interrupts masked", { function: [-100] }),
        chart("counter", null, "counter 3", { max: ["9007199254740993"] }),
        chart("events", 0, "inst_retired each call", { function: [0] }),
    ] };
    writeFileSync(file, html.replace(/id="data">.*?<\/script>/s, () => `id="data">${JSON.stringify(view)}</script>`));
    await open(file);
    const begin = /^at ([\d.]+ \S+)/;
    const said = async (chart, share) => {
        const lines = (await tipAt(chart, share)).split(" | ");
        if (begin.test(lines.at(-1))) assert.equal(ns(begin.exec(lines.pop().replace(/,.*/, ""))[1]), from);
        return lines;
    };
    assert.deepEqual(await said("core 0: interrupts masked", 0.5), ["interrupts masked 1,234 times here", "the longest 1.500 µs, by fé"]);
    assert.deepEqual(await said("counter 3", 0.5), ["counter 3: 5 to 9,007,199,254,740,993", "1,234 values here, the last 7"]);
    assert.equal((await said("counter 3", 0.8))[0], "counter 3: 7");
    assert.deepEqual(await said("counter 3", 0.2), [""]);
    const { name } = view.functions[0];
    assert.deepEqual(await said("core 0: inst_retired each call", 0.5), ["inst_retired: 5 to 1,500 in each of 1,234 calls here", `the most in ${name}`]);
});
