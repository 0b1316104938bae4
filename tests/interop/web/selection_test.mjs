// SPDX-License-Identifier: Apache-2.0
// A selection of the page, of any conditions, is what the command says of the same part. Every way to
// select leads to it. The timeline's minimap, the time at its pointer, and its ruler.
//
//     node --test selection_test.mjs, with NOPSCOPE, CHROMIUM, and in NOPSCOPE_RECORDINGS what
//     make_recordings.py makes
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { drawn, eachTestHasAPage, nopscope, until } from "./browser.mjs";

const recording = (name) => join(process.env.NOPSCOPE_RECORDINGS, `${name}.nsc`);
const directory = eachTestHasAPage("selection", (made) => (page = made));
const names = ["kernel", "kernel-1", "gaps", "tasks"];
const timelines = {};
let page;

before(() => {
    for (const name of names) {
        nopscope("html", recording(name), "-o", join(directory, `${name}.html`));
        const data = /id="data">(.*?)<\/script>/s.exec(readFileSync(join(directory, `${name}.html`), "utf8"))[1];
        timelines[name] = JSON.parse(data).timeline;
    }
});

const settled = () => until(page, () => document.body.dataset.engine === "ready" && document.getElementById("selected").textContent !== "…");
async function open(name, fragment = "") {
    await page.goto("about:blank");
    await page.goto(`file://${join(directory, `${name}.html`)}${fragment}`);
    await settled();
}
const link = (part, view) => `#${new URLSearchParams({ view, ...part })}`;
const fragment = () => page.evaluate(() => location.hash.slice(1));
const conditions = async () => Object.fromEntries([...new URLSearchParams(await fragment())].filter(([key]) => /^(time|core|task|under)$/.test(key)));
const buttons = () => page.locator("#conditions button").allTextContents();
const calls = () => page.evaluate(() => Number(document.body.dataset.calls));

// As the page shows it.
function time(ns) {
    if (ns === null) return "–";
    const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [0, "ns"]].find(([size]) => ns >= size * 0.9995);
    return size ? `${(ns / size).toPrecision(3)} ${unit}`.replace(/e\+\d+/, "") : `${ns} ns`;
}
function report(name, { time, core, task, under }) {
    const options = Object.entries({ time: time && time.split("..").map((at) => `${at}ns`).join(".."), core, task, under })
        .filter(([, value]) => value).flatMap(([key, value]) => [`--${key}`, value]);
    const { functions, interrupts } = JSON.parse(nopscope("report", recording(name), ...options, "--format", "json"));
    return [...functions, ...(interrupts ?? []).map((of) => ({ ...of, name: `(interrupt ${of.interrupt})` }))];
}
const expected = (functions) => functions.filter(({ calls }) => calls > 0).map((of) => [of.name, of.calls.toLocaleString("en-US"),
    (of.doubtful ? "~" : "") + time(of.corrected_self_ns), time(of.corrected_total_ns), time(of.corrected_mean_ns), time(of.corrected_max_ns)].join(" | ")).sort();
const shown = () => page.$$eval("#functions tbody tr", (rows) => rows.map(({ cells }) =>
    [cells[cells.length - 1].firstChild, cells[0], cells[1], cells[3], cells[4], cells[7]].map((cell) => cell.textContent).join(" | ")).sort());

// The page shows this part, with the numbers of the command.
async function isSelected(name, part) {
    await settled();
    assert.deepEqual(await conditions(), part);
    assert.equal((await buttons()).length, Object.keys(part).length);
    const said = report(name, part);
    assert.equal(await calls(), said.reduce((sum, { calls }) => sum + calls, 0), JSON.stringify(part));
    await page.click("#tab-functions");
    assert.deepEqual(await shown(), expected(said), JSON.stringify(part));
}

const parts = {
    kernel: () => {
        const third = `${Math.round(timelines.kernel.duration / 9)}..${Math.round(timelines.kernel.duration / 3)}`;
        return [{ core: "1" }, { core: "2", task: "0" }, { under: "kernel::take*" }, { time: third, core: "0", task: "idle" },
            { core: "1", task: "*o*er", under: "kernel::(anonymous namespace)::*" }, { time: third, core: "0", task: "consumer", under: "kernel::*" }];
    },
    gaps: () => {
        const { bands, duration } = timelines.gaps;
        assert.ok(bands.from.length > 0);
        const around = `${Math.round(bands.from[0] / 2)}..${Math.round((bands.to[bands.to.length - 1] + duration) / 2)}`; // calls before and behind gaps
        return [{ time: around }, { under: "luaV_execute" }, { time: around, core: "0", under: "luaH_*" }];
    },
};
for (const name of ["kernel", "gaps"]) {
    test(`a link to a part of ${name} shows what the command says of it`, async () => {
        await open(name);
        const all = await calls();
        for (const part of parts[name]()) {
            await open(name, link(part, "functions"));
            await isSelected(name, part);
            assert.ok(await calls() > 0 && await calls() < all, JSON.stringify(part));
        }
    });
}

test("each condition is a button that removes it, and one removes all", async () => {
    await open("kernel", link({ time: "1000000..900000000", core: "1", task: "worker", under: "kernel::*" }, "functions"));
    assert.deepEqual(await buttons(), ["1.0 ms to 900.0 ms ×", "core 1 ×", "task worker ×", "under kernel::* ×"]);
    await page.getByRole("button", { name: "Remove task worker" }).click();
    await isSelected("kernel", { time: "1000000..900000000", core: "1", under: "kernel::*" });
    await page.locator("#conditions button").first().focus();
    await page.keyboard.press("Enter");
    await isSelected("kernel", { core: "1", under: "kernel::*" });
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-functions"); // isSelected() has clicked it
    await page.locator("#conditions button").first().focus();
    await page.keyboard.press("Enter");
    assert.ok(await page.evaluate(() => document.activeElement.closest("#conditions")), "the next button has the focus");
    await page.locator("#unselect").click();
    await isSelected("kernel", {});
    assert.equal(await page.isVisible("#selection"), false);
    await page.goBack();
    await isSelected("kernel", { under: "kernel::*" });
    await page.keyboard.press("Escape");
    await isSelected("kernel", {});
});

test("what cannot be selected is said, and all calls are shown", async () => {
    await open("kernel");
    const all = await calls();
    for (const [part, why] of [[{ under: "no_such_function" }, /no_such_function/], [{ core: "77" }, /77/], [{ core: "x" }, /core/], [{ task: "nobody" }, /nobody/], [{ time: "9..3" }, /./]]) {
        await open("kernel", link(part, "functions"));
        assert.match(await page.textContent("#selected"), why);
        assert.match(await page.textContent("#selected"), /^[^:]*\S+ \S+ \S+.*/, "a sentence");
        assert.equal(await calls(), all);
        assert.equal((await buttons()).length, 1);
    }
});

// How many of the pixels right of the heads, in a stripe of the canvas, are of a strong colour.
const strong = (y) => page.$eval("#timeline canvas", (canvas, y) => {
    const { data } = canvas.getContext("2d").getImageData(300, y, canvas.width - 300, 18);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) count += Math.min(data[at], data[at + 1], data[at + 2]) < 200 ? 1 : 0;
    return count;
}, y);
// The middle of the first row of the track with this head, as y in the canvas.
const rowOf = (head) => page.locator("#timeline .heads div").filter({ hasText: head }).first().evaluate((div) => 26 + parseFloat(div.style.top) + 22);

test("a track's head selects its core or its task, by mouse and by keyboard, and others are dimmed", async () => {
    await open("kernel", "#view=timeline");
    await drawn(page);
    const row = await rowOf("urgent");
    const before = await strong(row);
    assert.ok(before > 1000, `${before}`);
    await page.locator("#timeline .heads").getByRole("button", { name: "core 0", exact: true }).first().click();
    await settled();
    await drawn(page);
    assert.equal(await strong(row), before, "the core's row is as before");
    await isSelected("kernel", { core: "0" });
    for (const part of [{ core: "1" }, { task: "idle" }]) {
        await open("kernel", link(part, "timeline"));
        await drawn(page);
        assert.ok(await strong(row) < before * 0.5, `others are dimmed: ${JSON.stringify(part)}`);
    }
    await open("kernel", link({ core: "0" }, "timeline"));
    await drawn(page);
    const head = page.locator("#timeline .heads").getByRole("button", { name: /^urgent \d+$/ }).first();
    const context = (await head.textContent()).split(" ")[1];
    await head.focus();
    await page.keyboard.press("Enter");
    await settled();
    assert.deepEqual(await buttons(), ["core 0 ×", `task urgent ${context} ×`]);
    await isSelected("kernel", { core: "0", task: context });
});

test("rows of the tables, a function's view, and the flame graph select", async () => {
    await open("kernel", "#view=tasks");
    const row = (name) => page.locator("#tasks tbody tr").filter({ has: page.locator(`button[aria-label="Select only what ${name} did"]`) });
    await row("consumer").getByRole("button").click();
    await isSelected("kernel", { task: "consumer" });
    await page.getByRole("button", { name: "Select only kernel::take(kernel::Queue&) and what it calls" }).click();
    assert.match(await fragment(), /view=functions/, "the row itself was not opened");
    await isSelected("kernel", { task: "consumer", under: "kernel::take(kernel::Queue&)" });
    await open("gaps", "#view=calls&fn=luaD_call");
    await page.getByRole("button", { name: "Select what it calls" }).click();
    await isSelected("gaps", { under: "luaD_call" });
    await open("gaps");
    assert.equal(await page.isVisible("#subtree"), false, "the root has no function");
    await page.focus('#flame [role="tree"]');
    for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
    const name = (await page.textContent("#details")).split(" — ")[0];
    assert.equal(await page.textContent("#subtree"), `Select what ${name} calls`);
    await page.keyboard.press("u");
    await isSelected("gaps", { under: name });
    await page.keyboard.press("Escape");
    await isSelected("gaps", {});
    await page.click("#tab-flame");
    await page.locator("#flame g.frame[name=luaV_execute]").first().click();
    await page.getByRole("button", { name: "Select what luaV_execute calls" }).click();
    assert.doesNotMatch(await fragment(), /zoom/);
    await isSelected("gaps", { under: "luaV_execute" });
});

test("what a search finds can be selected, in its own case", async () => {
    await open("gaps", "#view=functions");
    assert.equal(await page.isVisible("#select-found"), false);
    const select = async (said) => {
        await page.fill("#search", said);
        await page.click("#select-found");
    };
    await select("/^luaH/");
    assert.match(await page.textContent("#wrong"), /regular expression cannot be selected/);
    await select("no_such_name");
    assert.match(await page.textContent("#wrong"), /finds nothing/);
    await page.fill("#search", "");
    // Letters that some names have in upper, and others only in lower case.
    const names = await page.$$eval("#functions td.name", (cells) => cells.map((cell) => cell.firstChild.textContent));
    const mixed = names.flatMap((name) => [...name].map((_, at) => name.slice(at, at + 2).toLowerCase()))
        .find((part) => {
            const variants = new Set(names.flatMap((name) => [...name].map((_, at) => name.slice(at, at + 2)).filter((two) => two.toLowerCase() === part)));
            const all = names.filter((name) => name.toLowerCase().includes(part));
            return part.length === 2 && /^[a-z]+$/.test(part) && ![...variants].some((variant) => all.every((name) => name.includes(variant)));
        });
    await select(mixed);
    assert.match(await page.textContent("#wrong"), /upper from lower case: \S+ and \S+ need two patterns/, mixed);
    assert.deepEqual(await conditions(), {});
    await select("luah_GET");
    assert.equal(await page.textContent("#wrong"), "");
    await page.fill("#search", "");
    await isSelected("gaps", { under: "*luaH_get*" });
    await select("LUAh_*");
    await page.fill("#search", "");
    await isSelected("gaps", { under: "luaH_*" });
    await open("kernel", "#view=tasks");
    await select("WORK");
    await page.fill("#search", "");
    await isSelected("kernel", { task: "*work*" });
});

const range = async () => /range=(-?\d+)-(-?\d+)/.exec(await fragment())?.slice(1).map(Number) ?? null;
const box = (selector) => page.locator(selector).boundingBox();

test("the minimap shows the range, which it moves", async () => {
    const all = timelines.tasks.duration;
    const [from, to] = [Math.round(all * 0.4), Math.round(all * 0.6)];
    await open("tasks", `#view=timeline&range=${from}-${to}`);
    const [map, rectangle] = [await box("#timeline .minimap"), await box("#timeline .minimap .shown")];
    assert.ok(Math.abs((rectangle.x - map.x) / map.width - 0.4) < 0.01 && Math.abs(rectangle.width / map.width - 0.2) < 0.01, JSON.stringify([map, rectangle]));
    const drag = async (begin, end) => {
        await page.mouse.move(map.x + map.width * begin, map.y + 15);
        await page.mouse.down();
        await page.mouse.move(map.x + map.width * end, map.y + 20, { steps: 4 });
        await page.mouse.up();
    };
    await drag(0.45, 0.65);
    const moved = await range();
    assert.ok(Math.abs(moved[0] / all - 0.6) < 0.01 && Math.abs(moved[1] / all - 0.8) < 0.01, `${moved}`);
    assert.ok(Math.abs((await box("#timeline .minimap .shown")).x - map.x - map.width * 0.6) < 10);
    await page.mouse.click(map.x + map.width * 0.2, map.y + 20);
    const centred = await range();
    assert.ok(Math.abs(centred[0] / all - 0.1) < 0.01 && Math.abs(centred[1] / all - 0.3) < 0.01, `${centred}`);
    await drag(0.2, -0.5);
    assert.equal((await range())[0], 0);
    // Somewhere it is high and somewhere low.
    const heights = (await page.getAttribute("#timeline .minimap path", "d")).match(/V[\d.]+/g).map((said) => Number(said.slice(1)));
    assert.ok(Math.min(...heights) === 0 && new Set(heights).size > 3, `${new Set(heights).size} heights`);
    assert.equal(await page.getAttribute("#timeline .minimap", "aria-hidden"), "true");
});

test("the time at the pointer, and a ruler from A to B that x selects", async () => {
    assert.equal(timelines["kernel-1"].origin, 0); // of several cores another one's events may be before the first record
    await open("kernel-1", "#view=timeline&range=1000000-3000000");
    await drawn(page);
    const canvas = await box("#timeline canvas");
    const at = (share) => [canvas.x + canvas.width * share, canvas.y + 120];
    assert.equal(await page.isVisible("#timeline .cursor"), false);
    await page.mouse.move(...at(0.25));
    assert.match(await page.textContent("#timeline .cursor"), /^1\.5\d* ms$/);
    const line = await box("#timeline .cursor");
    assert.ok(Math.abs(line.x - at(0.25)[0]) < 2 && line.height > 100);
    const ruled = async () => {
        const said = /^A ([\d.]+) ms · B ([\d.]+) ms · (–?)([\d.]+) (ms|µs|ns), ([\d.]+) (Hz|kHz|MHz)$/.exec(await page.textContent("#timeline .ruled"));
        assert.ok(said, await page.textContent("#timeline .ruled"));
        const ns = (text, unit) => Math.round(Number(text) * { ns: 1, "µs": 1e3, ms: 1e6 }[unit]);
        return { a: ns(said[1], "ms"), b: ns(said[2], "ms"), sign: said[3], difference: ns(said[4], said[5]), rate: Number(said[6]) * { Hz: 1, kHz: 1e3, MHz: 1e6 }[said[7]] };
    };
    await page.keyboard.press("[");
    await page.mouse.move(...at(0.75));
    await page.keyboard.press("]");
    const ruler = await ruled();
    assert.ok(Math.abs(ruler.a - 1_500_000) < 4000 && Math.abs(ruler.b - 2_500_000) < 4000, JSON.stringify(ruler));
    assert.equal(ruler.difference, ruler.b - ruler.a);
    assert.equal(ruler.sign, "");
    assert.ok(Math.abs(ruler.rate / (1e9 / ruler.difference) - 1) < 0.01, JSON.stringify(ruler));
    await page.keyboard.press("x");
    await isSelected("kernel-1", { time: `${ruler.a}..${ruler.b}` });
    await page.click("#tab-timeline");
    assert.ok(await page.isVisible("#timeline .between"));
    await page.keyboard.press("w"); // the ruler stays where it is in time
    const [a, width] = [await box("#timeline .end >> nth=0"), canvas.width];
    const [from, to] = await range();
    assert.ok(Math.abs((a.x - canvas.x) / width - (ruler.a - from) / (to - from)) < 0.01);
    await page.keyboard.press("Escape");
    assert.equal(await page.textContent("#timeline .ruled"), "");
    assert.equal(await page.isVisible("#timeline .between"), false);
    await isSelected("kernel-1", {});
    await page.click("#tab-timeline");

    // Shift and drag measures, also backwards. It neither pans nor zooms, and is no click.
    await page.goto("about:blank");
    await open("kernel-1", "#view=timeline&range=1000000-3000000");
    await page.keyboard.down("Shift");
    await page.mouse.move(...at(0.8));
    await page.mouse.down();
    await page.mouse.move(...at(0.2), { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const back = await ruled();
    assert.ok(Math.abs(back.a - 2_600_000) < 4000 && Math.abs(back.b - 1_400_000) < 4000, JSON.stringify(back));
    assert.equal(back.sign, "–");
    assert.deepEqual(await range(), [1_000_000, 3_000_000]);
    assert.match(await fragment(), /view=timeline/);
    await page.getByRole("button", { name: "Select A to B" }).click();
    await isSelected("kernel-1", { time: `${back.b}..${back.a}` });
});

test("a keyboard alone sets the ruler in the middle", async () => {
    await open("tasks", "#view=timeline&range=100000-200000");
    await page.focus("#timeline canvas");
    await page.keyboard.press("[");
    await page.keyboard.press("d");
    await page.keyboard.press("]");
    assert.equal(await page.textContent("#timeline .ruled"), "A 150.000 µs · B 170.000 µs · 20.000 µs, 50.0 kHz");
});
