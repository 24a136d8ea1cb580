import type { Config } from '../config';
import type { Database } from '../db/client';
import { makeLogger } from '../observability/logger';
import { createPayments } from '../payments/charge';
import { listUnsettled } from '../payments/upkeep';
import { joinSandboxChains } from '../sandbox/sandbox';
import { type Command, parseOptions } from './command';
import { withDatabase } from './open';
import { paymentSettings } from './payments';

/**
 * Looks up every payment nobody heard the end of, by the chain's word, and prints those that are not at their end, a line each, and last what became of
 * them all. Exit code 1 while some stay open.
 */
export const command: Command = async (args, place) => {
  parseOptions(args, [], 'npm run reconcile');
  const look = async (db: Database, config: Config): Promise<number> => {
    const settings = paymentSettings(config, config.sandbox ? joinSandboxChains(config.sandboxDir) : null);
    const payments = await createPayments(settings, { pool: db.pool, logger: makeLogger(config.logLevel) });
    try {
      const report = await payments.reconcile('all');
      for (const line of [...(await listUnsettled(db.pool)), report]) process.stdout.write(`${JSON.stringify(line)}\n`);
      return report.open === 0 ? 0 : 1;
    } finally {
      await payments.stop();
    }
  };
  return withDatabase(place, look, { outdated: 'fine' });
};
