// SPDX-License-Identifier: Apache-2.0
// `nopscope serve` of a running target, in headless Chromium. The page grows in place, requests
// reach the target, it survives a reset and the loss of the line, and nothing leaves this machine.
//
//     node --test serve_test.mjs, with PART (views, tables, order, requests or losses), NOPSCOPE, CHROMIUM, and what web_test.py sets
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { directory, frame, frames, functions, jsonOf, numberOf, open as openUrl, page, suite, text, until, wrong } from "./browser.mjs";

const { PART, NOPSCOPE, NOPSCOPE_SOCKET, NOPSCOPE_IMAGE } = process.env;
const [views, tables, order, requests, losses] = ["views", "tables", "order", "requests", "losses"].map((part) => (part === PART ? test : () => {}));
let side, target, served, follower; // served: the server of the target

const shows = (selector, pattern, what = `${pattern} in ${selector}`) => until(what, async () => pattern.test(await text(selector)));

async function startTarget() {
    const [command, ...words] = JSON.parse(process.env.NOPSCOPE_TARGET);
    rmSync(NOPSCOPE_SOCKET, { force: true });
    target = spawn(command, words, { stdio: "ignore" });
    await until("the target's socket", () => existsSync(NOPSCOPE_SOCKET));
}
// The target stands still for most of the time: it would take a processor, and as much again for what it sends.
let atFullSpeed = false;
const throttle = setInterval(() => {
    target?.kill("SIGCONT");
    setTimeout(() => atFullSpeed || target?.kill("SIGSTOP"), 25);
}, 100);
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

suite("serve", async () => {
    side = join(directory, "side.nsc");
    await startTarget();
    served = await serve("--from", `unix:${NOPSCOPE_SOCKET}`, "--image", NOPSCOPE_IMAGE, "-o", side);
    // Keeps one page open: `serve` ends after its last page, and a slow machine takes seconds from one page to the next.
    follower = http.get(`${served.url}events`, (events) => events.resume()).on("error", () => {});
}, /^(http:\/\/127\.0\.0\.1:|data:)/);
after(() => {
    clearInterval(throttle);
    follower?.destroy();
    served?.child.kill("SIGKILL");
    target?.kill("SIGKILL");
});

const open = (fragment = "", url = served.url) => openUrl(url + fragment);
async function openFrames(fragment) {
    await open(fragment);
    await until("frames", async () => (await frames()).length > 20);
}
async function openFunctions(sort = "calls") {
    await open(`#view=functions&sort=${sort}`);
    await until("rows", async () => (await functions()).size > 50);
}
const press = (name) => page.getByRole("button", { name }).click();
const answered = (answer) => until(`the answer ${answer}`, async () => (await text("#said")).match(answer));
// The calls of the whole recording, as the page shows them now.
const callsNow = async () => numberOf(/([\d,]+) calls/.exec(await text("#headline"))?.[1] ?? "0");
// After a filter the figures begin again. The page may still show the old ones when its answer is there.
async function grown(by = 1000) {
    let before = await callsNow();
    await until("more calls", async () => {
        const now = await callsNow();
        before = Math.min(before, now);
        return now > before + by;
    });
}
// What was on its way may still arrive.
const standsStill = () => until("the last call", async () => {
    const before = await callsNow();
    await sleep(2500);
    return (await callsNow()) === before;
});
const widest = (all) => all.filter(({ name }) => name !== "all").sort((a, b) => b.width - a.width)[0].name;

views("the flame graph grows, and zoom, search and frames stay over an update", async () => {
    await openFrames();
    await grown();
    const zoomed = widest(await frames());
    const root = (await frames()).find(({ name }) => name === "all").width;
    await frame(zoomed).click();
    await page.fill("#search", zoomed);
    await page.$eval("#flame g.frame", (g) => (g.dataset.marked = "here"));
    assert.match(await text("#matched"), /^[0-9.]+ % matched$/);
    await grown();
    const now = await frames();
    assert.ok(Math.max(...now.filter(({ name }) => name === zoomed).map(({ width }) => width)) > root * 0.99, "the zoom is gone");
    const found = now.filter(({ fill }) => fill === "var(--found)");
    assert.ok(found.length > 0 && found.every(({ name }) => name.includes(zoomed)), JSON.stringify(found));
    assert.equal(await page.locator('#flame g.frame[data-marked="here"]').count(), 1, "the frames were made anew");
    assert.match(page.url(), /zoom=0x[0-9a-f]+/);
});

views("it grows up, and inverted, too", async () => {
    await openFrames("#order=callees&down=up");
    await grown();
    const y = async (name) => (await frame(name).boundingBox()).y;
    assert.ok((await y("all")) > (await y(widest(await frames()))), "the root is at the foot");
});

tables("the timeline grows, and a range that is looked at stays", async () => {
    await open("#view=timeline");
    await shows("#timeline .where", /[1-9][\d,]* calls drawn/);
    const length = async () => (await page.evaluate(async () => (await (await fetch("view")).json()).timeline.duration));
    const before = await length();
    await until("more time", async () => (await length()) > before + 1e6);
    await page.goto(page.url().replace(/#.*/, "") + "#view=timeline&range=1000-2000000");
    await shows("#timeline .where", /^2\.00 ms from 1/);
    await grown();
    assert.match(await text("#timeline .where"), /^2\.00 ms from 1/);
});

tables("a hot function has its instructions", async () => {
    await openFunctions("self");
    await page.locator("#functions tbody tr", { hasText: "luaV_execute" }).first().click();
    const instructions = async () => (await page.locator("#calls [data-at]").count()) > 10;
    await until("instructions", instructions);
    assert.match(await page.locator("#calls [data-at]").first().textContent(), /^\+0(bti|nop|bl|paciasp)/i);
    await grown();
    assert.ok(await instructions());
});

order("the table keeps its order, its focus and where it was scrolled to", async () => {
    await openFunctions();
    atFullSpeed = true; // among few calls functions change places by many lines
    await until("many calls", async () => (await callsNow()) > 500_000);
    atFullSpeed = false;
    const name = [...(await functions()).keys()][40];
    await page.$$eval("#functions tbody tr", (rows, wanted) =>
        rows.find((row) => row.cells[row.cells.length - 1].firstChild.textContent === wanted).focus(), name);
    await page.evaluate(() => scrollTo(0, 500));
    assert.ok(await page.evaluate(() => scrollY) > 0);
    // Functions change places, and the browser scrolls to keep its content in place. A page that is drawn again would be at its top.
    const top = () => page.evaluate(() => document.querySelector("#functions").getBoundingClientRect().top);
    const isScrolled = async () => (await top()) < -100; // pixels
    assert.ok(await isScrolled());
    await grown();
    assert.ok(await isScrolled(), `${await top()}`);
    assert.equal(await page.evaluate(() => document.activeElement.cells?.[document.activeElement.cells.length - 1].firstChild.textContent), name);
    const calls = [...(await functions()).values()];
    assert.deepEqual(calls, [...calls].sort((a, b) => b - a));
});

views("paused, it stands still until it may go on", async () => {
    await openFrames();
    await press("Pause");
    await standsStill();
    assert.match(await text("#status"), /paused here/);
    await press("Go on");
    await grown();
});

views("the console's text is there, and goes on", async () => {
    const more = async () => {
        const before = await text("#console");
        await until("more text", async () => (await text("#console")) !== before);
    };
    const gap = () => page.$eval("#console", (host) => host.scrollHeight - host.clientHeight - host.scrollTop);
    await page.setViewportSize({ width: 1400, height: 300 }); // so that text is soon beyond it
    await open("#view=console");
    await shows("#console", /round \d+ of 100000/);
    await more();
    await page.click("#tab-functions");
    await sleep(1500);
    await page.click("#tab-console");
    await until("its end", async () => (await gap()) < 4);
    await until("text beyond the window", () => page.$eval("#console", (host) => host.scrollHeight > host.clientHeight + 20));
    await page.$eval("#console", (host) => (host.scrollTop = 0));
    await more();
    assert.ok((await gap()) > 4, "it stays where a person has scrolled to");
});

requests("a filter that is typed changes what the target sends; a refusal is a sentence", async () => {
    const filter = async (words) => {
        await page.fill('#controls [name="trace"]', words);
        await page.keyboard.press("Enter");
    };
    await openFunctions();
    await filter("no_such_function");
    await answered(/no_such_function: not done: no traceable function/);
    await filter("luaH_* luaV_execute");
    await answered(/tracing \d+ functions/);
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
    await press("Apply");
    await answered(/tracing \d{3,} functions/);
});

requests("a mark arrives, a stop stops, the figures begin again, and a mode is set by its button", async () => {
    await open("#view=recording");
    await page.waitForSelector("#controls:not([hidden])");
    await page.getByLabel("No.").fill("4711");
    await press("Mark");
    await answered(/^mark 4711: ok$/);
    await shows("#recording", /id 4711/);
    await until("many calls", async () => (await callsNow()) > 20_000);
    assert.match(await text("#status"), /figures since.*\(trace\)/, "since the last filter");
    await press("Stop");
    await answered(/^stop: ok$/);
    await shows("#status", /^Tracing stopped/);
    await standsStill();
    await press("Zero");
    await answered(/^zero: the figures begin again$/);
    await until("small figures", async () => (await callsNow()) < 1000);
    assert.match(await text("#status"), /figures since\d\d:\d\d:\d\d \(zero\)/);
    await press("Start");
    await grown();
    await shows("#status", /^Running/);
    const before = await text("#said");
    await page.selectOption('#controls [name="mode"]', "lossless");
    await sleep(500);
    assert.equal(await text("#said"), before, "a choice alone is not sent");
    await press("Set mode");
    await answered(/^mode lossless: ok$/);
});

losses("a reset target, and a line that was lost, are said and survived", async () => {
    await openFrames();
    const answer = await page.evaluate(async () => {
        const headers = { "Content-Type": "application/json" };
        return (await fetch("request", { method: "POST", headers, body: JSON.stringify({ words: ["reset"] }) })).json();
    });
    assert.equal(answer.status, 0, answer.text);
    await shows("#status", /was reset/);
    await grown();
    target.kill("SIGKILL");
    await ended(target);
    await shows("#status", /Line lost/);
    assert.ok((await frames()).length > 20, "what was captured is shown on");
    await startTarget();
    await shows("#status", /^Running/);
    await grown();
});

losses("console text is text, whatever it says, and a line that is over is said to be", async () => {
    const said = "<img src=x onerror=console.error(1)></pre></script>";
    const raw = await serve("--from", `exec:printf '${said}\\n'; exec sleep 100`);
    await open("#view=console", raw.url);
    await until("the text", async () => (await text("#console")).includes(said));
    assert.equal(await page.locator("img").count(), 0);
    const over = await serve("--from", "exec:true");
    await open("", over.url);
    await shows("#status", /^The line is over/);
    assert.doesNotMatch(await text("#status"), /over.*the line is over/i);
    await page.goto("about:blank");
    for (const { child } of [raw, over]) child.kill();
});

losses("SIGINT ends it, and the recording on the side is whole", async () => {
    await openFrames();
    served.child.kill("SIGINT");
    await ended(served.child);
    assert.equal(served.child.exitCode, 0);
    await shows("#status", /does not answer/);
    await page.close();
    wrong.splice(0); // the browser also reports each failed request of the page
    const { sessions, integrity, functions: recorded } = jsonOf("report", side);
    assert.equal(sessions, 3);
    assert.equal(integrity.damaged_chunks ?? 0, 0);
    assert.ok(integrity.corrupt_frames <= 2, "more than the frames that the target's ends have cut");
    assert.equal(integrity.generated, ["delivered", "dropped", "overwritten", "aggregated", "filtered", "lost"].reduce((sum, part) => sum + integrity[part], 0));
    assert.ok(recorded.some(({ name }) => name === "luaV_execute"));
});
