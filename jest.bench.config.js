// Figures, not checks: `npm run bench` prints them. They never run with the tests.
module.exports = {
  ...require('./jest.config.js'),
  testMatch: ['<rootDir>/test/bench/**/*.bench.ts'],
  testTimeout: 1_800_000,
  maxWorkers: 1,
  reporters: ['<rootDir>/test/support/tally-reporter.js'],
};
