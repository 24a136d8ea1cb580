import { PAYMENT_DEFAULTS } from '../../src/payments/config';

// For gateways under test: how fast a local chain answers on a busy machine is no part of what is tested.
Object.assign(PAYMENT_DEFAULTS, { rpc_ms: 20_000, admission_ms: 30_000 });
