import { execFileSync } from 'node:child_process';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');
const REGISTER = path.join(ROOT, 'test/support/register-typescript.js');

// In a process of its own: what goes unheard ends it, and jest hides that.
const PROGRAM = `
const { inTransactionAt } = require('./src/db/transaction');
const pool = { connect: async () => ({ query: async () => undefined, release: () => undefined }) };
const turn = new Promise((_, reject) => setTimeout(() => reject(new Error('the one before failed')), 5));
turn.catch(() => undefined);
const work = async (_client, begun) => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  await begun;
};
inTransactionAt(pool, turn, work).catch((error) => console.log('told:', error.message));
`;

test('work whose turn never comes hears of it when it asks, and the process goes on', () => {
  const told = execFileSync(process.execPath, ['--require', REGISTER, '-e', PROGRAM], { cwd: ROOT, encoding: 'utf8' });
  expect(told).toBe('told: the one before failed\n');
});
