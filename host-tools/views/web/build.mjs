// SPDX-License-Identifier: Apache-2.0
// node build.mjs ENGINE OUTPUT NAME=FILE...: the page as one file, with the engine (engine.wasm), places for its
// data and its recording, and the licences of what is in it; the FILEs are those of what is in ENGINE.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const here = (name) => new URL(name, import.meta.url).pathname;
const bundledPackages = new Set();
const bundled = async (entry, define = {}) => {
    const { outputFiles, metafile } = await build({
        entryPoints: [here(entry)],
        bundle: true,
        minify: true,
        // d3-flame-graph asks for the name of a class.
        keepNames: true,
        format: "esm",
        target: "es2022",
        legalComments: "inline",
        charset: "utf8",
        metafile: true,
        define,
        write: false,
        absWorkingDir: here("."),
    });
    for (const input of Object.keys(metafile.inputs)) {
        const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
        if (name) bundledPackages.add(name[1]);
    }
    return outputFiles[0].text;
};

const [engine, output, ...engineLicences] = process.argv.slice(2);
const worker = await bundled("src/worker.ts");
const script = await bundled("src/main.ts", { workerCode: JSON.stringify(worker) });
const style = await bundled("src/style.css");
if (/<\/(script|style)/i.test(script + style)) throw new Error("a bundle would end its own element");
const licences = [...bundledPackages].sort().map((name) => {
    const file = here(`node_modules/${name}/LICENSE`);
    if (!existsSync(file)) throw new Error(`${name} has no LICENSE to pass on`);
    return `${name}\n\n${readFileSync(file, "utf8").trim()}`;
});
for (const one of engineLicences) {
    const [name, file] = one.split("=");
    licences.push(`${name}\n\n${readFileSync(file, "utf8").trim()}`);
}
const page = readFileSync(here("src/page.html"), "utf8")
    .replace("/*style*/", () => style)
    .replace("/*script hash*/", () => `sha256-${createHash("sha256").update(script).digest("base64")}`)
    .replace("/*licences*/", () => licences.join("\n\n").replaceAll("--", "- -"))
    .replace("<!--engine-->", () => gzipSync(readFileSync(engine), { level: 9 }).toString("base64"))
    .replace("/*script*/", () => script);
writeFileSync(output, page);
