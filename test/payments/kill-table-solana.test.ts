import { openMppSolanaBooth } from './booth';
import { killTable } from './kill-table';

// The engine below is that of x402, which is killed everywhere: here in the states whose way back leads through the challenge.
describe('killed, MPP solana', () => {
  killTable('solana', openMppSolanaBooth, {
    deaths: ['VALIDATED', 'RESULT_READY', 'SENT', 'UNKNOWN', 'CONFIRMED'],
    faults: ['no fault', 'dropped reply', 'stale answer'],
  });
});
