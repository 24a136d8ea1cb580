const path = require('node:path');
const { sourceMaps } = require('../register-typescript');

/** Symbols of the global object by which jest-circus keeps what it knows, tests with all they hold included; it begins each file with none. */
const KEPT_BY_CIRCUS = ['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL', 'RETRY_TIMES'];

const TESTS = path.resolve(__dirname, '../..') + path.sep;
const LIBRARIES = `${path.sep}node_modules${path.sep}`;

/**
 * Loads test files and what they ask for by Node's own `require`, in the realm of the process: the other half of the environment beside this file. Libraries and
 * the program stay loaded; what is TypeScript below test/ is loaded for each test file anew. Of jest's own runtime it has what its runner and jest-circus call;
 * modules cannot be mocked.
 */
module.exports = class OneRealmRuntime {
  constructor(_config, environment, _resolver, _transformer, _sources, _coverage, _testPath, globalConfig) {
    this.watched = globalConfig.watch || globalConfig.watchAll;
    globalThis.jest = jestOf(environment);
  }

  requireModule(file) {
    return require(file);
  }

  requireInternalModule(file) {
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (KEPT_BY_CIRCUS.includes(symbol.description)) delete globalThis[symbol];
    delete require.cache[file];
    return require(file);
  }

  unstable_shouldLoadAsEsm() {
    return false;
  }

  setGlobalsForRuntime() {}
  enterTestCode() {}
  leaveTestCode() {}

  getSourceMaps() {
    return sourceMaps;
  }

  getAllCoverageInfoCopy() {
    return {};
  }

  teardown() {
    // Whoever watches changes the program between runs.
    const isOver = (file) => file.endsWith('.ts') && (file.startsWith(TESTS) || (this.watched && !file.includes(LIBRARIES)));
    for (const file of Object.keys(require.cache)) if (isOver(file)) delete require.cache[file];
    // Node remembers who asked for what, and whatever that holds.
    module.children.length = 0;
  }
};

/** `jest` of test files: what concerns functions and time. */
function jestOf({ moduleMocker, fakeTimersModern: timers }) {
  const jest = {
    fn: moduleMocker.fn.bind(moduleMocker),
    spyOn: moduleMocker.spyOn.bind(moduleMocker),
    restoreAllMocks: () => (moduleMocker.restoreAllMocks(), jest),
    useFakeTimers: (options) => (timers.useFakeTimers(options), jest),
    useRealTimers: () => (timers.useRealTimers(), jest),
    setSystemTime: (now) => timers.setSystemTime(now),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    setTimeout: (ms) => ((globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = ms), jest),
  };
  return jest;
}
