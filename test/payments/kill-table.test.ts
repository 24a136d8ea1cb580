import { openSolanaBooth, openTempoBooth } from './booth';
import { killTable } from './kill-table';

describe.each([
  ['Solana', openSolanaBooth],
  ['Tempo', openTempoBooth],
] as const)('killed in every state, on %s', (_, open) => killTable(open));
