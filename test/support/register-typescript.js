// Lets a Node process run the TypeScript of src/ and test/ as it stands: no build, and none of jest's module machinery.
// Dynamic imports stay Node's own, as in the compiled program.
const crypto = require('node:crypto');
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { version } = require('@swc/core/package.json');

const OPTIONS = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  module: { type: 'commonjs', ignoreDynamic: true },
  sourceMaps: true,
};
/** Tests start hundreds of processes, and each reads hundreds of files: what a file comes to is kept for the next. */
const CACHE = path.resolve(__dirname, '../../node_modules/.cache/register-typescript', version);
fs.mkdirSync(CACHE, { recursive: true });
// So is what a library compiles to, from Node 22 on.
Module.enableCompileCache?.(path.join(CACHE, 'compiled'));

/** Where the map of each file that was read is kept. */
const sourceMaps = new Map();
exports.sourceMaps = sourceMaps;

function codeOf(file) {
  const source = fs.readFileSync(file, 'utf8');
  const kept = path.join(
    CACHE,
    crypto
      .createHash('sha1')
      .update(`${file}\n${JSON.stringify(OPTIONS)}\n${source}`)
      .digest('hex'),
  );
  sourceMaps.set(file, `${kept}.map`);
  try {
    return fs.readFileSync(kept, 'utf8');
  } catch {
    const { code, map } = require('@swc/core').transformSync(source, { ...OPTIONS, filename: file });
    write(`${kept}.map`, map);
    write(kept, code);
    return code;
  }
}

/** Whole or not at all: others read meanwhile. */
function write(file, text) {
  const own = `${file}.${process.pid}`;
  fs.writeFileSync(own, text);
  fs.renameSync(own, file);
}

Module._extensions['.ts'] = (module, file) => module._compile(codeOf(file), file);
