// One plain closing line that any log reader understands.
module.exports = class TallyReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    process.stdout.write(`\n${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests} skipped\n`);
  }
};
