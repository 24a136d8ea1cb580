import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type App, startApp } from '../../src/app';
import { type Config, makeConfig } from '../../src/config';
import { freePort } from '../../src/lib/net';
import { makeLogger } from '../../src/observability/logger';
import type { PaymentsSettings } from '../../src/payments/config';
import { type SandboxChains, startSandboxChains } from '../../src/sandbox/sandbox';
import { type SandboxWallets, readSandboxWallets } from '../../src/sandbox/wallets';
import { ROOT } from './root';
import { testDatabase } from './database';

/** A running product over a database and local chains of its own, without a world. */
export interface Product extends App {
  pool: Awaited<ReturnType<typeof testDatabase>>['pool'];
  chains: SandboxChains;
  wallets: SandboxWallets;
  close(): Promise<void>;
}

/** Starts the whole product on free ports. `clock` (ISO) holds the now of analytics still; `till` is what payments are set to beside the chains. */
export async function startProduct(
  overrides: Partial<Config> = {},
  clock?: string,
  till: Partial<PaymentsSettings> = {},
): Promise<Product> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'product-'));
  const [db, chains, port, internalPort] = await Promise.all([testDatabase(), startSandboxChains(folder), freePort(), freePort()]);
  const environment = { WORLD: 'none', UNPAID_PER_MINUTE: '0', EMPTY_PER_MINUTE: '0', ...(clock ? { CLOCK: clock } : {}) };
  const config: Config = { ...makeConfig(environment, ROOT), port, internalPort, ...overrides };
  const payments = { realm: 'localhost', ...chains.payments, ...till };
  const app = await startApp({ config, root: ROOT, version: '0.0.0-test', databaseUrl: db.url, payments, logger: makeLogger('silent') });
  return {
    ...app,
    pool: db.pool,
    chains,
    wallets: readSandboxWallets(folder),
    close: async () => {
      await app.stop();
      await Promise.all([chains.stop(), db.drop()]);
      fs.rmSync(folder, { recursive: true });
    },
  };
}
