import { openSolanaBooth, openTempoBooth } from './booth';
import { killTable } from './kill-table';

describe('killed in every state', () => killTable([openSolanaBooth, openTempoBooth]));
