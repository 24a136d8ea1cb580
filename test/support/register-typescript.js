// Lets a plain Node process run the TypeScript of src/ and test/ as it stands: no build, and none of jest's module machinery.
// Dynamic imports stay Node's own, as in the compiled program.
const Module = require('node:module');
const { transformFileSync } = require('@swc/core');

Module._extensions['.ts'] = (module, file) => {
  const { code } = transformFileSync(file, {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs', ignoreDynamic: true },
    sourceMaps: 'inline',
  });
  module._compile(code, file);
};
