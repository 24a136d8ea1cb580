import { makeLogger } from '../observability/logger';
import { createPayments } from '../payments/charge';
import { joinSandboxChains } from '../sandbox/sandbox';
import { type Command, parseOptions } from './command';
import { withDatabase } from './open';
import { paymentSettings } from './payments';

/** Looks up every payment nobody heard the end of, by the chain's word, and prints what became of them. Exit code 1 while some stay open. */
export const command: Command = async (args, place) => {
  parseOptions(args, [], 'npm run reconcile');
  return withDatabase(place, async (db, config) => {
    const settings = paymentSettings(config, config.sandbox ? joinSandboxChains(config.sandboxDir) : null);
    const payments = await createPayments(settings, { pool: db.pool, logger: makeLogger(config.logLevel) });
    try {
      const report = await payments.reconcile('all');
      process.stdout.write(`${JSON.stringify(report)}\n`);
      return report.open === 0 ? 0 : 1;
    } finally {
      await payments.stop();
    }
  });
};
