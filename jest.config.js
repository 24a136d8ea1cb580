const os = require('node:os');

const GB = 1024 ** 3;
/** Memory that is free, or that a container allows. */
const room = Math.min(os.freemem(), process.constrainedMemory?.() || Infinity);

// ESM-only packages (the stock payment clients) are compiled to CommonJS for jest; Node itself requires them as they are.
const esmOnly = ['mppx', '@solana/mpp'];
const swc = ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } }];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  transform: { '^.+\\.[cm]?[jt]s$': swc },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
  // Tests run in a context of their own, where each look at a global is a call into C++: what never changes is handed to modules by name.
  sandboxInjectedGlobals: [
    ...['Array', 'BigInt', 'Error', 'Function', 'Intl', 'JSON', 'Map', 'Math', 'Number', 'Object', 'Promise'],
    ...['Proxy', 'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'TypeError', 'Uint8Array', 'WeakMap'],
  ],
  // A test that hangs fails; a busy machine may take many times what a quiet one takes.
  testTimeout: 300_000,
  // Half of the work is PostgreSQL's and the chains': two files at once keep two cores busy, but for what payments and feeds wait for. A third works
  // meanwhile where there is room: each takes up to a GB, and so do the databases.
  maxWorkers: room > 8 * GB ? 3 : 2,
  testSequencer: '<rootDir>/test/support/slow-first.js',
  reporters: ['default', '<rootDir>/test/support/tally-reporter.js'],
};
