import { startApp } from '../../../src/app';
import { makeConfig } from '../../../src/config';
import { freePort } from '../../../src/lib/net';
import { makeLogger } from '../../../src/observability/logger';
import type { PaymentsSettings } from '../../../src/payments/config';
import { ROOT } from '../../support/root';
import { serve } from '../child';

/** The whole product as `npm start` composes it, without the limits on unpaid requests. */
void serve<{ databaseUrl: string; clock: string; payments: PaymentsSettings }, { url: string }>(async (settings) => {
  const environment = { WORLD: 'none', UNPAID_PER_MINUTE: '0', EMPTY_PER_MINUTE: '0', CLOCK: settings.clock };
  const config = { ...makeConfig(environment, ROOT), port: await freePort(), internalPort: await freePort() };
  const { databaseUrl, payments } = settings;
  const app = await startApp({ config, root: ROOT, version: '0.0.0-bench', databaseUrl, payments, logger: makeLogger('warn') });
  return { ready: { url: app.publicUrl }, stop: () => app.stop() };
});
