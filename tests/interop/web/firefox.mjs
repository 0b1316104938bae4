// SPDX-License-Identifier: Apache-2.0
// Headless Firefox, by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/). Why not by playwright:
// docs/dependencies.md.
//
//     const firefox = await Firefox.start(directory, wrong);     with FIREFOX
//     await firefox.go("file:///...");
//     await firefox.run(() => document.title);
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import WebSocket from "ws";

const special = { Enter: "\uE007", Escape: "\uE00C" };

// What a function returned: text, numbers, booleans, and lists of them.
function valueOf({ type, value }) {
    return type === "array" ? value.map(valueOf) : type === "null" || type === "undefined" ? null : value;
}

export class Firefox {
    // Firefox's profile is in `directory`. `wrong` gets the errors that pages report, and requests that are not allowed.
    static async start(directory, wrong) {
        const profile = join(directory, "profile");
        mkdirSync(profile);
        const firefox = new Firefox();
        firefox.process = spawn(process.env.FIREFOX, ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
            { env: { ...process.env, HOME: directory, MOZ_HEADLESS: "1" }, stdio: ["ignore", "ignore", "pipe"] });
        const address = await new Promise((found, failed) => {
            const said = [];
            createInterface({ input: firefox.process.stderr }).on("line", (line) => {
                said.push(line);
                const [, url] = /^WebDriver BiDi listening on (ws:\S+)$/.exec(line) ?? [];
                if (url) found(url);
            });
            firefox.process.on("exit", (code) => failed(new Error(`firefox ended with ${code}: ${said.join("\n")}`)));
        });
        firefox.socket = new WebSocket(`${address}/session`);
        await new Promise((opened, failed) => firefox.socket.on("open", opened).on("error", failed));
        firefox.socket.on("message", (text) => firefox.take(JSON.parse(text), wrong));
        await firefox.send("session.new", { capabilities: {} });
        await firefox.send("session.subscribe", { events: ["log.entryAdded", "network.beforeRequestSent"] });
        firefox.context = (await firefox.send("browsingContext.getTree", {})).contexts[0].context;
        return firefox;
    }

    waiting = new Map();
    sent = 0;

    send(method, params) {
        const id = ++this.sent;
        this.socket.send(JSON.stringify({ id, method, params }));
        return new Promise((done, failed) => this.waiting.set(id, { done, failed }));
    }

    take({ type, id, result, error, message, method, params }, wrong) {
        if (type === "success") this.waiting.get(id).done(result);
        else if (type === "error") this.waiting.get(id)?.failed(new Error(`${error}: ${message}`));
        else if (method === "log.entryAdded" && params.level === "error") wrong.push(params.text);
        else if (method === "network.beforeRequestSent" && !/^(about|blob|data|file):/.test(params.request.url)) wrong.push(`asked for ${params.request.url}`);
    }

    go(url) {
        return this.send("browsingContext.navigate", { context: this.context, url, wait: "complete" });
    }

    // Runs the function in the page.
    async run(holds, ...values) {
        const answer = await this.send("script.evaluate", {
            expression: `(${holds})(...${JSON.stringify(values)})`, target: { context: this.context }, awaitPromise: true,
        });
        if (answer.type === "exception") throw new Error(answer.exceptionDetails.text);
        return valueOf(answer.result);
    }

    async until(holds, ...values) {
        const end = Date.now() + 30_000;
        while (!(await this.run(holds, ...values))) {
            if (Date.now() > end) throw new Error(`never: ${holds}, with ${values}`);
            await new Promise((done) => setTimeout(done, 30));
        }
    }

    // Keys by name, or texts.
    async press(...keys) {
        const actions = keys.flatMap((key) => (special[key] ? [special[key]] : [...key])).flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
        await this.send("input.performActions", { context: this.context, actions: [{ type: "key", id: "keyboard", actions }] });
    }

    async chooseFile(selector, file) {
        const { nodes } = await this.send("browsingContext.locateNodes", { context: this.context, locator: { type: "css", value: selector } });
        await this.send("input.setFiles", { context: this.context, element: { sharedId: nodes[0].sharedId }, files: [file] });
    }

    async close() {
        const ended = new Promise((done) => this.process.removeAllListeners("exit").on("exit", done));
        if (this.process.exitCode !== null) return;
        await this.send("browser.close", {});
        await ended;
    }
}
