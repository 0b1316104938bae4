// SPDX-License-Identifier: Apache-2.0
// The page by keyboard, and for everybody: axe-core finds nothing serious on any tab, and the colours
// of a flame graph can be read and told apart.
//
//     node --test access_test.mjs, with NOPSCOPE, CHROMIUM, and what web_test.py makes
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { addressOf, eachTestHasAPage, nopscope, until } from "./browser.mjs";

const { NOPSCOPE_DEMO, NOPSCOPE_IMAGE, NOPSCOPE_TASKS } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const directory = eachTestHasAPage("access", (made) => (page = made));
const [demo, tasks, viewer, compared] = ["demo", "tasks", "viewer", "compared"].map((name) => join(directory, `${name}.html`));
const hot = "luaV_execute";
let graph;
let view;
let page;

before(async () => {
    nopscope("html", NOPSCOPE_DEMO, "-o", demo, "--image", NOPSCOPE_IMAGE);
    nopscope("html", NOPSCOPE_TASKS, "-o", tasks);
    nopscope("html", "--viewer", "-o", viewer);
    nopscope("diff", NOPSCOPE_TASKS, NOPSCOPE_TASKS, "--html", compared);
    graph = JSON.parse(nopscope("graph", NOPSCOPE_DEMO, "--format", "json"));
    view = JSON.parse(readFileSync(demo, "utf8").match(/id="data">(.*?)<\/script>/s)[1]);
});

async function open(fragment = "", file = demo) {
    await page.goto("about:blank");
    await page.goto(`file://${file}${fragment}`);
    await page.waitForTimeout(150);
}
async function press(...keys) {
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForTimeout(50);
}
// Presses Tab until `selector` has the focus.
async function tabTo(selector) {
    for (let n = 0; n < 30; ++n) {
        if (await page.evaluate((selector) => document.activeElement.matches(selector), selector)) return;
        await press("Tab");
    }
    assert.fail(`Tab does not lead to ${selector}`);
}
const chosenTab = () => page.$eval('[role="tab"][aria-selected="true"]', (tab) => [tab.textContent, tab === document.activeElement, tab.tabIndex]);

// A function with few instructions, since axe-core looks at each.
const short = () => view.functions[view.code.functions.filter((of) => of.slot).reduce((a, b) => (b.shown < a.shown ? b : a)).function].name;
const tabs = () => [
    [demo, "view=flame&search=lua"], [demo, "view=timeline&core=0&time=1000..9000000"], [demo, "view=events"], [demo, "view=functions&search=luaH_&under=luaV_execute"], [demo, `view=calls&fn=${encodeURIComponent(short())}`],
    [tasks, "view=tasks"], [demo, "view=samples"], [demo, "view=recording"], [viewer, "view=flame"], [compared, "view=timeline"], [compared, "view=functions"],
];
for (const [scheme, width] of [["light", 1400], ["dark", 800]]) {
    test(`axe-core finds nothing serious, ${scheme}, ${width} pixels wide`, async () => {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 900 });
        for (const [file, fragment] of tabs()) {
            await open(`#${fragment}`, file);
            if (file === demo || file === tasks) await until(page, () => document.body.dataset.engine === "ready" && document.getElementById("selected").textContent !== "…"); // its buttons are there
            assert.ok((await page.innerText("main")).length > 0 || /flame|samples/.test(fragment), fragment);
            if (fragment.includes("search")) await page.click("#next");
            await page.evaluate(axe);
            const found = await page.evaluate(async () => (await globalThis.axe.run({ resultTypes: ["violations"] })).violations
                .filter(({ impact }) => impact === "serious" || impact === "critical")
                .map(({ id, nodes }) => `${id}, ${nodes.length} times: ${nodes[0].html} ${nodes[0].failureSummary}`));
            assert.deepEqual(found, [], fragment);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, fragment);
        }
        await page.keyboard.press("?");
        assert.deepEqual(await page.evaluate(async () => (await globalThis.axe.run("#keys")).violations.map(({ id }) => id)), []);
    });
}

// The current frame: its name, and whether its border and the sentences about it are there.
const current = () => page.$eval("#flame", (host) => {
    const tree = host.querySelector('[role="tree"]');
    const frame = document.getElementById(tree.getAttribute("aria-activedescendant"));
    return {
        name: frame.getAttribute("name"),
        level: Number(frame.getAttribute("aria-level")),
        place: `${frame.getAttribute("aria-posinset")} of ${frame.getAttribute("aria-setsize")}`,
        x: frame.getBoundingClientRect().x,
        width: Number(frame.getAttribute("width")),
        role: frame.getAttribute("role"),
        border: getComputedStyle(frame.querySelector("rect")).strokeWidth,
        shown: document.getElementById("details").textContent,
        announced: document.querySelector("#announced[role=status]").textContent,
    };
});
const children = (parent) => graph.nodes.filter((node) => node.parent === parent && node.address !== null);

test("the flame graph by keyboard: arrows, Enter, Backspace, Esc", async () => {
    await open();
    await tabTo('#flame [role="tree"]');
    const root = await current();
    assert.deepEqual([root.name, root.level, root.role], ["all", 1, "treeitem"]);
    assert.ok(children(null).length > 0);
    await press("ArrowDown");
    const top = await current();
    assert.equal(top.name, children(null)[0].name, "the widest child");
    assert.equal(top.level, 2);
    assert.equal(top.border, "3px");
    assert.match(top.shown, new RegExp(`^${top.name} — [0-9.]+ .*%, [0-9,]+ calls$`));
    assert.equal(top.announced, top.shown);
    const { nodes } = await (await page.context().newCDPSession(page)).send("Accessibility.getFullAXTree");
    assert.deepEqual(nodes.filter(({ role }) => role?.value === "treeitem").map(({ name }) => name.value), [top.name], "as a screen reader gets it");
    // Down to a frame with others beside it.
    let inner = top;
    let other;
    for (let n = 0; n < 20 && !other; ++n) {
        await press("ArrowDown");
        inner = await current();
        await press("ArrowRight");
        const right = await current();
        if (right.x > inner.x) other = right;
    }
    assert.ok(other, "no frame has another beside it");
    assert.equal(other.level, inner.level);
    assert.match(inner.place, /^1 of ([2-9]|\d\d)/);
    assert.match(other.place, /^2 of /);
    await press("ArrowLeft");
    assert.deepEqual(await current(), inner);
    await press("ArrowUp");
    assert.equal((await current()).level, inner.level - 1);
    await press("ArrowDown", "Enter");
    const zoomed = await current();
    assert.equal(zoomed.name, inner.name);
    assert.ok(Math.abs(zoomed.width - root.width) < 1, `${zoomed.width} of ${root.width}`);
    assert.match(await addressOf(page), /zoom=/);
    await press("Backspace");
    assert.ok((await current()).width < root.width);
    assert.match(await addressOf(page), /zoom=/, "Backspace zooms out by one frame");
    await press("Enter", "Escape");
    assert.doesNotMatch(await addressOf(page), /zoom=/);
    assert.equal((await current()).width, inner.width);
    await press("c");
    assert.match(await addressOf(page), /view=calls/);
    assert.ok((await page.textContent("#calls h2")).startsWith(inner.name));
    assert.equal(await page.evaluate(() => document.activeElement.id), "calls");
});

test("where it grows upwards, up leads to a child", async () => {
    await open("#down=up");
    await page.focus('#flame [role="tree"]');
    await press("ArrowUp");
    assert.equal((await current()).level, 2);
    await press("ArrowDown");
    assert.equal((await current()).level, 1);
});

test("tabs: one in the order of Tab, the others by arrows, Home and End", async () => {
    await open("#view=timeline");
    await tabTo('[role="tab"]');
    assert.deepEqual(await chosenTab(), ["Timeline", true, 0]);
    const steps = [["ArrowRight", "Events"], ["End", "Recording"], ["ArrowRight", "Flame graph"], ["ArrowLeft", "Recording"], ["Home", "Flame graph"], ["ArrowRight", "Timeline"]];
    for (const [key, name] of steps) {
        await press(key);
        assert.deepEqual(await chosenTab(), [name, true, 0], key);
        assert.equal(await page.locator('[role="tab"][tabindex="0"]').count(), 1);
        const panel = page.locator(`#${await page.$eval('[role="tab"][aria-selected="true"]', (tab) => tab.getAttribute("aria-controls"))}`);
        assert.equal(await panel.getAttribute("role"), "tabpanel");
        assert.ok(await panel.isVisible());
    }
    assert.doesNotMatch(await addressOf(page), /range=/, "the timeline did not take the arrows");
    await press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
});

test("? lists the keys, and Esc gives the focus back", async () => {
    await open("#view=functions&search=lua");
    await tabTo("#functions tbody button");
    const before = await page.evaluate(() => document.activeElement.textContent);
    await press("?");
    assert.ok(await page.$eval("#keys", (dialog) => dialog.matches("dialog:modal")));
    const keys = await page.locator("#keys dt").allTextContents();
    for (const key of ["?", "/", "F3, Shift+F3", "Backspace", "Enter, Shift+Enter", "w s, + -"]) assert.ok(keys.includes(key), key);
    await press("/"); // a key does nothing behind the dialog
    assert.notEqual(await page.evaluate(() => document.activeElement.id), "search");
    await press("Escape");
    assert.equal(await page.locator("#keys").isVisible(), false);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), before);
    assert.match(await addressOf(page), /search=lua/, "Esc has closed the dialog only");
    await press("ArrowDown", "ArrowDown", "ArrowUp", "Enter");
    const second = await page.textContent("#functions tbody tr:nth-child(2) .name button");
    assert.ok((await page.textContent("#calls h2")).startsWith(second));
    await page.click("#help");
    assert.ok(await page.isVisible("#keys"));
});

// Each frame's name, hue and contrast with its text.
const painted = () => page.$$eval("#flame g.frame", (frames) => {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const ground = getComputedStyle(document.body).backgroundColor;
    const pixel = (...layers) => {
        for (const [colour, opacity] of layers) [context.fillStyle, context.globalAlpha] = [colour, opacity], context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (pixel) => pixel.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0.05);
    return frames.map((frame) => {
        const [rect, label] = [frame.querySelector("rect"), frame.querySelector("foreignObject div")].map((part) => getComputedStyle(part));
        const [under, text] = [light(pixel([ground, 1], [rect.fill, Number(rect.fillOpacity)])), light(pixel([label.color, 1]))];
        return {
            name: frame.getAttribute("name"),
            hue: Number(/oklch\([\d.]+ [\d.]+ ([\d.]+)/.exec(frame.querySelector("rect").getAttribute("fill"))?.[1] ?? NaN),
            contrast: Math.max(under, text) / Math.min(under, text),
            found: frame.querySelector("rect").getAttribute("fill") === "var(--found)",
            faded: frame.matches(".fade"),
            border: (rect.stroke === ground || rect.stroke === label.color) && parseFloat(rect.strokeWidth) >= 1,
        };
    });
});

test("a frame's text is readable, hues are of the whole circle, by file or by name", async () => {
    const alone = view.functions.filter(({ name }, _, all) => all.filter((other) => other.name === name).length === 1);
    const fileOf = new Map(alone.map(({ name, file }) => [name, file]));
    for (const scheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: scheme });
        const path = []; // to a call in a found function: the frames around it are faded
        for (let at = graph.nodes.find(({ parent }) => graph.nodes[parent]?.name === hot); at; at = graph.nodes[at.parent]) path.unshift(at.name);
        await open(`#search=luaV&zoom=${path.join(";")}`);
        const frames = await painted();
        assert.ok(frames.some(({ found, faded }) => found && faded));
        for (const { name, contrast, border } of frames) {
            assert.ok(contrast >= 4.5, `${name}, ${scheme}: ${contrast}`);
            assert.ok(border, `${name}, ${scheme}: no border`);
        }
    }
    await open();
    const byFile = (await painted()).filter(({ name, hue }) => fileOf.get(name) && !Number.isNaN(hue));
    const hues = new Map(byFile.map(({ name, hue }) => [fileOf.get(name), hue]));
    assert.ok(hues.size > 3);
    for (const { name, hue } of byFile) assert.equal(hue, hues.get(fileOf.get(name)), name);
    await page.selectOption("#colour", "name");
    const byName = (await painted()).filter(({ hue }) => !Number.isNaN(hue));
    assert.ok(byName.some(({ name, hue }) => fileOf.get(name) && hue !== hues.get(fileOf.get(name))));
    for (let begin = 0; begin < 360; begin += 60) assert.ok(byName.some(({ hue }) => hue >= begin && hue < begin + 60), `no hue from ${begin}`);
    const link = await addressOf(page);
    await open(new URL(link).hash);
    assert.equal(await page.inputValue("#colour"), "name");
    assert.deepEqual((await painted()).map(({ hue }) => hue).filter(Number.isFinite).sort(), byName.map(({ hue }) => hue).sort());
});
