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
  testTimeout: 120_000,
  // Half of the work is PostgreSQL's and the chains': two files at once keep two cores busy.
  maxWorkers: 2,
  testSequencer: '<rootDir>/test/support/slow-first.js',
  reporters: ['default', '<rootDir>/test/support/tally-reporter.js'],
};
