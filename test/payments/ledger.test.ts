import { claimKeysOf, type Claim, type PaymentState } from '../../src/payments/claims';
import { PAYMENT_DEFAULTS } from '../../src/payments/config';
import { Ledger } from '../../src/payments/ledger';
import { type Sale, TRANSACTION_EXPIRED, type ValidProof } from '../../src/payments/protocol';
import { Rechallenge } from '../../src/payments/rechallenge';
import { type TestDatabase, testDatabase } from '../support/database';
import { rememberingLog, saleOf } from './till';

const KEPT_MS = 600_000;
const SILENT_MS = 5_000;
const MOST_FAULTS = 3;

describe('the ledger', () => {
  let database: TestDatabase;
  let ledger: Ledger;
  beforeAll(async () => {
    database = await testDatabase();
    ledger = new Ledger(database.pool, 'this process', rememberingLog([]));
  });
  afterAll(() => database.drop());

  let made = 0;
  /** A proof that shares nothing with any other, but for what is said. */
  function proofOf(over: Partial<ValidProof> = {}): ValidProof {
    const name = String((made += 1));
    const keys = { proof_key: `sol:${name}`, claim_keys: [`quote:${name}`], secrets: [`quote:secret ${name}`], buyer_keys: [] };
    const rest = { transaction: `tx ${name}`, offer_expires_at: null, raw: 'raw', details: {} };
    return { protocol: 'x402', payer: `payer ${name}`, amount: 20_000n, ...keys, ...rest, ...over };
  }
  const tryToClaim = (proof: ValidProof, sale: Sale = saleOf(), since = new Date(0)): Promise<Claim> =>
    ledger.claim(proof, sale, claimKeysOf(proof, null), { since, most: MOST_FAULTS }, KEPT_MS, SILENT_MS);
  async function claimed(proof: ValidProof, sale?: Sale): Promise<string> {
    const { id } = await tryToClaim(proof, sale);
    if (id === null) throw new Error('it was not claimed');
    return id;
  }
  const writeAhead = (id: string, { protocol, payer, amount, transaction, details }: ValidProof, proofKey: string): Promise<boolean> => {
    const record = { id, protocol, payer, amount, transaction: transaction ?? '', raw: 'raw', details, settle_by: null };
    return ledger.writeAhead({ ...record, created_at: new Date() }, proofKey, {
      answer: '"data"',
      began_at: new Date(),
      done_at: new Date(),
    });
  };
  async function sent(proof: ValidProof, sale?: Sale): Promise<string> {
    const id = await claimed(proof, sale);
    expect(await writeAhead(id, proof, proof.proof_key)).toBe(true);
    return id;
  }
  const release = (id: string, { proof_key }: ValidProof, details: ValidProof['details'] | null = null): Promise<boolean> =>
    ledger.release(id, proof_key, 'empty_result', false, details);
  const sql = (text: string, values: unknown[] = []) => database.pool.query<Record<string, unknown>>(text, values);
  const columnOf = async (id: string, name: string): Promise<unknown> =>
    (await sql(`SELECT ${name} AS value FROM payment WHERE id = $1`, [id])).rows[0]?.value;
  const stateOf = async (id: string): Promise<PaymentState> => (await columnOf(id, 'state')) as PaymentState;
  const holders = async (proof: ValidProof, kind: string): Promise<string[]> => {
    const { keys, kinds, collecting } = claimKeysOf(proof, null);
    const held = await ledger.listHeld({ keys: keys.filter((_, index) => kinds[index] === kind), kinds, collecting });
    return held.map(({ record }) => record.id);
  };

  describe('a step that is told late', () => {
    it('to let go: not of what was sent, and is being sent again', async () => {
      const [proof, unsent] = [proofOf(), proofOf()];
      const [id, other] = [await sent(proof), await sent(unsent)];
      await ledger.unknown(id, 'silence');
      expect((await ledger.takeOver(id))?.answer).toBe('"data"');
      expect([await release(id, proof), await stateOf(id)]).toEqual([false, 'BROADCASTING']);
      expect([await release(other, unsent), await stateOf(other)]).toEqual([true, 'RELEASED']);
    });

    it('to let go: not of a debt that is being served; of one that was just adopted', async () => {
      const [proof, again] = [proofOf(), proofOf()];
      const id = await claimed(proof);
      await ledger.owe(id, proof, 'tx', 'empty_result');
      await ledger.serveDebt(id);
      expect([await release(id, proof), await stateOf(id)]).toEqual([false, 'EXECUTING']);
      await release(await claimed(again), again, { admitted: true });
      const second = await claimed(again);
      expect(await ledger.adoptDebt(second)).toBe(true);
      expect([await release(second, again), await stateOf(second)]).toEqual([true, 'RELEASED']);
    });

    it('whose id is another payment’s by now, a crash of the database having lost the first: none', async () => {
      const [lost, other] = [proofOf(), proofOf()];
      const id = await claimed(other);
      expect(await release(id, lost)).toBe(false);
      expect(await ledger.owe(id, lost, 'tx', 'empty_result')).toBe(false);
      expect(await writeAhead(id, other, lost.proof_key)).toBe(false);
      expect(await stateOf(id)).toBe('RESERVED');
    });

    it('to send: not what was let go of', async () => {
      const proof = proofOf();
      const id = await claimed(proof);
      await release(id, proof);
      expect([await writeAhead(id, proof, proof.proof_key), await stateOf(id)]).toEqual([false, 'RELEASED']);
    });

    it('that it was handed out: keeps the moment that somebody else confirmed, and pays nothing that failed', async () => {
      const [id, failed] = [await sent(proofOf()), await sent(proofOf())];
      const settled_at = await ledger.confirmed(id, 'tx');
      await ledger.failed(failed, TRANSACTION_EXPIRED);
      for (const one of [id, failed]) ledger.delivered({ id: one, transaction: 'tx', settled_at: new Date(0) }, KEPT_MS);
      await ledger.flush();
      expect([await stateOf(id), await columnOf(id, 'settled_at')]).toEqual(['DELIVERED', settled_at]);
      expect([await stateOf(failed), await columnOf(failed, 'settled_at')]).toEqual(['EXPIRED', null]);
    });
  });

  describe('a payment that landed takes on the debt of an earlier one', () => {
    const path = '/api/v1/markets/other';
    const elsewhere = { path, request_hash: saleOf({ path }).request_hash };
    it.each<[of: string, later: Partial<ValidProof>, sale: Partial<Sale>, details: ValidProof['details'] | null, adopted: boolean]>([
      ['the same buyer', {}, {}, { admitted: true }, true],
      ['whose transaction was on the chain before', {}, {}, null, false],
      ['somebody else', { payer: 'somebody else' }, {}, { admitted: true }, false],
      ['who does not know its secret', { secrets: ['quote:another'] }, {}, { admitted: true }, false],
      ['another request', {}, elsewhere, { admitted: true }, false],
    ])('%s', async (_, later, sale, details, adopted) => {
      const proof = proofOf();
      await release(await claimed(proof), proof, details);
      expect(await ledger.adoptDebt(await claimed({ ...proof, ...later }, saleOf(sale)))).toBe(adopted);
    });

    it('of which a process that ended wrote no more down', async () => {
      const proof = proofOf();
      const id = await claimed(proof);
      await release(id, proof);
      await sql("UPDATE payment SET reason = 'process_ended' WHERE id = $1", [id]);
      expect(await ledger.adoptDebt(await claimed(proof))).toBe(true);
    });
  });

  describe('who claims is told of what it has paid for, or may have,', () => {
    const path = '/api/v1/markets/other';
    const elsewhere = saleOf({ path, request_hash: saleOf({ path }).request_hash });

    it('of its debt alone, and for the same request', async () => {
      const debt = proofOf();
      const id = await claimed(debt);
      await ledger.owe(id, debt, 'tx', 'empty_result');
      const owedTo = async (payer: string, sale?: Sale): Promise<unknown> => (await tryToClaim(proofOf({ payer }), sale)).owed;
      expect([await owedTo(debt.payer), await owedTo(debt.payer, elsewhere), await owedTo('somebody else')]).toEqual([id, null, null]);
    });

    it('of what was sent and is not confirmed, once its end was not heard, though it is taken up again', async () => {
      await sql("INSERT INTO payment_instance (id) VALUES ('this process')");
      const proof = proofOf();
      const toldOf = async (payer: string, sale?: Sale): Promise<unknown[]> => {
        const { unsettled, undecided } = await tryToClaim(proofOf({ payer }), sale);
        return [unsettled, undecided];
      };
      const id = await sent(proof);
      expect(await toldOf(proof.payer)).toEqual([null, 0]);
      await ledger.unknown(id, 'silence');
      expect([await toldOf(proof.payer), await toldOf(proof.payer, elsewhere), await toldOf('nobody')]).toEqual([[id, 1], [null, 1], [null, 0]]); // prettier-ignore
      await ledger.takeOver(id);
      expect(await toldOf(proof.payer)).toEqual([id, 1]);
    });
  });

  it('a payer has still to pay what is reserved, under way or unheard of, not what it owes no more', async () => {
    const payer = 'payer of many';
    await claimed(proofOf({ payer, amount: 1n }));
    await sent(proofOf({ payer, amount: 10n }));
    await ledger.unknown(await sent(proofOf({ payer, amount: 100n })), 'silence');
    const debt = proofOf({ payer, amount: 1_000n });
    const owed = await claimed(debt);
    await ledger.owe(owed, debt, 'tx', 'empty_result');
    await ledger.serveDebt(owed);
    const gone = proofOf({ payer, amount: 10_000n });
    await release(await claimed(gone), gone);
    await claimed(proofOf({ amount: 100_000n }));
    const { id, open_sum } = await tryToClaim(proofOf({ payer, amount: 1_000_000n }));
    await claimed(proofOf({ payer, amount: 10_000_000n }));
    expect([open_sum, await ledger.sumOpen(payer, String(id))]).toEqual([1_000_111n, 1_000_111n]);
  });

  it('who let too many settlements fail lately is turned away, and nobody else', async () => {
    const payer = 'payer without luck';
    const reject = async (reason: string): Promise<void> => void (await ledger.failed(await sent(proofOf({ payer })), reason));
    await reject(TRANSACTION_EXPIRED);
    for (let faults = 0; faults < MOST_FAULTS; faults += 1) await reject('transaction_reverted');
    expect(await tryToClaim(proofOf({ payer }))).toMatchObject({ id: null, faults: MOST_FAULTS });
    expect(await tryToClaim(proofOf({ payer }), saleOf(), new Date(Date.now() + 60_000))).toMatchObject({ faults: 0 });
    expect(await tryToClaim(proofOf())).toMatchObject({ faults: 0 });
  });

  describe('keys', () => {
    it('whose time is over hold nothing, before anybody sweeps them out as well', async () => {
      const proof = proofOf();
      const id = await sent(proof);
      ledger.delivered({ id, transaction: 'tx', settled_at: new Date() }, KEPT_MS);
      await ledger.flush();
      expect([await holders(proof, 'secret'), (await tryToClaim({ ...proofOf(), secrets: proof.secrets })).id]).toEqual([[id], null]);
      await sql("UPDATE payment_claim SET expires_at = now() - interval '1 second' WHERE payment_id = $1 AND kind = 'secret'", [id]);
      expect(await holders(proof, 'secret')).toEqual([]);
      const later = await claimed({ ...proofOf(), secrets: proof.secrets });
      expect([await holders(proof, 'secret'), await holders(proof, 'proof')]).toEqual([[later], [id]]);
    });

    it('that its buyer chose, and its turn, are free again once it has failed; the proof is used', async () => {
      const proof = proofOf({ buyer_keys: ['pid:an order'], turn: 'tempo:payer:5:1' });
      const next = (): ValidProof => proofOf({ payer: proof.payer, buyer_keys: proof.buyer_keys, turn: 'tempo:payer:5:1' });
      const id = await sent(proof);
      expect((await tryToClaim(next())).id).toBeNull();
      await ledger.failed(id, 'transaction_reverted');
      expect([(await tryToClaim(proof)).id, (await tryToClaim(next())).id]).toEqual([null, expect.any(String)]);
    });

    it('of a fresh proof that is given an earlier answer collect that one for a while; its transaction stays its own', async () => {
      const [earlier, fresh] = [proofOf(), proofOf()];
      const [to, from] = [await sent(earlier), await claimed(fresh)];
      await ledger.passKeys(from, to);
      expect([await holders(fresh, 'secret'), await holders(fresh, 'proof')]).toEqual([[to], [from]]);
      const { rows } = await sql("SELECT expires_at > now() AS lives FROM payment_claim WHERE payment_id = $1 AND kind = 'secret'", [to]);
      expect(rows.map(({ lives }) => lives).sort()).toEqual([null, true]);
    });
  });

  it('an answer waits for its payer and its request alone, and for its time', async () => {
    const kept = (rechallenge_ms: number) => new Rechallenge(database.pool, { ...PAYMENT_DEFAULTS, rechallenge_ms });
    const [path, payer] = ['/api/v1/markets/other', 'payer who waits'];
    const [asked, other] = [saleOf(), saleOf({ path, request_hash: saleOf({ path }).request_hash })];
    await kept(60_000).keep(payer, asked.request_hash, '"waits"');
    await kept(-1).keep('payer who came too late', asked.request_hash, '"waits"');
    const waitsFor = async (of: string, sale: Sale): Promise<unknown> => {
      const { waiting, kept: count } = await tryToClaim(proofOf({ payer: of }), sale);
      return [waiting, (await kept(0).find(of, sale.request_hash)) ?? null, count];
    };
    expect(await waitsFor(payer, asked)).toEqual(['"waits"', '"waits"', 1]);
    expect(await waitsFor(payer, other)).toEqual([null, null, 1]);
    expect(await waitsFor('somebody else', asked)).toEqual([null, null, 0]);
    expect(await waitsFor('payer who came too late', asked)).toEqual([null, null, 1]);
  });
});
