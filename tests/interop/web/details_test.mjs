// SPDX-License-Identifier: Apache-2.0
// The page's timeline, and a function's source and instructions, in headless Chromium.
//
//     node --test details_test.mjs, with PART (timeline or code), NOPSCOPE, CHROMIUM, OBJDUMP, and what web_test.py makes
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { directory, jsonOf, nopscope, numberOf, open as openUrl, page, rowsOf, run, settled, suite, text } from "./browser.mjs";

const { PART, OBJDUMP, NOPSCOPE_IMAGE, NOPSCOPE_SOURCE } = process.env;
const [timelines, codes] = ["timeline", "code"].map((part) => (part === PART ? test : () => {}));
const pages = {};

const dataOf = (file) => JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(readFileSync(file, "utf8"))[1]);
// Returns a page whose data `change` has modified.
function changed(file, name, change) {
    const data = dataOf(file);
    change(data);
    const other = join(directory, `${name}.html`);
    const [before, rest] = readFileSync(file, "utf8").split('id="data">');
    writeFileSync(other, `${before}id="data">${JSON.stringify(data).replaceAll("<", "\\u003c")}${rest.slice(rest.indexOf("</script>"))}`);
    return other;
}

suite("details", () => {
    for (const name of ["demo", "tasks", "gaps", "hostile", ...(PART === "timeline" ? ["kernel"] : [])]) {
        const options = name === "demo" ? ["--image", NOPSCOPE_IMAGE, "--source-root", NOPSCOPE_SOURCE] : [];
        pages[name] = join(directory, `${name}.html`);
        nopscope("html", process.env[`NOPSCOPE_${name.toUpperCase()}`], "-o", pages[name], ...options);
    }
});

const open = (file, fragment = "") => openUrl(`${file}${fragment}`);
const openCode = (name, file = pages.demo) => open(file, `#view=calls&fn=${encodeURIComponent(name)}`);
const tip = async () => ((await page.isVisible("#timeline .tip")) ? page.locator("#timeline .tip div").allTextContents() : []);
const rangeOf = () => {
    const found = /range=(-?\d+)-(-?\d+)/.exec(decodeURIComponent(page.url()));
    return found ? [Number(found[1]), Number(found[2])] : null;
};
// Returns the calls of a row with absolute times.
function callsOf(row) {
    let at = 0;
    return row.from.map((step, i) => ({ from: (at += step), duration: row.duration[i], fn: row.function[i] }));
}
// Returns a time's position on the canvas, with all of `data` shown, in a row of the first track.
async function place(data, time, depth, range = [0, data.duration]) {
    const box = await page.locator("#timeline canvas").boundingBox();
    return [box.x + ((time - range[0]) / (range[1] - range[0])) * box.width, box.y + 26 + 22 + depth * 18 + 9];
}
async function drag([x, y], [to, at]) {
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(to, at, { steps: 4 });
    await page.mouse.up();
    await settled();
}
async function press(key) {
    await page.keyboard.press(key);
    await settled();
    return rangeOf();
}
const allCalls = (view) => view.timeline.tracks[0].rows.flatMap((row, depth) => callsOf(row).map((one) => ({ ...one, depth })));
const coloursOf = () =>
    page.$eval("#timeline canvas", (canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const counts = {};
        for (let i = 0; i < data.length; i += 4) counts[data.slice(i, i + 3).join()] = (counts[data.slice(i, i + 3).join()] ?? 0) + 1;
        return counts;
    });

timelines("the timeline has calls where they were, and says what they are", async () => {
    const view = dataOf(pages.tasks);
    await open(pages.tasks, "#view=timeline");
    assert.ok(Object.keys(await coloursOf()).length > 10);
    const report = jsonOf("report", process.env.NOPSCOPE_TASKS);
    assert.equal(view.timeline.calls, report.functions.reduce((sum, of) => sum + of.calls, 0));
    assert.equal(view.timeline.drawn, view.timeline.calls);
    assert.match(await text("#timeline"), /All calls are here/);
    for (const call of allCalls(view)) {
        if (call.duration < view.timeline.duration / 100 || call.fn < 0) continue;
        await page.mouse.move(...(await place(view.timeline, call.from + call.duration / 2, call.depth)));
        const said = await tip();
        assert.equal(said[0], view.functions[call.fn].name);
        assert.ok(said[1].includes("core 0"), said[1]);
    }
});

timelines("wheel, keys and a drag along the axis change the range, and the link restores it", async () => {
    const { timeline } = dataOf(pages.demo);
    await open(pages.demo, "#view=timeline");
    assert.equal(rangeOf(), null);
    const middle = timeline.duration / 2;
    await page.mouse.move(...(await place(timeline, middle, 3)));
    for (let n = 0; n < 4; ++n) await page.mouse.wheel(0, -240);
    await page.waitForTimeout(500);
    const wheeled = rangeOf();
    assert.ok(wheeled[1] - wheeled[0] < timeline.duration / 2, `${wheeled}`);
    assert.ok(wheeled[0] < middle && middle < wheeled[1]);
    const panned = await press("d");
    assert.ok(panned[0] > wheeled[0]);
    assert.ok(Math.abs(panned[1] - panned[0] - (wheeled[1] - wheeled[0])) < 10);
    const keyed = await press("w");
    assert.ok(keyed[1] - keyed[0] < (panned[1] - panned[0]) * 0.8);
    const box = await page.locator("#timeline canvas").boundingBox();
    await drag([box.x + box.width * 0.25, box.y + 10], [box.x + box.width * 0.75, box.y + 10]);
    const dragged = rangeOf();
    assert.ok(Math.abs((dragged[1] - dragged[0]) / (keyed[1] - keyed[0]) - 0.5) < 0.02, `${dragged} of ${keyed}`);
    await drag([box.x + box.width * 0.5, box.y + 100], [box.x + box.width * 0.25, box.y + 100]);
    const moved = rangeOf();
    assert.ok(moved[0] > dragged[0] && /view=timeline/.test(page.url()), `${moved}: a drag is no click`);
    const shown = async () => [await text("#timeline .where"), await page.$eval("#timeline canvas", (canvas) => canvas.toDataURL())];
    const before = await shown();
    await open(page.url());
    assert.deepEqual(await shown(), before);
    assert.equal(await press("0"), null);
});

timelines("a click goes to the function, and search marks its calls", async () => {
    const view = dataOf(pages.demo);
    await open(pages.demo, "#view=timeline");
    const [depth, call] = view.timeline.tracks[0].rows
        .map((row, at) => [at, callsOf(row).filter((one) => one.fn >= 0).reduce((a, b) => (b.duration > a.duration ? b : a), { duration: 0 })])
        .reduce((a, b) => (b[1].duration < a[1].duration || b[1].duration < view.timeline.duration / 50 ? a : b));
    const { name } = view.functions[call.fn];
    const found = "217,75,217"; // --found
    assert.equal((await coloursOf())[found] ?? 0, 0);
    await page.fill("#search", name.toUpperCase());
    await settled();
    const wide = (call.duration / view.timeline.duration) * 1300 * 10;
    assert.ok(((await coloursOf())[found] ?? 0) > wide / 2);
    await page.mouse.click(...(await place(view.timeline, call.from + call.duration / 2, depth)));
    await settled();
    assert.match(page.url(), /view=calls/);
    assert.ok((await text("#calls h2")).startsWith(name));
});

timelines("what is missing is shown where it is missing", async () => {
    const { timeline } = dataOf(pages.gaps);
    const report = jsonOf("report", process.env.NOPSCOPE_GAPS);
    assert.equal(timeline.bands.kind.filter((kind) => kind === "gap").length, report.gaps_list.length);
    const widest = timeline.bands.to.map((to, i) => to - timeline.bands.from[i]).reduce((a, b, i, all) => (b > all[a] ? i : a), 0);
    const lost = Math.max(...report.gaps_list.map((part) => part.lost));
    await open(pages.gaps, "#view=timeline");
    const inside = (timeline.bands.from[widest] + timeline.bands.to[widest]) / 2;
    await page.mouse.move(...(await place(timeline, inside, 5)));
    assert.ok((await tip())[0].includes(`${lost.toLocaleString("en-US")} records lost`), `${await tip()}`);
    const pixel = () => page.$eval("#timeline canvas", (canvas, share) => {
        const x = Math.round(canvas.width * share);
        return [...canvas.getContext("2d").getImageData(x - 1, 100, 3, 100).data];
    }, inside / timeline.duration);
    const red = (data) => data.filter((value, i) => i % 4 === 0 && value > data[i + 1] + 12).length;
    assert.ok(red(await pixel()) > 290, `${red(await pixel())} red`);
    await open(changed(pages.gaps, "no-gaps", (view) => Object.values(view.timeline.bands).forEach((list) => list.splice(0))), "#view=timeline");
    assert.equal(red(await pixel()), 0);
    assert.match(await text("#timeline"), /nopscope export --format perfetto has all/);
});

timelines("interrupts are calls of a colour of their own", async () => {
    const view = dataOf(pages.demo);
    const of = new Set(view.timeline.interrupts);
    assert.ok(of.size > 0 && [...of].every((fn) => view.functions[fn].name.startsWith("(interrupt ")));
    const call = allCalls(view).filter((one) => of.has(one.fn)).reduce((a, b) => (b.duration > a.duration ? b : a));
    await open(pages.demo, `#view=timeline&range=${call.from}-${call.from + call.duration}`);
    await page.$eval("#timeline .scroll", (scroll, top) => (scroll.scrollTop = top), call.depth * 18);
    await settled();
    const scrolled = await page.$eval("#timeline .scroll", (scroll) => scroll.scrollTop);
    const [x, y] = await place(view.timeline, call.from + call.duration * 0.7, call.depth, [call.from, call.from + call.duration]);
    await page.mouse.move(x, y - scrolled);
    assert.equal((await tip())[0], view.functions[call.fn].name);
    const box = await page.locator("#timeline canvas").boundingBox();
    const there = await page.$eval("#timeline canvas", (canvas, [x, y]) => [...canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)], [x - box.x, y - scrolled - box.y].map(Math.round));
    assert.deepEqual(there, [10, 91, 211]); // --accent
    await page.keyboard.press("0");
    await settled();
    assert.deepEqual(await tip(), [], "another range, the same place");
});

timelines("what is dropped, and kinds that are not known, are bands on a core", async () => {
    const other = changed(pages.tasks, "bands", (view) => {
        const { bands, duration } = view.timeline;
        for (const [i, kind] of ["dropped", "something"].entries()) {
            const row = { core: 0, kind, from: duration * (0.25 + i / 2), to: duration * (0.3 + i / 2), what: `${kind} <b>here</b>` };
            for (const [key, value] of Object.entries(row)) bands[key].push(value);
        }
    });
    const { timeline } = dataOf(other);
    await open(other, "#view=timeline");
    for (const [share, kind] of [[0.27, "dropped"], [0.77, "something"]]) {
        const [x, y] = await place(timeline, timeline.duration * share, 0);
        await page.mouse.move(x, y - 12);
        assert.equal((await tip())[0], `${kind} <b>here</b>`);
    }
});

timelines("a link shows its range, and any other words do no harm", async () => {
    for (const [range, shown] of [["1000000-3000000", /^2\.00 ms from 1\.000 ms/], ["nonsense", /calls drawn/],
        ["999999999999-9999999999999", /calls drawn/]]) {
        await open(pages.demo, `#view=timeline&range=${range}`);
        assert.match(await text("#timeline .where"), shown);
    }
});

// Both disassemblers write the same mnemonics, except for these. Disassembler.* and Code.* (unit tests) have operands.
const mnemonic = (said) => said.toLowerCase().split(/\s/)[0].replace("b.hs", "b.cs").replace("b.lo", "b.cc");

codes("a function's instructions are the image's", async () => {
    const view = dataOf(pages.demo);
    assert.ok(view.code.functions.length > 10);
    let compared = 0;
    for (const code of view.code.functions.slice(0, 12)) {
        const begin = Number(code.address);
        const lines = run(OBJDUMP, "-d", "--no-show-raw-insn", "-z", `--start-address=${begin}`, `--stop-address=${begin + 4 * code.shown}`, NOPSCOPE_IMAGE)
            .split("\n").map((line) => /^\s*[0-9a-f]+:\s+(.*)$/.exec(line)?.[1]).filter(Boolean);
        assert.deepEqual(code.text.split("\n").map(mnemonic), lines.map(mnemonic), view.functions[code.function].name);
        compared += lines.length;
        await openCode(view.functions[code.function].name);
        const shown = await page.$$eval("#calls .code > div:not(.line)", (rows) => rows.map((row) => [row.children[0].textContent, row.children[1].textContent]));
        if (code.slot) assert.deepEqual(shown.shift(), ["-8", ".quad"]);
        assert.deepEqual(shown, code.text.split("\n").map((said, i) => [`+${(4 * i).toString(16)}`, said.replace("\t", " ") + (said.includes("\t") ? "" : " ")]));
    }
    assert.ok(compared > 1000, `${compared} instructions`);
});

codes("nopscope's own instructions are said to be, and a call leads to the function", async () => {
    const view = dataOf(pages.demo);
    const code = view.code.functions.find((one) => one.slot && one.targets.function.some((fn) => fn >= 0 && fn !== one.function) && one.targets.function.includes(one.function));
    await openCode(view.functions[code.function].name);
    const own = await page.locator("#calls .code .own").allTextContents();
    assert.equal(own.length, 3);
    assert.match(own[0], /^-8\.quad.*nopscope's/);
    assert.match(own[1], /nop .*mov x9, x30/);
    assert.match(own[2], /nop .*bl to a recorder/);
    const inside = code.targets.function.findIndex((fn, i) => fn === code.function && code.targets.offset[i] > 0);
    const behind = `+${code.targets.offset[inside].toString(16)}`;
    await page.locator("#calls .code .target", { hasText: new RegExp(`^\\${behind}$`) }).first().click();
    assert.equal(await page.locator("#calls .code .reached .offset").textContent(), behind);
    const at = code.targets.function.findIndex((fn) => fn >= 0 && fn !== code.function);
    const { name } = view.functions[code.targets.function[at]];
    await page.locator("#calls .code .target", { hasText: name }).first().click();
    assert.ok((await text("#calls h2")).startsWith(name));
});

codes("source lines are DWARF's, and a callee is at the lines of its calls", async () => {
    const view = dataOf(pages.demo);
    const of = view.code.functions.find((one) => one.lines.file.length > 1 && /^(hal|tracer|firmware)\//.test(view.code.files[one.lines.file[0]]));
    const { name } = view.functions[of.function];
    await openCode(name);
    const lines = await page.$$eval("#calls .code .line", (rows) => rows.map((row) => [row.title, row.lastChild.textContent]));
    assert.ok(lines.length > 1);
    for (const [where, said] of lines) {
        const [, file, line] = /^(.*):(\d+)$/.exec(where);
        assert.equal(said, readFileSync(resolve(NOPSCOPE_SOURCE, file), "utf8").split("\n")[line - 1]);
    }
    // If a source file is missing, the page shows line numbers and the reason.
    await openCode("luaV_execute");
    assert.match(await text("#calls"), /lua\/src\/lvm\.c is not shown: No such file or directory/);
    const code = view.code.functions.find((one) => view.functions[one.function].name === "luaV_execute");
    const instructions = code.text.split("\n");
    const expected = new Map();
    code.targets.at.forEach((at, i) => {
        if (!instructions[at].startsWith("bl\t") || code.targets.function[i] < 0) return;
        const row = code.lines.at.filter((one) => one <= at).length - 1;
        const callee = view.functions[code.targets.function[i]].name;
        expected.set(callee, (expected.get(callee) ?? new Set()).add(code.lines.line[row]));
    });
    const shown = await page.$$eval("#calls section:last-child tbody td.name", (cells) => cells.map((cell) => [cell.firstChild.textContent, cell.querySelector(".place")?.textContent ?? ""]));
    const said = shown.filter(([, where]) => where);
    assert.ok(said.length > 5);
    for (const [callee, where] of shown) {
        const numbers = [...where.matchAll(/(?:lvm\.c:|, )(\d+)/g)].map((one) => Number(one[1]));
        const most = [...(expected.get(callee) ?? [])].sort((a, b) => a - b).slice(0, 8);
        assert.deepEqual(numbers, most, `${callee}: ${where}`);
    }
});

codes("without an image, or without source, the page says how to have them", async () => {
    await openCode("alpha_step", pages.tasks);
    assert.match(await text("#calls"), /With --image ELF/);
    const bare = join(directory, "bare.html");
    nopscope("html", process.env.NOPSCOPE_DEMO, "-o", bare, "--image", NOPSCOPE_IMAGE, "--no-source");
    assert.equal(dataOf(bare).code.source, null);
    await openCode("luaV_execute", bare);
    assert.match(await text("#calls"), /--no-source/);
    assert.ok((await page.locator("#calls .code .line").count()) > 100);
});

codes("names, files, source and instructions are text, whatever they say", async () => {
    await open(pages.hostile, "#view=timeline");
    const box = await page.locator("#timeline canvas").boundingBox();
    for (let x = 10; x < box.width; x += 97) {
        await page.mouse.move(box.x + x, box.y + 130);
        assert.equal(await page.locator("#timeline b, #timeline img").count(), 0);
    }
    const hostile = "<img src=x onerror=console.error(1)>\"';</script>";
    const other = changed(pages.demo, "hostile-code", (view) => {
        const code = view.code.functions[0];
        view.functions[code.function].name = hostile;
        view.code.files = view.code.files.map(() => `/${hostile}.c`);
        view.code.source.refused = { file: view.code.files.map((_, i) => i), why: view.code.files.map(() => hostile) };
        view.code.source.lines = { file: code.lines.file, line: code.lines.line, text: code.lines.line.map(() => hostile) };
        code.text = code.text.split("\n").map(() => `${hostile}\t${hostile}`).join("\n");
        code.targets = { at: [0, 1], function: [-1, code.function], offset: [0, 4], name: [hostile, ""], call: [true, false] };
        code.notes = [[0, hostile]];
    });
    await openCode(hostile, other);
    assert.equal(await page.locator("img").count(), 0);
    for (const part of [".code .text", ".code .where", ".code .note", "p.empty"]) {
        assert.ok((await page.locator(`#calls ${part}`).allTextContents()).some((said) => said.includes("<img src=x")), part);
    }
});

timelines("the tasks are those of `nopscope tasks`, and sort and filter", async () => {
    const { tasks } = jsonOf("tasks", process.env.NOPSCOPE_KERNEL);
    assert.ok(tasks.some((task) => task.name === "worker" && task.tasks === 10));
    await open(pages.kernel);
    await page.getByRole("tab", { name: "Tasks" }).click();
    const rows = async () => (await rowsOf("#tasks")).map((row) => [row.at(-1), numberOf(row[2])]);
    assert.deepEqual(await rows(), tasks.map((task) => [task.name, task.runs]));
    await page.getByRole("button", { name: "runs", exact: true }).click();
    assert.deepEqual((await rows()).map(([, runs]) => runs), tasks.map((task) => task.runs).sort((a, b) => b - a));
    await page.fill("#search", "WORK");
    assert.deepEqual((await rows()).map(([name]) => name), ["worker"]);
    assert.match(await text("#tasks"), /waited \d+ times|longest behind/);
    assert.match(await text("#tasks"), /core 0: [0-9.]+ % idle of/);
    await open(pages.demo);
    assert.equal(await page.locator("#tab-tasks").isVisible(), false);
});
