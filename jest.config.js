const os = require('node:os');

const GB = 1024 ** 3;
/** Memory that is free, or that a container allows. */
const room = Math.min(os.freemem(), process.constrainedMemory?.() || Infinity);

// Here too: what is run before and after all tests is TypeScript.
require('./test/support/register-typescript');

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/support/one-realm/environment.js',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // As the program runs: no context of vm, whose globals cost a call each, and modules stay from file to file.
  runtime: '<rootDir>/test/support/one-realm/runtime.js',
  transform: {},
  // A test that hangs fails; a busy machine may take many times what a quiet one takes.
  testTimeout: 300_000,
  // Half of the work is PostgreSQL's and the chains': two files at once keep two cores busy, but for what payments and feeds wait for. A third works
  // meanwhile where there is room: each takes a GB or so, and so do the databases.
  maxWorkers: room > 8 * GB ? 3 : 2,
  testSequencer: '<rootDir>/test/support/slow-first.js',
  reporters: ['default', '<rootDir>/test/support/tally-reporter.js'],
};
