// SPDX-License-Identifier: Apache-2.0
// The page in Firefox: it reads its recording, a range is selected, and a search finds; and the page
// that opens recordings opens one.
//
//     node --test firefox_test.mjs, with NOPSCOPE, NOPSCOPE_REPORT_BENCH and FIREFOX
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { nopscope, record } from "./browser.mjs";
import { Firefox } from "./firefox.mjs";

const directory = mkdtempSync(join(tmpdir(), "nopscope-firefox-"));
const [page, viewer] = ["page", "viewer"].map((name) => join(directory, `${name}.html`));
const wrong = [];
let firefox;
let recording;

// main calls step 3,000 times; each third step calls lookup.
function calls() {
    const events = [[0, 1, 1000]];
    let now = 1000;
    const put = (type, fn, ns) => events.push([type, fn, (now += ns)]);
    for (let n = 0; n < 3000; ++n) {
        put(0, 2, 50 + (n % 7));
        if (n % 3 === 0) {
            put(0, 3, 20);
            put(1, 3, 100 + (n % 11));
        }
        put(1, 2, 200);
    }
    put(1, 1, 500);
    return events;
}

before(async () => {
    recording = record(directory, "run", calls(), "1 8 main\n2 10 step\n3 18 lookup\n");
    nopscope("html", recording, "-o", page);
    nopscope("html", "--viewer", "-o", viewer);
    firefox = await Firefox.start(directory, wrong);
});
after(async () => {
    await firefox?.close();
    rmSync(directory, { recursive: true, force: true });
});
afterEach(() => assert.deepEqual(wrong.splice(0), []));

const reported = (...options) =>
    JSON.parse(nopscope("report", recording, ...options, "--format", "json")).functions.filter(({ calls }) => calls > 0).map(({ name, calls }) => `${calls.toLocaleString("en-US")} ${name}`).sort();
const engineIsReady = () => firefox.until(() => document.body.dataset.engine === "ready");
const rows = async () => (await firefox.run(() => {
    document.getElementById("tab-functions").click();
    return [...document.querySelectorAll("#functions tbody tr")].map(({ cells }) => `${cells[0].textContent} ${cells[cells.length - 1].firstChild.textContent}`);
})).sort();

test("a selected range of a page with its recording is what the command says of it", async () => {
    await firefox.go(`file://${page}#view=timeline&range=200000-300000`);
    await engineIsReady();
    assert.ok(Number(await firefox.run(() => document.querySelector("#timeline canvas").dataset.drawn)) > 100);
    const all = reported();
    assert.deepEqual(await rows(), all);
    await firefox.go("about:blank");
    await firefox.go(`file://${page}#view=timeline&range=200000-300000`);
    await engineIsReady();
    await firefox.press("x");
    assert.match(await firefox.run(() => location.hash), /time=200000\.\.300000/);
    await firefox.until(() => / part: /.test(document.getElementById("headline").textContent));
    const part = reported("--time", "200000ns..300000ns");
    assert.notDeepEqual(part, all);
    assert.deepEqual(await rows(), part);
});

test("a search finds, and steps through what it found", async () => {
    await firefox.go("about:blank");
    await firefox.go(`file://${page}#view=functions`);
    await firefox.press("/", "/^(step|lookup)$/", "Enter");
    await firefox.until(() => document.getElementById("count").textContent === "1 of 2");
    await firefox.press("Enter", "Escape");
    assert.equal(await firefox.run(() => document.getElementById("count").textContent), "2 of 2");
    assert.match(await firefox.run(() => document.querySelector("#functions tr[aria-current]").textContent), /step|lookup/);
});

test("the page without a recording opens a file", async () => {
    await firefox.go(`file://${viewer}`);
    assert.match(await firefox.run(() => document.getElementById("welcome").textContent), /Drop a recording/);
    await firefox.chooseFile("input[type=file]", recording);
    await firefox.until(() => document.getElementById("title").textContent === "run.nsc" && document.body.dataset.engine === "ready");
    assert.deepEqual(await rows(), reported());
});
