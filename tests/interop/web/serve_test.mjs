// SPDX-License-Identifier: Apache-2.0
// `nopscope serve` of a running target, in headless Chromium. The page grows in place, requests
// reach the target, it survives a reset and the loss of the line, and nothing leaves this machine.
//
//     node --test serve_test.mjs, with NOPSCOPE, CHROMIUM, and what web_test.py sets
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { addressOf, launch, newPage, nopscope } from "./browser.mjs";

const { NOPSCOPE, NOPSCOPE_SOCKET, NOPSCOPE_IMAGE, NOPSCOPE_HOSTILE } = process.env;
const directory = mkdtempSync(join(tmpdir(), "nopscope-serve-"));
const side = join(directory, "side.nsc");
const steer = join(directory, "steer");
let browser;
let target;
let served; // the server of the target
let follower;
let page;
const wrong = [];

async function until(what, condition, seconds = 60) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(100)) {
        const value = await condition();
        if (value) return value;
    }
    assert.fail(`not within ${seconds} s: ${what}`);
}

async function startTarget() {
    const [command, ...words] = JSON.parse(process.env.NOPSCOPE_TARGET);
    rmSync(NOPSCOPE_SOCKET, { force: true });
    target = spawn(command, words, { stdio: "ignore" });
    await until("the target's socket", () => existsSync(NOPSCOPE_SOCKET));
}
const ended = (child) => new Promise((done) => (child.exitCode ?? child.signalCode) !== null ? done() : child.on("exit", done));

// Resolves when the server has printed its address.
async function serve(...words) {
    const child = spawn(NOPSCOPE, ["serve", ...words], { stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let errors = "";
    child.stdout.on("data", (more) => (out += more));
    child.stderr.on("data", (more) => (errors += more));
    await until(`the URL of ${words}`, () => out.includes("\n") || child.exitCode !== null);
    assert.match(out, /^http:\/\/127\.0\.0\.1:\d+\/\S*\n$/, errors);
    return { child, url: out.trim() };
}

before(async () => {
    await startTarget();
    served = await serve("--from", `unix:${NOPSCOPE_SOCKET}`, "--image", NOPSCOPE_IMAGE, "-o", side, "--control", `unix:${steer}`);
    // Keeps one page open: `serve` ends after its last page, and a slow machine takes seconds from
    // one page to the next.
    follower = http.get(`${served.url}events`, (events) => events.resume()).on("error", () => {});
    browser = await launch();
});
after(async () => {
    follower?.destroy();
    await browser?.close();
    served?.child.kill("SIGKILL");
    target?.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
});
afterEach(async () => {
    await page?.close();
    page = null;
    assert.deepEqual(wrong.splice(0), []);
});

async function open(fragment = "", url = served.url) {
    page = await newPage(browser, wrong, /^(data:|(blob:)?http:\/\/127\.0\.0\.1:)/);
    await page.goto(url + fragment);
}
const number = (text) => Number(text.replaceAll(",", ""));
// The calls of the whole recording, as the page shows them now.
const callsNow = async () => number(/([\d,]+) calls/.exec(await page.textContent("#headline"))?.[1] ?? "0");
// After a filter the figures begin again. The page may still show the old ones when its answer is there.
async function grown(by = 1000) {
    let before = await callsNow();
    await until("more calls", async () => {
        const now = await callsNow();
        before = Math.min(before, now);
        return now > before + by;
    });
}
const frames = () => page.$$eval("#flame g.frame", (all) => all.map((g) =>
    ({ name: g.getAttribute("name"), width: Number(g.querySelector("rect").getAttribute("width")), fill: g.querySelector("rect").getAttribute("fill") })));
const functions = async () => new Map(await page.$$eval("#functions tbody tr", (rows) =>
    rows.map((row) => [row.cells[row.cells.length - 1].firstChild.textContent, Number(row.cells[0].textContent.replaceAll(",", ""))])));
const said = () => page.textContent("#said");

test("the flame graph grows, and zoom, search and frames stay over an update", async () => {
    await open();
    await until("frames", async () => (await frames()).length > 20);
    await grown();
    const zoomed = (await frames()).filter(({ name }) => name !== "all").sort((a, b) => b.width - a.width)[0].name;
    const root = (await frames()).find(({ name }) => name === "all").width;
    await page.locator(`#flame g.frame[name="${zoomed}"]`).first().click();
    await page.fill("#search", zoomed);
    await page.$eval("#flame g.frame", (g) => (g.dataset.marked = "here"));
    const matched = await page.textContent("#matched");
    assert.match(matched, /^[0-9.]+ % matched$/);
    await grown();
    const now = await frames();
    assert.ok(Math.max(...now.filter(({ name }) => name === zoomed).map(({ width }) => width)) > root * 0.99, "the zoom is gone");
    const found = now.filter(({ fill }) => fill === "var(--found)");
    assert.ok(found.length > 0 && found.every(({ name }) => name.includes(zoomed)), JSON.stringify(found));
    assert.equal(await page.locator('#flame g.frame[data-marked="here"]').count(), 1, "the frames were made anew");
    assert.match(await addressOf(page), /zoom=0x[0-9a-f]+/);
});

test("it grows up, and inverted, too", async () => {
    await open("#order=callees&down=up");
    await until("frames", async () => (await frames()).length > 20);
    await grown();
    const y = async (name) => (await page.locator(`#flame g.frame[name="${name}"]`).first().boundingBox()).y;
    const widest = (await frames()).filter(({ name }) => name !== "all").sort((a, b) => b.width - a.width)[0].name;
    assert.ok((await y("all")) > (await y(widest)), "the root is at the foot");
});

test("the timeline grows, and a range that is looked at stays", async () => {
    await open("#view=timeline");
    const where = () => page.textContent("#timeline .where");
    await until("calls", async () => /[1-9][\d,]* calls drawn/.test(await where()));
    const length = async () => (await page.evaluate(async () => (await (await fetch("view")).json()).timeline.duration));
    const before = await length();
    await until("more time", async () => (await length()) > before + 1e6);
    await page.goto((await addressOf(page)).replace(/#.*/, "") + "#view=timeline&range=1000-2000000");
    await until("the range", async () => (await where()).startsWith("2.00 ms from 1"));
    await grown();
    assert.match(await where(), /^2\.00 ms from 1/);
});

test("a hot function has its instructions", async () => {
    await open("#view=functions&sort=self");
    await until("rows", async () => (await functions()).has("luaV_execute"));
    await page.locator("#functions tbody tr", { hasText: "luaV_execute" }).first().click();
    await until("instructions", async () => (await page.locator("#calls [data-at]").count()) > 10);
    assert.match(await page.locator("#calls [data-at]").first().textContent(), /^\+0(bti|nop|bl|paciasp)/i);
    await grown();
    assert.ok((await page.locator("#calls [data-at]").count()) > 10);
});

test("the table keeps its order, its focus and where it was scrolled to", async () => {
    await open("#view=functions&sort=calls");
    await until("rows", async () => (await functions()).size > 50);
    const name = [...(await functions()).keys()][40];
    await page.$$eval("#functions tbody button", (buttons, wanted) => buttons.find((button) => button.textContent === wanted).focus(), name);
    await page.evaluate(() => scrollTo(0, 500));
    assert.ok(await page.evaluate(() => scrollY) > 0);
    // Lines of the head and functions may change places. Then the browser scrolls by some lines to
    // keep its content in place. A page that is drawn again would be at its top.
    const lines = 100; // pixels: some five
    const top = () => page.evaluate(() => document.querySelector("#functions").getBoundingClientRect().top);
    const before = await top();
    await grown();
    assert.ok(before < -2 * lines, `${before}`);
    assert.ok(Math.abs(await top() - before) <= lines, `from ${before} to ${await top()}`);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
    const calls = [...(await functions()).values()];
    assert.deepEqual(calls, [...calls].sort((a, b) => b - a));
});

test("paused, it stands still until it may go on", async () => {
    await open();
    await until("frames", async () => (await frames()).length > 20);
    await page.getByRole("button", { name: "Pause" }).click();
    await sleep(1500); // data that was on its way
    const calls = await callsNow();
    await sleep(3000);
    assert.equal(await callsNow(), calls);
    assert.match(await page.textContent("#status"), /paused here/);
    await page.getByRole("button", { name: "Go on" }).click();
    await grown();
});

test("a filter that is typed changes what the target sends; a refusal is a sentence", async () => {
    await open("#view=functions");
    await until("rows", async () => (await functions()).size > 50);
    await page.fill('#controls [name="trace"]', "no_such_function");
    await page.keyboard.press("Enter");
    await until("a sentence", async () => /no_such_function: not done: no traceable function/.test(await said()));
    await page.fill('#controls [name="trace"]', "luaH_* luaV_execute");
    await page.keyboard.press("Enter");
    await until("the target's answer", async () => /tracing \d+ functions/.test(await said()));
    let grew = [];
    // Waits until the data that was on its way has arrived.
    await until("calls of these functions alone", async () => {
        const before = await functions();
        await grown();
        grew = [...(await functions())].filter(([name, calls]) => calls > (before.get(name) ?? 0)).map(([name]) => name);
        return grew.length > 3 && grew.every((name) => /^luaH_|^luaV_execute$/.test(name));
    });
    await page.fill('#controls [name="trace"]', "");
    await page.selectOption('#controls [name="recorder"]', "graph");
    await page.getByRole("button", { name: "Apply" }).click();
    await until("all again", async () => /tracing \d{3,} functions/.test(await said()));
});

test("a mark arrives, and a stop stops", async () => {
    await open("#view=recording");
    await page.waitForSelector("#controls:not([hidden])");
    await page.getByLabel("No.").fill("4711");
    await page.getByRole("button", { name: "Mark" }).click();
    await until("its answer", async () => (await said()) === "mark 4711: ok");
    await until("the mark", async () => (await page.textContent("#recording")).includes("id 4711"));
    await page.getByRole("button", { name: "Stop" }).click();
    await until("its answer", async () => (await said()) === "stop: ok");
    await until("that it is said", async () => /^Tracing stopped/.test(await page.textContent("#status")));
    await sleep(3000);
    const calls = await callsNow();
    await sleep(2500);
    assert.equal(await callsNow(), calls);
    await page.getByRole("button", { name: "Start" }).click();
    await grown();
    await until("that it is said", async () => /^Running/.test(await page.textContent("#status")));
});

test("the figures begin again", async () => {
    await open("#view=functions");
    await until("many calls", async () => (await callsNow()) > 20_000);
    assert.match(await page.textContent("#status"), /figures since.*\(trace\)/, "since the last filter");
    await page.getByRole("button", { name: "Stop" }).click();
    await until("that it is said", async () => /^Tracing stopped/.test(await page.textContent("#status")));
    // What was recorded before still arrives.
    await until("the last call", async () => {
        const before = await callsNow();
        await sleep(1500);
        return (await callsNow()) === before;
    });
    await page.getByRole("button", { name: "Zero" }).click();
    await until("its answer", async () => (await said()) === "zero: the figures begin again");
    await until("small figures", async () => (await callsNow()) < 1000);
    assert.match(await page.textContent("#status"), /figures since\d\d:\d\d:\d\d \(zero\)/);
    await page.getByRole("button", { name: "Start" }).click();
    await grown();
});

test("a setting is sent by its button", async () => {
    await open();
    await page.waitForSelector("#controls:not([hidden])");
    const before = await said();
    await page.selectOption('#controls [name="mode"]', "lossless");
    await sleep(500);
    assert.equal(await said(), before);
    await page.getByRole("button", { name: "Set mode" }).click();
    await until("its answer", async () => (await said()) === "mode lossless: ok");
    await until("that it is said", async () => /modelossless/.test(await page.textContent("#status")));
});

test("what another client changes is shown within two updates", async () => {
    await open();
    const status = () => page.textContent("#status");
    const ctl = (...words) => nopscope("ctl", "--via", `unix:${steer}`, ...words);
    await until("the target's state", async () => /^Running.*recordergraph/.test(await status()));
    ctl("mode", "stream");
    await until("the mode", async () => /modestream/.test(await status()), 5);
    ctl("stop");
    await until("the stop", async () => /^Tracing stopped/.test(await status()), 5);
    assert.equal(await said(), "", "this page has asked nothing");
    ctl("mode", "flight");
    await until("the mode", async () => /modeflight/.test(await status()), 5);
    ctl("mode", "stream");
    ctl("trace", "--recorder", "function", "luaV_*");
    await until("the recorder", async () => /recorderfunction/.test(await status()), 5);
    ctl("trace", "--recorder", "graph");
    ctl("start");
    await until("the start", async () => /^Running.*modestream.*recordergraph/.test(await status()), 5);
    await grown();
});

// What the page's button saves: read by `info` and `report`, which must have no complaint.
async function save(name) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Save recording" }).click()]);
    const file = join(directory, name);
    await download.saveAs(file);
    assert.equal(download.suggestedFilename(), "recording.nsc");
    const { integrity } = JSON.parse(nopscope("info", file, "--format", "json"));
    for (const fault of ["damaged_chunks", "skipped_bytes", "lost", "gaps"]) assert.equal(integrity[fault] ?? 0, 0, fault);
    assert.doesNotMatch(nopscope("info", file), /killed|damaged/);
    return JSON.parse(nopscope("report", file, "--format", "json"));
}
const callsOf = (report) => report.functions.reduce((sum, { calls }) => sum + calls, 0);

test("the recording is saved while it goes on", async () => {
    await open();
    await grown();
    const first = await save("first.nsc");
    await grown();
    const second = await save("second.nsc");
    assert.ok(first.functions.some(({ name }) => name === "luaV_execute"));
    assert.ok(callsOf(first) > 0 && callsOf(second) > callsOf(first), `${callsOf(first)}, then ${callsOf(second)}`);
    assert.equal(second.sessions, first.sessions);
});

test("a command that was killed says why, and is started again", async () => {
    const [command, ...words] = JSON.parse(process.env.NOPSCOPE_TARGET);
    const quoted = [command, ...words.map((word) => word.startsWith("unix:") ? "stdio" : word)].map((word) => `'${word}'`).join(" ");
    const pids = join(directory, "pids");
    const own = await serve("--from", `exec:echo $$ >> ${pids}; ${quoted}; echo 'no more power' >&2; kill -TERM $$`, "--image", NOPSCOPE_IMAGE);
    await open("", own.url);
    await grown();
    const before = await save("before.nsc");
    const shell = readFileSync(pids, "utf8").trim();
    execFileSync("pkill", ["-KILL", "-P", shell]);
    const status = () => page.textContent("#status");
    await until("the cause", async () => /^The line is over.*exit status 143 \(Terminated\): no more power/.test(await status()));
    assert.ok((await frames()).length > 20, "what was captured is shown on");
    const over = await save("over.nsc");
    assert.ok(callsOf(over) >= callsOf(before));
    await page.getByRole("button", { name: "Restart" }).click();
    await until("that it runs", async () => /^Running/.test(await status()));
    assert.doesNotMatch(await status(), /no more power/);
    assert.equal(await page.getByRole("button", { name: "Restart" }).count(), 0);
    await grown();
    const again = await save("again.nsc");
    assert.equal(again.sessions, over.sessions + 1);
    assert.ok(callsOf(again) > callsOf(over));
    own.child.kill("SIGINT");
    await ended(own.child);
    await page.close();
    page = null;
    wrong.splice(0); // the browser also reports each failed request of the page
});

test("the console's text is there, and goes on", async () => {
    await open("#view=console");
    await until("text", async () => /round \d+ of 100000/.test(await page.textContent("#console")));
    const text = await page.textContent("#console");
    await until("more text", async () => (await page.textContent("#console")) !== text);
    const gap = () => page.$eval("#console pre", (host) => host.scrollHeight - host.clientHeight - host.scrollTop);
    const button = page.getByRole("button", { name: "Follow" });
    await page.click("#tab-functions");
    await sleep(1500);
    await page.click("#tab-console");
    await until("its end", async () => (await gap()) < 4);
    assert.equal(await button.isVisible(), false);
    await page.$eval("#console pre", (host) => (host.scrollTop = 0));
    await button.waitFor();
    const more = await page.textContent("#console");
    await until("more text", async () => (await page.textContent("#console")) !== more);
    assert.ok((await gap()) > 4, "it stays where a person has scrolled to");
    await button.click();
    await until("its end", async () => (await gap()) < 4);
    assert.equal(await button.isVisible(), false);
    const last = await page.textContent("#console");
    await until("more text", async () => (await page.textContent("#console")) !== last);
    assert.ok((await gap()) < 4, "it follows again");
});

test("what may not ask is refused", async (context) => {
    const { port } = new URL(served.url);
    const ask = (method, path, headers, body) => new Promise((done, fail) => {
        const request = http.request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
            answer.resume();
            done(answer.statusCode);
        });
        request.on("error", fail);
        request.end(body);
    });
    const reset = JSON.stringify({ words: ["reset"] });
    const json = { "Content-Type": "application/json" };
    assert.equal(await ask("GET", "/view", { Host: `evil.example:${port}` }), 403);
    assert.equal(await ask("GET", "/recording", { Host: `evil.example:${port}` }), 403);
    assert.equal(await ask("POST", "/request", { ...json, Origin: "http://evil.example" }, reset), 403);
    // As a browser sends it from a page of another origin.
    await open();
    const other = http.createServer((_, answer) => answer.end("<!doctype html>")).listen(0, "127.0.0.1");
    context.after(() => other.close());
    await until("another site", () => other.address());
    const stranger = await browser.newPage();
    const complaints = [];
    stranger.on("console", (message) => complaints.push(message.text()));
    await stranger.goto(`http://localhost:${other.address().port}/`);
    const got = await stranger.evaluate(async ({ url, body }) => {
        const tries = [fetch(`${url}view`), fetch(`${url}request`, { method: "POST", mode: "no-cors", body })];
        const frame = document.createElement("iframe");
        const loaded = new Promise((done) => (frame.onload = done));
        frame.src = url;
        document.body.append(frame);
        await loaded;
        return (await Promise.allSettled(tries)).map(({ value }) => value?.type ?? "refused");
    }, { url: served.url, body: reset });
    assert.deepEqual(got, ["refused", "refused"]);
    assert.ok(complaints.some((text) => text.includes("frame-ancestors 'none'")), complaints.join("\n"));
    await stranger.close();
    await sleep(1500);
    assert.doesNotMatch(await page.textContent("#status"), /was reset/);
});

test("a reset target, and a line that was lost, are said and survived", async () => {
    await open();
    await until("frames", async () => (await frames()).length > 20);
    const answer = await page.evaluate(async () => {
        const headers = { "Content-Type": "application/json" };
        return (await fetch("request", { method: "POST", headers, body: JSON.stringify({ words: ["reset"] }) })).json();
    });
    assert.equal(answer.status, 0, answer.text);
    await until("that it was reset", async () => /was reset/.test(await page.textContent("#status")));
    await grown();
    target.kill("SIGKILL");
    await ended(target);
    await until("that the line is lost", async () => /Line lost/.test(await page.textContent("#status")));
    assert.ok((await frames()).length > 20, "what was captured is shown on");
    await startTarget();
    await until("that it runs", async () => /^Running/.test(await page.textContent("#status")));
    await grown();
});

test("console text and names are text, whatever they say", async () => {
    const text = "<img src=x onerror=console.error(1)></pre></script>";
    const raw = await serve("--from", `exec:printf '${text}\\n'; exec sleep 100`);
    await open("#view=console", raw.url);
    await until("the text", async () => (await page.textContent("#console")).includes(text));
    assert.equal(await page.locator("img").count(), 0);
    await page.close();
    raw.child.kill();
    const over = await serve("--from", "exec:true");
    await open("", over.url);
    await until("the end", async () => /^The line is over/.test(await page.textContent("#status")));
    assert.doesNotMatch(await page.textContent("#status"), /over.*the line is over/i);
    await page.close();
    over.child.kill();
    const hostile = await serve(NOPSCOPE_HOSTILE);
    for (const fragment of ["", "#view=functions", "#view=calls", "#view=recording"]) {
        await open(fragment, hostile.url);
        await until("a view", async () => (await page.textContent("#state")) !== "");
        if (fragment === "#view=functions") assert.ok((await page.textContent("main")).includes("<b>&amp;</b>"));
        assert.equal(await page.locator("main b, main img, main script").count(), 0);
        await page.close();
    }
    hostile.child.kill();
});

test("SIGINT ends it, and the recording on the side is whole", async () => {
    await open();
    await until("frames", async () => (await frames()).length > 5);
    served.child.kill("SIGINT");
    await ended(served.child);
    assert.equal(served.child.exitCode, 0);
    await until("that it is said", async () => /does not answer/.test(await page.textContent("#status")));
    await page.close();
    page = null;
    wrong.splice(0); // the browser also reports each failed request of the page
    const report = JSON.parse(nopscope("report", side, "--format", "json"));
    assert.equal(report.sessions, 3);
    const { integrity } = report;
    assert.equal(integrity.damaged_chunks ?? 0, 0);
    assert.ok(integrity.corrupt_frames <= 2, "more than the frames that the target's ends have cut");
    assert.equal(integrity.generated, ["delivered", "dropped", "overwritten", "aggregated", "filtered", "lost"].reduce((sum, part) => sum + integrity[part], 0));
    assert.ok(report.functions.some(({ name }) => name === "luaV_execute"));
});
