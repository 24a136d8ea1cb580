const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/**
 * Tests run in the process's own realm, as the program does, not in a context of vm: modules stay loaded and compiled from one test file to the next.
 * What a file did to globals it shares with the next (environment variables, mocks, timers, the console, fetch) is undone when it ends.
 */
module.exports = class OneRealm {
  global = globalThis;
  fakeTimers = null;
  moduleMocker = new ModuleMocker(globalThis);
  kept = { env: { ...process.env }, exit: process.exit, console: globalThis.console, fetch: globalThis.fetch };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    const { env, exit, console, fetch } = this.kept;
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
    Object.assign(globalThis, { console, fetch });
  }

  /** There is none: the runtime beside this file runs what it loads in this very realm. */
  getVmContext() {
    return null;
  }
};
