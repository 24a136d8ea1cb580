import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../support/root';

test('headers by which somebody pays or collects reach no log; it is JSON on stderr, each line with its time', () => {
  const names = ['authorization', 'payment-signature', 'x-payment', 'cookie', 'idempotency-key'];
  const headers = Object.fromEntries([...names.map((name) => [name, 'hush']), ['x-payer', 'told']]);
  const program = `require(${JSON.stringify(path.join(ROOT, 'src/observability/logger.ts'))}).makeLogger('info').info(${JSON.stringify({ headers, request: { headers } })}, 'said')`;
  const register = path.join(ROOT, 'test/support/register-typescript.js');
  const line = execFileSync('/bin/sh', ['-c', '"$0" "$@" 2>&1 >/dev/null', process.execPath, '-r', register, '-e', program], {
    encoding: 'utf8',
  });
  expect(line).not.toContain('hush');
  expect(JSON.parse(line)).toMatchObject({ msg: 'said', time: expect.stringMatching(/Z$/), headers: { 'x-payer': 'told' } });
});
