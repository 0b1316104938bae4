// SPDX-License-Identifier: Apache-2.0
// run.mjs MODULE DIRECTORY ARGUMENT...: runs a module of WASI, which sees the directory as /.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [module, directory, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: [module, ...rest], preopens: { '/': directory }, returnOnExit: true });
const { instance } = await WebAssembly.instantiate(await readFile(module), { wasi_snapshot_preview1: wasi.wasiImport });
process.exitCode = wasi.start(instance);
