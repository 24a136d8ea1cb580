import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { claimKeysOf, type Claim, type PaymentState } from '../../src/payments/claims';
import { PAYMENT_DEFAULTS } from '../../src/payments/config';
import { DELIVERED_AFTER_MS, Deliveries } from '../../src/payments/deliveries';
import { Ledger } from '../../src/payments/ledger';
import { type Sale, TRANSACTION_EXPIRED, type ValidProof } from '../../src/payments/protocol';
import { Rechallenge } from '../../src/payments/rechallenge';
import { Upkeep, takeForFinal } from '../../src/payments/upkeep';
import { type TestDatabase, testDatabase } from '../support/database';
import { rememberingLog, saleOf, until } from './till';

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
  async function sent(proof: ValidProof): Promise<string> {
    const id = await claimed(proof);
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
      await sql("UPDATE payment SET instance = 'a process that ended' WHERE id = $1", [id]);
      expect([(await ledger.takeOver(id))?.answer, await columnOf(id, 'instance')]).toEqual(['"data"', 'this process']);
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
    for (let faults = 1; faults < MOST_FAULTS; faults += 1) await reject('transaction_reverted');
    const [harmless, unsent] = [proofOf({ payer }), proofOf({ payer })];
    await release(await claimed(harmless), harmless);
    await ledger.release(await claimed(unsent), unsent.proof_key, 'settlement_failed', true, null);
    expect(await tryToClaim(proofOf({ payer }))).toMatchObject({ id: null, faults: MOST_FAULTS });
    expect(await tryToClaim(proofOf({ payer }), saleOf(), new Date(Date.now() + 60_000))).toMatchObject({ faults: 0 });
    expect(await tryToClaim(proofOf())).toMatchObject({ faults: 0 });
  });

  it('what is at its end holds no bytes that could be sent again; what failed no answer either, and is looked for no more', async () => {
    const proof = proofOf();
    const [paid, failed, released] = [await sent(proofOf()), await sent(proofOf()), await sent(proof)];
    await ledger.confirmed(paid, 'tx');
    await release(released, proof);
    await ledger.unknown(failed, 'silence');
    expect([await columnOf(failed, 'raw'), await columnOf(failed, 'look_at')]).toEqual(['raw', expect.any(Date)]);
    await ledger.failed(failed, TRANSACTION_EXPIRED);
    const left = (id: string): Promise<unknown[]> => Promise.all(['raw', 'answer', 'look_at'].map((name) => columnOf(id, name)));
    expect([await left(paid), await left(failed), await left(released)]).toEqual([
      [null, '"data"', expect.any(Date)],
      [null, null, null],
      [null, null, null],
    ]);
  });

  it('a debt that could not be served keeps what was found of its own transaction, whichever proof called it in', async () => {
    const debt = proofOf({ details: { source: 'its own' } });
    const id = await claimed(debt);
    await ledger.owe(id, debt, 'tx', 'empty_result');
    await ledger.serveDebt(id);
    const fresh = proofOf({ payer: debt.payer, details: { source: 'another' } });
    expect([await ledger.owe(id, fresh, 'tx', 'query_timeout'), await stateOf(id)]).toEqual([true, 'OWED']);
    expect(await columnOf(id, 'details')).toMatchObject({ source: 'its own' });
  });

  it('an answer that is handed out to another proof of its payer is kept for its time from then on, and no longer', async () => {
    const answers = async (keptMs: number): Promise<unknown> => {
      const id = await sent(proofOf());
      const settled_at = await ledger.confirmed(id, 'tx');
      expect(await ledger.handOut(id, keptMs, await claimed(proofOf()))).toMatchObject({ answer: '"data"', settled_at });
      await new Upkeep(database.pool, 'this process').purge();
      return columnOf(id, 'answer');
    };
    expect([await answers(KEPT_MS), await answers(-1)]).toEqual(['"data"', null]);
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

    it('that somebody else claims in the same moment, who is another payer: not claimed, and no failure', async () => {
      const proof = proofOf();
      const other = await database.pool.connect();
      await other.query(`BEGIN; INSERT INTO payment_claim (key, kind, payment_id) VALUES ('${proof.proof_key}', 'proof', 0)`);
      const claiming = tryToClaim(proof);
      const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await until(async () => (await sql(waiting)).rowCount === 1);
      await other.query('COMMIT');
      other.release();
      expect(await claiming).toMatchObject({ id: null, faults: 0 });
    });

    it('that several payments hold are told with the newest first', async () => {
      const [first, second] = [proofOf(), proofOf()];
      const ids = [await claimed(first), await claimed(second)];
      const keys = [claimKeysOf(first, null), claimKeysOf(second, null)].flatMap((one) => one.keys);
      const held = await ledger.listHeld({ keys, kinds: [], collecting: [] });
      expect(held.map(({ record }) => record.id)).toEqual(ids.reverse());
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

  describe('the upkeep', () => {
    let upkeep: Upkeep;
    beforeAll(() => (upkeep = new Upkeep(database.pool, 'this process')));
    const lastStep = async (id: string): Promise<Record<string, unknown>> =>
      (await sql('SELECT state, note FROM payment_step WHERE payment_id = $1 ORDER BY step DESC LIMIT 1', [id])).rows[0] ?? {};
    const owing = async (proof: ValidProof): Promise<string> => {
      const id = await claimed(proof);
      await ledger.owe(id, proof, 'tx', 'empty_result');
      await ledger.serveDebt(id);
      return id;
    };

    it('lets go of what a process that ended had not sent; a debt stays one, and what may have been sent waits for the chain', async () => {
      await upkeep.beat();
      const [unsent, debt, under, other] = [proofOf(), proofOf(), proofOf({ turn: 'tempo:payer:6:1' }), proofOf()];
      const left = [await claimed(unsent), await owing(debt), await sent(under)];
      const alive = await claimed(other);
      await sql("UPDATE payment SET instance = 'a process that ended' WHERE id = ANY ($1)", [left]);
      expect(await upkeep.takeLeftovers(60_000, 600_000)).toEqual({ released: 2, unresolved: 1 });
      expect(await Promise.all([...left, alive].map(stateOf))).toEqual(['RELEASED', 'OWED', 'UNKNOWN', 'RESERVED']);
      const proofs = await Promise.all([unsent, debt, under, other].map((proof) => holders(proof, 'proof')));
      expect(proofs).toEqual([[], [left[1]], [left[2]], [alive]]);
      expect([await holders(debt, 'secret'), await holders(under, 'secret'), await holders(under, 'turn')]).toEqual([
        [left[1]],
        [left[2]],
        [],
      ]);
      // Its buyer may have broadcast it; whether ours arrived is asked at once.
      const asked = ["look_at > now() + interval '1 minute'", 'look_at IS NOT NULL', 'look_at <= now()'];
      expect(await Promise.all(left.map((id, index) => columnOf(id, asked[index] as string)))).toEqual([true, expect.any(Boolean), true]);
    });

    it('lets go as well of what a silent process held, or nobody moved, for so long and no less', async () => {
      const [silent, unmoved] = [await claimed(proofOf()), await claimed(proofOf())];
      await sql("UPDATE payment SET instance = 'a silent process' WHERE id = $1", [silent]);
      const after = async (silentS: number, unmovedS: number): Promise<PaymentState[]> => {
        await sql("INSERT INTO payment_instance SELECT 'a silent process', now() ON CONFLICT DO NOTHING");
        const past = "now() - $1 * interval '1 second'";
        await sql(`UPDATE payment_instance SET seen_at = ${past} WHERE id = 'a silent process'`, [silentS]);
        await sql(`UPDATE payment SET moved_at = ${past} WHERE id = $2`, [unmovedS, unmoved]);
        await upkeep.beat();
        await upkeep.takeLeftovers(60_000, 600_000);
        return Promise.all([silent, unmoved].map(stateOf));
      };
      expect(await after(50, 590)).toEqual(['RESERVED', 'RESERVED']);
      expect(await after(70, 590)).toEqual(['RELEASED', 'RESERVED']);
      expect(await after(0, 610)).toEqual(['RELEASED', 'RELEASED']);
    });

    it('owes what was let go of and landed, unless its proof was used since; while somebody is at it nobody can say', async () => {
      const [proof, copied] = [proofOf(), proofOf()];
      const [id, first] = [await claimed(proof), await claimed(copied)];
      for (const [one, of] of [[id, proof], [first, copied]] as const) await release(one, of, { admitted: true }); // prettier-ignore
      expect([await upkeep.owed(id), await stateOf(id), await columnOf(id, 'owed')]).toEqual(['owed', 'OWED', true]);
      expect([await holders(proof, 'proof'), await holders(proof, 'secret')]).toEqual([[id], [id]]);
      expect((await lastStep(id)).note).toBe('broadcast by the buyer');
      const second = await claimed(copied);
      expect([await upkeep.owed(first), await stateOf(first)]).toEqual(['claimed', 'RELEASED']);
      await ledger.executing(second, {});
      expect([await upkeep.owed(first), await stateOf(first)]).toEqual(['claimed', 'RELEASED']);
      await writeAhead(second, copied, copied.proof_key);
      expect([await upkeep.owed(first), await stateOf(first)]).toEqual(['used', 'RELEASED']);
    });

    it('of what the chain took back keeps the proof used, and neither its answer nor the keys its buyer chose', async () => {
      const proof = proofOf({ buyer_keys: ['pid:a rolled back order'] });
      const [id, unsent] = [await sent(proof), await claimed(proofOf())];
      ledger.delivered({ id, transaction: 'tx', settled_at: new Date() }, KEPT_MS);
      await ledger.flush();
      for (const one of [id, unsent]) await upkeep.rolledBack(one);
      expect([await stateOf(id), await columnOf(id, 'answer'), await stateOf(unsent)]).toEqual(['ROLLED_BACK', null, 'RESERVED']);
      expect([await holders(proof, 'proof'), await holders(proof, 'buyer')]).toEqual([[id], []]);
      // As an operator reads what became of it.
      expect([await lastStep(id), await lastStep(unsent)]).toMatchObject([{ state: 'ROLLED_BACK' }, { state: 'RESERVED' }]);
    });

    it('takes what is confirmed for final before its chain begins anew, whether it was handed out or not', async () => {
      const [left, given] = [await sent(proofOf()), await sent(proofOf())];
      await ledger.confirmed(left, 'tx');
      ledger.delivered({ id: given, transaction: 'tx', settled_at: new Date() }, KEPT_MS);
      await ledger.flush();
      await takeForFinal(database.pool);
      const over = (id: string): Promise<unknown> => columnOf(id, 'final_at IS NOT NULL AND look_at IS NULL');
      expect([await over(left), await over(given)]).toEqual([true, true]);
    });

    it('deletes what is over, however much has piled up', async () => {
      await sql(`INSERT INTO payment (protocol, payer, amount, request_id, path, request_hash, state, instance, proof_key, details, moved_at)
        SELECT 'x402', 'payer of old', 1, 'req', '/', 'hash', 'EXPIRED', 'gone', 'old ' || n, '{}', now() - interval '31 days' FROM generate_series(1, 5001) n`);
      await new Upkeep(database.pool, 'this process').purge();
      expect((await sql("SELECT FROM payment WHERE payer = 'payer of old'")).rowCount).toBe(0);
    });

    it('deletes what is over once an hour, for as long as its process lives', async () => {
      const patient = new Upkeep(database.pool, 'this process');
      const now = jest.spyOn(Date, 'now');
      const begun = Date.now();
      await patient.purge();
      const proof = proofOf();
      const id = await claimed(proof);
      await release(id, proof);
      await sql("UPDATE payment SET moved_at = now() - interval '31 days' WHERE id = $1", [id]);
      const after = async (minutes: number): Promise<unknown> => {
        now.mockReturnValue(begun + minutes * 60_000);
        await patient.purge();
        return stateOf(id);
      };
      expect([await after(59), await after(61)]).toEqual(['RELEASED', undefined]);
      now.mockRestore();
    });

    it.each<[what: string, state: PaymentState, age: string, take: 'takeUnresolved' | 'takeReleased' | 'takeUnfinal', next: string]>([
      ['what may be confirmed, by its age', 'UNKNOWN', '20 minutes', 'takeUnresolved', '2 minutes'],
      ['at the latest after five minutes', 'UNKNOWN', '10 hours', 'takeUnresolved', '5 minutes'],
      ['what its buyer may have sent, no sooner than after a minute', 'RELEASED', '1 second', 'takeReleased', '1 minute'],
      ['what may be final, soon', 'CONFIRMED', '10 hours', 'takeUnfinal', '30 seconds'],
    ])('asks again %s', async (_, state, age, take, next) => {
      const id = await claimed(proofOf());
      await sql("UPDATE payment SET state = $2, created_at = now() - $3::interval, look_at = now() - interval '1 second' WHERE id = $1", [
        id,
        state,
        age,
      ]);
      expect((await upkeep[take](100)).map((record) => record.id)).toContain(id);
      const wait = await columnOf(id, `look_at BETWEEN now() + interval '${next}' / 2 AND now() + interval '${next}'`);
      await upkeep.stopLooking(id);
      expect(wait).toBe(true);
    });

    it('asks first about what has been due for longest', async () => {
      const ids: string[] = [];
      for (const since of [1, 3, 2]) {
        ids.push(await claimed(proofOf()));
        await sql("UPDATE payment SET state = 'UNKNOWN', look_at = now() - $2 * interval '1 day' WHERE id = $1", [ids.at(-1), since]);
      }
      const asked: unknown[] = [];
      for (let turn = 0; turn < 3; turn += 1) asked.push(...(await upkeep.takeUnresolved(1)).map((record) => record.id));
      expect(asked).toEqual([ids[1], ids[2], ids[0]]);
    });

    it('leaves to another process what that one is just taking, and does not wait for it', async () => {
      const id = await claimed(proofOf());
      await sql("UPDATE payment SET state = 'UNKNOWN', look_at = now() - interval '1 second' WHERE id = $1", [id]);
      const [other, own] = [await database.pool.connect(), await database.pool.connect()];
      await other.query(`BEGIN; UPDATE payment SET look_at = look_at WHERE id = ${id}`);
      await own.query("SET lock_timeout = '1s'");
      const taken = await new Upkeep(own as unknown as Pool, 'this process').takeUnresolved(100);
      await Promise.all([other.query('ROLLBACK'), own.query('RESET lock_timeout')]);
      for (const client of [other, own]) client.release();
      expect(taken.map((record) => record.id)).not.toContain(id);
      await upkeep.stopLooking(id);
    });

    it('looks for nothing of what has no name on its chain yet, its fee being ours', async () => {
      const id = await claimed(proofOf({ transaction: null }));
      await sql("UPDATE payment SET instance = 'a process that ended' WHERE id = $1", [id]);
      await upkeep.beat();
      await upkeep.takeLeftovers(60_000, 600_000);
      expect([await stateOf(id), await columnOf(id, 'look_at')]).toEqual(['RELEASED', null]);
    });

    it('deletes nothing that is owed, though it was let go of long ago', async () => {
      const [proof, plain] = [proofOf(), proofOf()];
      await release(await claimed(proof), proof, { admitted: true });
      const [debt, other] = [await claimed(proof), await claimed(plain)];
      expect(await ledger.adoptDebt(debt)).toBe(true);
      for (const [id, of] of [[debt, proof], [other, plain]] as const) await release(id, of); // prettier-ignore
      await sql("UPDATE payment SET moved_at = now() - interval '31 days' WHERE id = ANY ($1)", [[debt, other]]);
      await new Upkeep(database.pool, 'this process').purge();
      expect([await stateOf(debt), await stateOf(other)]).toEqual(['RELEASED', undefined]);
    });
  });

  it('takes no buyers while they cannot be written down, and some again a while after the last one', async () => {
    const full = { query: () => Promise.reject(new Error('no room')) } as unknown as typeof database.pool;
    const unable = new Ledger(full, 'this process', rememberingLog([]));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const proof = proofOf();
      const claiming = unable.claim(proof, saleOf(), claimKeysOf(proof, null), { since: new Date(0), most: 1 }, KEPT_MS, SILENT_MS);
      await expect(claiming).rejects.toMatchObject({ code: 'payments_unavailable' });
      const [at, soon] = [unable.isUnwritable, (jest.advanceTimersByTime(14_000), unable.isUnwritable)];
      jest.advanceTimersByTime(1_000);
      expect([at, soon, unable.isUnwritable]).toEqual([true, true, false]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('an answer waits for its payer and its request alone, and for its time', async () => {
    const kept = (rechallenge_ms: number) => new Rechallenge(database.pool, { ...PAYMENT_DEFAULTS, rechallenge_ms });
    const [path, payer] = ['/api/v1/markets/other', 'payer who waits'];
    const [asked, other] = [saleOf(), saleOf({ path, request_hash: saleOf({ path }).request_hash })];
    await kept(60_000).keep(payer, asked.request_hash, '"waits"');
    const late = 'payer who came too late';
    await kept(-1).keep(late, asked.request_hash, '"waits"');
    const waitsFor = async (of: string, sale: Sale): Promise<unknown> => {
      const { waiting, kept: count } = await tryToClaim(proofOf({ payer: of }), sale);
      return [waiting, (await kept(0).find(of, sale.request_hash)) ?? null, count];
    };
    expect(await waitsFor(payer, asked)).toEqual(['"waits"', '"waits"', 1]);
    expect(await waitsFor(payer, other)).toEqual([null, null, 1]);
    expect(await waitsFor('somebody else', asked)).toEqual([null, null, 0]);
    expect(await waitsFor(late, asked)).toEqual([null, null, 1]);
    await kept(0).expire();
    // Emptied, it counts against its payer for an hour.
    expect((await sql('SELECT answer FROM payment_rechallenge WHERE payer = $1', [late])).rows).toEqual([{ answer: null }]);
    expect(await waitsFor(late, asked)).toEqual([null, null, 1]);
    expect(await waitsFor(payer, asked)).toEqual(['"waits"', '"waits"', 1]);
    await kept(60_000).keep(late, asked.request_hash, '"made again"');
    expect(await waitsFor(late, asked)).toEqual(['"made again"', '"made again"', 1]);
    await kept(60_000).keep(payer, other.request_hash, '"of another"');
    await kept(60_000).keep('somebody else', asked.request_hash, '"of somebody"');
    await kept(0).drop(payer, asked.request_hash);
    expect(await waitsFor(payer, asked)).toEqual([null, null, 1]);
    expect(await waitsFor(payer, other)).toEqual(['"of another"', '"of another"', 1]);
    expect(await waitsFor('somebody else', asked)).toEqual(['"of somebody"', '"of somebody"', 1]);
    const mayKeep = (rechallenge_max: number): Promise<boolean> =>
      new Rechallenge(database.pool, { ...PAYMENT_DEFAULTS, rechallenge_max }).mayKeep(payer);
    expect([await mayKeep(1), await mayKeep(2)]).toEqual([false, true]);
  });
});

test('who waits until what was handed out is written down waits for all of it, however long the first takes', async () => {
  const written: string[] = [];
  let goOn: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => (goOn = resolve));
  const deliveries = new Deliveries(async (together) => {
    if (together.some(({ id }) => id === 'first')) await slow;
    written.push(...together.map(({ id }) => id));
  });
  const handOut = (id: string): void => deliveries.add({ id, transaction: 'tx', settled_at: new Date() }, KEPT_MS);
  handOut('first');
  await pause(2 * DELIVERED_AFTER_MS);
  handOut('second');
  const flushed = deliveries.flush().then(() => [...written]);
  await pause(2 * DELIVERED_AFTER_MS);
  goOn();
  expect(await flushed).toEqual(['first', 'second']);
});
