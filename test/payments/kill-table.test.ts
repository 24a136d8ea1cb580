import { openSolanaBooth, openTempoBooth } from './booth';
import { killTable } from './kill-table';

describe.each([
  ['x402', openSolanaBooth],
  ['tempo', openTempoBooth],
] as const)('killed in every state, %s', killTable);
