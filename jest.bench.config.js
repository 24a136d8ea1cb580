// Figures, not checks: `npm run bench` prints them. They never run with the tests.
module.exports = {
  ...require('./jest.config.js'),
  testMatch: ['<rootDir>/test/bench/**/*.bench.ts'],
  // Large worlds, and those that live for a year, take an hour to build beside other work.
  testTimeout: 10_800_000,
  maxWorkers: 1,
  reporters: [['<rootDir>/test/support/tally-reporter.js', { failures: true }]],
};
