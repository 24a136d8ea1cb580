const { sourceMaps } = require('../register-typescript');

/** What jest-circus keeps from file to file where all share a realm; it begins each with none. */
const KEPT_BY_CIRCUS = ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL', 'RETRY_TIMES'].map((name) => Symbol.for(name));

/** Files that node caches anew. */
const forget = (path) => delete require.cache[path];

/**
 * Loads test files and what they ask for by Node's own `require`, in the realm of the process: the other half of the environment beside this file. Of jest's
 * own runtime it has what its runner and jest-circus call; modules cannot be mocked.
 */
module.exports = class OneRealmRuntime {
  constructor(_config, environment, _resolver, _transformer, _sources, _coverage, testPath, globalConfig) {
    this.environment = environment;
    this.testPath = testPath;
    this.watched = globalConfig.watch || globalConfig.watchAll;
    globalThis.jest = jestOf(environment);
  }

  requireModule(path) {
    forget(path);
    return require(path);
  }

  requireInternalModule(path) {
    for (const symbol of KEPT_BY_CIRCUS) delete globalThis[symbol];
    return this.requireModule(path);
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
    forget(this.testPath);
    // Whoever watches changes files between runs.
    if (this.watched)
      Object.keys(require.cache)
        .filter((path) => !path.includes('node_modules'))
        .forEach(forget);
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
