// SPDX-License-Identifier: Apache-2.0
// Measures a page in headless Chromium, which draws without a graphics card. Prints JSON.
//
//     node page.mjs nopscope PAGE             a page of `nopscope html`
//     node page.mjs speedscope INDEX FILE     speedscope's page, which opens FILE
//
// With CHROMIUM; browser.mjs (tests/interop/web) and node_modules/ lie beside it.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch, newPage, until } from "./browser.mjs";

const [what, page_file, opened_file] = process.argv.slice(2);
const browser = await launch();
const wrong = [];
const page = await newPage(browser, wrong);
page.setDefaultTimeout(600_000);
const result = {};

// Resident bytes of the largest renderer: the tab's.
async function memory() {
    const { processInfo } = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
    const sizes = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))[1]) * 1024);
    const { usedSize } = await (await page.context().newCDPSession(page)).send("Runtime.getHeapUsage");
    return { "MB of the tab's process": Math.max(...sizes) / 1e6, "MB of the page's JavaScript heap": usedSize / 1e6 };
}

// Each frame a key goes to `selector`: to the right, and as often back.
const frames = (selector, right, left) => page.evaluate(async ({ selector, right, left }) => {
    const next = () => new Promise(requestAnimationFrame);
    const target = selector ? document.querySelector(selector) : window;
    target.focus();
    let drawn = 0;
    const begin = performance.now();
    while (performance.now() < begin + 5000) {
        const key = Math.floor(drawn / 20) % 2 ? left : right;
        for (const type of ["keydown", "keyup"]) target.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true }));
        await next();
        ++drawn;
    }
    return drawn / ((performance.now() - begin) / 1000);
}, { selector, right, left });

const address = pathToFileURL(page_file).href;
if (what === "nopscope") {
    await page.goto(`${address}#view=timeline`);
    result["seconds until the first picture"] = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime / 1000);
    await until(page, () => document.body.dataset.engine === "ready" && !document.querySelector("#timeline canvas").dataset.waits);
    result["seconds until the engine has all calls"] = await page.evaluate(() => performance.now() / 1000);
    Object.assign(result, await memory());
    for (let n = 0; n < 4; ++n) await page.keyboard.press("w");
    await until(page, () => !document.querySelector("#timeline canvas").dataset.waits);
    result["frames a second while panning"] = await frames("#timeline canvas", "d", "a");
    // A tenth of the recording, in its middle.
    const end = JSON.parse(await page.textContent("#data")).duration;
    result["ms of a selection"] = await page.evaluate(async ([from, to]) => {
        const begin = performance.now();
        await new Promise((done) => {
            new MutationObserver(done).observe(document.getElementById("headline"), { childList: true, characterData: true, subtree: true });
            location.hash = `view=functions&time=${from}..${to}`;
        });
        return performance.now() - begin;
    }, [0.45, 0.55].map((share) => Math.round(share * end)));
} else {
    await page.goto(address);
    const begin = Date.now();
    await page.setInputFiles("input[type=file]", opened_file);
    await page.getByText("Sandwich").first().waitFor();
    result["seconds until it shows the file"] = (Date.now() - begin) / 1000;
    Object.assign(result, await memory());
    for (let n = 0; n < 4; ++n) await page.keyboard.press("w");
    result["frames a second while panning"] = await frames("", "d", "a");
}
await browser.close();
if (wrong.length) throw new Error(wrong.join("\n"));
console.log(JSON.stringify(result));
