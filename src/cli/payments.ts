import type { Config } from '../config';
import { SOLANA_USDC_MINTS, TEMPO_USDC } from '../payments/assets';
import type { PaymentsSettings } from '../payments/config';

/** Payment settings of a configured environment; `sandbox` supplies chains and secrets where none are configured. */
export function paymentSettings(config: Config, sandbox: Pick<PaymentsSettings, 'solana' | 'tempo' | 'secrets'> | null): PaymentsSettings {
  const realm = config.publicUrl === false ? 'localhost' : new URL(config.publicUrl).host;
  const common = { realm, body_mode: config.bodyMode };
  if (sandbox !== null)
    return { ...common, ...sandbox, secrets: config.paymentSecrets.length > 0 ? config.paymentSecrets : sandbox.secrets };
  return {
    ...common,
    secrets: config.paymentSecrets,
    solana: config.solana && { ...config.solana, mint: SOLANA_USDC_MINTS[config.solana.network] },
    tempo: config.tempo && { ...config.tempo, usdc: TEMPO_USDC },
  };
}
