import { tellPast } from '../../src/cli/tell-past';
import { makeConfig } from '../../src/config';
import { freePort } from '../../src/lib/net';
import { makeLogger } from '../../src/observability/logger';
import { ROOT } from '../support/root';

test('a server that was started goes on where the database cannot be asked for past days just then, and says so', async () => {
  const logger = makeLogger('silent');
  const warn = jest.spyOn(logger, 'warn');
  const url = `postgresql://app@127.0.0.1:${await freePort()}/postgres`;
  expect(await tellPast(url, makeConfig({}, ROOT), logger, () => undefined)).toBeUndefined();
  expect(warn.mock.calls).toEqual([
    [{ err: expect.objectContaining({ message: expect.stringContaining('cannot be reached') }) }, 'signals of past days could not be told'],
  ]);
});
