// SPDX-License-Identifier: Apache-2.0
// The page opens recordings that are dropped on it or chosen: one without a recording
// (`html --viewer`), and one that has another.
//
//     node --test viewer_test.mjs, with NOPSCOPE, NOPSCOPE_REPORT_BENCH, NOPSCOPE_CAPTURES and CHROMIUM
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, beforeEach, test } from "node:test";
import { addressOf, drawn, eachTestHasAPage, nopscope, record, until } from "./browser.mjs";

const { NOPSCOPE_CAPTURES } = process.env;
const directory = eachTestHasAPage("viewer", (made) => (page = made));
const path = (name) => join(directory, name);
let page;
let devtools;

// main calls function 2, `count` times for some hundred ns each, and function 3 in every fourth of them.
function calls(count) {
    const events = [[0, 1, 1000]];
    let now = 1000;
    let random = 1;
    const put = (type, fn) => {
        random ^= random << 13; // xorshift
        random ^= random >>> 17;
        random ^= random << 5;
        events.push([type, fn, (now += 100 + (random >>> 8) % 10_000)]);
    };
    for (let n = 0; n < count; ++n) {
        put(0, 2);
        if (n % 4 === 0) {
            put(0, 3);
            put(1, 3);
        }
        put(1, 2);
    }
    put(1, 1);
    return events;
}
const made = (name, count, inner) => record(directory, name, calls(count), `1 8 main\n2 10 ${inner}\n3 18 deepest\n`);

before(() => {
    made("first", 2000, "reader");
    made("second", 3000, "writer");
    made("long", 400_000, "writer");
    nopscope("html", "--viewer", "-o", path("viewer.html"));
    nopscope("html", path("first.nsc"), "-o", path("first.html"));
    nopscope("html", path("first.nsc"), "--no-recording", "-o", path("alone.html"));
});
beforeEach(async () => {
    devtools = await page.context().newCDPSession(page);
});

const open = (name, fragment = "") => page.goto(`file://${path(name)}${fragment}`);
// As a person does it: without the page's own handling the browser would go to the file.
async function drop(...files) {
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) await devtools.send("Input.dispatchDragEvent", { type, x: 300, y: 200, data });
}
const says = (pattern) => until(page, (pattern) => new RegExp(pattern).test(document.getElementById("reading").textContent), pattern);
const shows = async (name) => {
    await until(page, (name) => document.getElementById("title").textContent === name && document.body.dataset.engine === "ready", name);
    assert.equal(await page.textContent("#reading"), "");
};
const reported = (file, ...options) => new Map(JSON.parse(nopscope("report", file, ...options, "--format", "json")).functions.filter(({ calls }) => calls > 0).map(({ name, calls }) => [name, calls]));
const functions = async () => {
    await page.click("#tab-functions");
    return new Map(await page.$$eval("#functions tbody tr", (rows) => rows.map(({ cells }) => [cells[cells.length - 1].firstChild.textContent, Number(cells[0].textContent.replaceAll(",", ""))])));
};
const sorted = (map) => [...map].sort();
const isRecording = async (file, ...options) => assert.deepEqual(sorted(await functions()), sorted(reported(file, ...options)));

test("a page without a recording says what to do, and opens what is dropped on it", async () => {
    assert.ok(statSync(path("viewer.html")).size < 2_000_000);
    await open("viewer.html");
    assert.match(await page.innerText("#welcome"), /Drop a recording \(\.nsc\) here, or choose one/);
    for (const part of ["nav", "main", "footer", "#state"]) assert.equal(await page.isVisible(part), false, part);
    await drop(path("first.nsc"));
    await shows("first.nsc");
    assert.match(await page.title(), /^first\.nsc/);
    assert.equal(await page.isVisible("#welcome"), false);
    await isRecording(path("first.nsc"));
    // A part of it is what the command says of it.
    await page.click("#tab-timeline");
    await drawn(page);
    await page.goto(`${await addressOf(page)}&time=100000..200000`);
    await until(page, () => / part: /.test(document.getElementById("headline").textContent));
    await isRecording(path("first.nsc"), "--time", "100000ns..200000ns");
});

test("a link that was made for a recording shows its view once the recording is there", async () => {
    await open("viewer.html", "#view=functions&time=100000..200000");
    await drop(path("first.nsc"));
    await shows("first.nsc");
    await until(page, () => / part: /.test(document.getElementById("headline").textContent));
    await isRecording(path("first.nsc"), "--time", "100000ns..200000ns");
});

test("by keyboard: a button opens a file, and so does o", async () => {
    let chosen = "";
    page.on("filechooser", (chooser) => chooser.setFiles(chosen));
    await open("viewer.html");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "choose");
    const chooses = async (key, name) => {
        chosen = path(name);
        await page.keyboard.press(key);
        await shows(name);
    };
    await chooses("Enter", "first.nsc");
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-flame");
    await chooses("o", "second.nsc");
    await isRecording(path("second.nsc"));
    await page.click("#search");
    await page.keyboard.type("o");
    assert.equal(await page.inputValue("#search"), "o");
});

test("a page with a recording opens another one, and shows all of it", async () => {
    await open("first.html", "#view=timeline&range=1000-90000&search=reader&time=100000..200000");
    await until(page, () => / part: /.test(document.getElementById("headline").textContent));
    await page.keyboard.press("[");
    assert.match(await page.textContent("#timeline .ruled"), /^A /);
    await drop(path("second.nsc"));
    await shows("second.nsc");
    assert.equal(new URL(await addressOf(page)).hash, "");
    assert.equal(await page.textContent("#timeline .ruled"), "");
    assert.equal(await page.isVisible("#selection"), false);
    assert.equal(await page.inputValue("#search"), "");
    await isRecording(path("second.nsc"));
    await page.click("#tab-timeline");
    await drawn(page);
    const all = [...reported(path("second.nsc")).values()].reduce((sum, calls) => sum + calls, 0);
    assert.match(await page.textContent("#timeline p.empty"), new RegExp(`All ${all.toLocaleString("en-US")} calls`));
    await page.goto(`${await addressOf(page)}&time=100000..200000`);
    await until(page, () => / part: /.test(document.getElementById("headline").textContent));
    await isRecording(path("second.nsc"), "--time", "100000ns..200000ns");
});

test("a page that cannot read its own recording opens another one", async () => {
    writeFileSync(path("broken.html"), readFileSync(path("first.html"), "utf8").replace(/"recording":"[^"]*"/, () => '"recording":"AAAA"'));
    await open("broken.html", "#view=timeline");
    await until(page, () => /cannot read its recording/.test(document.querySelector("#timeline p.empty").textContent));
    await drop(path("second.nsc"));
    await shows("second.nsc");
    await page.click("#tab-timeline");
    await drawn(page);
    assert.match(await page.textContent("#timeline p.empty"), /^All [\d,]+ calls are in this page/);
});

test("a raw capture of the line opens, too", async () => {
    const capture = join(NOPSCOPE_CAPTURES, "line-3/minimal.bin");
    await open("viewer.html");
    await drop(capture);
    await shows("minimal.bin");
    await isRecording(capture);
});

test("what cannot be opened gets a sentence, and what is shown stays", async () => {
    writeFileSync(path("words.txt"), "This is no recording.\n".repeat(1000));
    writeFileSync(path("empty.nsc"), "");
    writeFileSync(path("large.nsc"), "");
    truncateSync(path("large.nsc"), 1_600_000_000);
    mkdirSync(path("folder"));
    const wrong = [
        [["words.txt"], "^words\\.txt was not opened: there is no trace in it: not one frame could be read×$"],
        [["empty.nsc"], "^empty\\.nsc was not opened: the recording is empty×$"],
        [["large.nsc"], "^large\\.nsc \\(1,600 MB\\) was not opened: a page can read at most 1,500 MB\\."],
        [["folder"], "^folder was not opened: the browser cannot read the file: "],
        [["first.nsc", "second.nsc"], "^One recording at a time"],
    ];
    for (const name of ["viewer.html", "first.html"]) {
        await open(name);
        const before = await page.evaluate(() => document.querySelector("h1").textContent + document.body.dataset.calls);
        for (const [files, pattern] of wrong) {
            await drop(...files.map(path));
            await says(pattern);
            assert.equal(await page.evaluate(() => document.querySelector("h1").textContent + document.body.dataset.calls), before);
            await page.click("#reading button");
            assert.equal(await page.isVisible("#reading"), false);
        }
    }
    // The first recording is still read.
    await until(page, () => document.body.dataset.engine === "ready");
    await page.goto(`${await addressOf(page)}#time=100000..200000`);
    await until(page, () => / part: /.test(document.getElementById("headline").textContent));
    await isRecording(path("first.nsc"), "--time", "100000ns..200000ns");
});

test("the page says how far it has read, and shows what was dropped last", async () => {
    await open("viewer.html");
    await page.evaluate(() => {
        globalThis.said = [];
        new MutationObserver(() => said.push(document.getElementById("reading").textContent)).observe(document.getElementById("reading"), { childList: true });
    });
    await drop(path("long.nsc"));
    await shows("long.nsc");
    const shown = await page.evaluate(() => said);
    assert.match(shown[0], /^Reading long\.nsc \([\d,]+ [kM]B\)…$/);
    const shares = shown.map((text) => Number(/: (\d+) %$/.exec(text)?.[1])).filter(Number.isFinite);
    assert.ok(shares.length > 0 && shares.every((share) => share > 0 && share <= 100), shown.join("\n"));
    await drop(path("long.nsc"));
    await says("Reading long");
    await drop(path("second.nsc"));
    await shows("second.nsc");
    await page.waitForTimeout(1000);
    await isRecording(path("second.nsc"));
});

test("a page without a reader says so", async () => {
    await open("alone.html");
    assert.equal(await page.isVisible("#open"), false);
    await drop(path("second.nsc"));
    await says("^This page cannot read recordings\\. .*--viewer");
    assert.equal(await page.textContent("#title"), "first.nsc");
});
