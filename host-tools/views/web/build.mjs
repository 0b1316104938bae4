// SPDX-License-Identifier: Apache-2.0
// node build.mjs OUTPUT: the page as one file, with a place for its data, and the licences of what is in it.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const here = (name) => new URL(name, import.meta.url).pathname;
const bundledPackages = new Set();
const bundled = async (entry) => {
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
        write: false,
        absWorkingDir: here("."),
    });
    for (const input of Object.keys(metafile.inputs)) {
        const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
        if (name) bundledPackages.add(name[1]);
    }
    return outputFiles[0].text;
};

const [script, style] = [await bundled("src/main.ts"), await bundled("src/style.css")];
if (/<\/(script|style)/i.test(script + style)) throw new Error("a bundle would end its own element");
const licences = [...bundledPackages].sort().map((name) => {
    const file = here(`node_modules/${name}/LICENSE`);
    if (!existsSync(file)) throw new Error(`${name} has no LICENSE to pass on`);
    return `${name}\n\n${readFileSync(file, "utf8").trim()}`;
});
const page = readFileSync(here("src/page.html"), "utf8")
    .replace("/*style*/", () => style)
    .replace("/*script hash*/", () => `sha256-${createHash("sha256").update(script).digest("base64")}`)
    .replace("/*licences*/", () => licences.join("\n\n").replaceAll("--", "- -"))
    .replace("/*script*/", () => script);
writeFileSync(process.argv[2], page);
