const Sequencer = require('@jest/test-sequencer').default;

/** Without a record of former runs jest begins with the largest files; these take longest, whatever their size, and nothing should wait for one at the end. */
const SLOW = [
  'payments/kill-table',
  'endpoints-samples',
  'workers/killed',
  'cli/program',
  'as-of',
  'endpoints-answers',
  'sandbox/simulator/prediction',
  'workers/backdate',
  'payments/rpc-faults',
  'venues/prediction/rollups/told',
  'payments/crash',
  'venues/prediction/rollups/positions',
  'payments/two-gateways',
  'sandbox/simulator/lp',
  'sandbox/simulator/perps',
];

module.exports = class SlowFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => SLOW.findIndex((name) => path.endsWith(`/test/${name}.test.ts`)) + 1 || Infinity;
    return super.sort(tests).sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
  }
};
