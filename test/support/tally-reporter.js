// One plain closing line that any log reader understands; with `failures: true`, where no other reporter tells them, why tests failed.
module.exports = class TallyReporter {
  constructor(_config, { failures = false } = {}) {
    this.tellsFailures = failures;
  }

  onTestResult(_test, { failureMessage }) {
    if (this.tellsFailures && failureMessage) process.stderr.write(`${failureMessage}\n`);
  }

  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    process.stdout.write(`\n${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests} skipped\n`);
  }
};
