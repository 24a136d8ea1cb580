/** A statement with a name: parsed once a connection. */
export interface NamedStatement {
  name: string;
  text: string;
}

const COLUMNS =
  'p.id, p.protocol, p.payer, p.amount, p.request_hash, p.state, p.transaction, p.raw, p.details, p.settle_by, p.created_at, p.settled_at, p.reason';
const OF_MOVED = 'payment_id IN (SELECT id FROM moved)';

/** What a payment loses and gains when the chain has it. Its answer is kept until it has been handed out, and for a while from then on. */
const SETTLED = "raw = NULL, look_at = CASE WHEN p.final_at IS NULL THEN now() + interval '30 seconds' END, owed = false, reason = NULL";

/** The proof stays used for ever; what the buyer could collect by goes with the answer, secrets well after their challenge. */
const letGo = (ms: string, of = OF_MOVED, also = ''): string =>
  `UPDATE payment_claim SET ${also}expires_at = now() + CASE kind WHEN 'buyer' THEN ${ms} * interval '1 millisecond'
        ELSE greatest(${ms} * interval '1 millisecond', interval '2 days') END WHERE kind <> 'proof' AND ${of}`;

/** Steps whose loss in a crash of the database is harmless do not wait for the disk: what lost one finds itself not where it had to be, and stops. */
const RELAXED = ", (SELECT set_config('synchronous_commit', 'off', true)) relaxed";

/** The step of the write-ahead record: a payment that is at it was not taken up by anybody since. */
const WRITTEN_AHEAD = 4;

/** What an answer is collected by. */
const COLLECTING = "kind = ANY ('{secret,buyer}')";

/** What is free again for others of its buyer when a payment comes to nothing: names, and its turn. */
export const FREED = `DELETE FROM payment_claim WHERE kind = ANY ('{buyer,turn}') AND ${OF_MOVED}`;

/** A payment lets go of its turn. */
export const LEFT_TURN = `DELETE FROM payment_claim WHERE kind = 'turn' AND ${OF_MOVED}`;

interface Change {
  set?: string;
  /** What must hold beside the state. */
  where?: string;
  also?: string;
  told?: string;
  relaxed?: boolean;
}

/**
 * Moves payment $1 from one of the states $2 to $3 with note $4 and a row of history, and returns the columns `told` of it. `set`
 * is what else changes, `also` what else happens if it moves.
 */
function move(name: string, { set = '', where = '', also = '', told = COLUMNS, relaxed = false }: Change = {}): NamedStatement {
  const text = `
    WITH moved AS (
      UPDATE payment p SET state = $3, step = step + 1, moved_at = now()${set === '' ? '' : `, ${set}`}
      WHERE id = $1 AND state = ANY ($2)${where === '' ? '' : ` AND ${where}`} RETURNING p.*
    ), written AS (
      INSERT INTO payment_step (payment_id, step, state, note) SELECT id, step, state, $4 FROM moved
    )${also === '' ? '' : `, also AS (${also})`}
    SELECT ${told} FROM moved p${relaxed ? RELAXED : ''}`;
  return { name: `payment_${name}`, text };
}

/** Every change of state; values from $5 on are the ledger's. */
export const MOVES = {
  executing: move('executing', { set: 'details = p.details || $5', relaxed: true }),
  confirmed: move('confirmed', {
    set: `transaction = $5, settled_at = now(), ${SETTLED}, answer = coalesce($6, p.answer)`,
    told: 'p.settled_at',
    // The chain has it: who finds it unconfirmed asks there again.
    relaxed: true,
  }),
  // Its turn may never come: who signs afresh for the same one must not wait for it.
  unknown: move('unknown', { set: "look_at = now() + interval '2 seconds'", also: LEFT_TURN }),
  failed: move('failed', {
    // What expired was not brought onto the chain by us.
    set: "raw = NULL, answer = NULL, fault = ($3 = 'REJECTED_ONCHAIN'), reason = $5, look_at = NULL",
    also: FREED,
  }),
  // Once it was worked for, its buyer may have broadcast it, or still may: looked at again when it should have expired.
  release: move('release', {
    set: `raw = NULL, answer = NULL, fault = $5, reason = $6, details = p.details || coalesce($7::jsonb, '{}'),
      look_at = CASE WHEN $7 IS NOT NULL AND p.transaction IS NOT NULL THEN now() + interval '90 seconds' END`,
    // It may be late: by then the payment may be a debt that is being served, or, its claim lost in a crash of the database, another one.
    where: `proof_key = $8 AND (NOT owed OR state = 'RESERVED') AND (state <> 'BROADCASTING' OR step = ${WRITTEN_AHEAD})`,
    also: `DELETE FROM payment_claim WHERE ${OF_MOVED}`,
  }),
  // A debt may be called in by a fresh proof.
  owe: move('owe', {
    set: `owed = true, transaction = $5, raw = NULL, reason = $6, details = CASE WHEN owed THEN p.details ELSE p.details || $7 END`,
    where: '(owed OR proof_key = $8)',
  }),
  take: move('take', { set: 'instance = $5', told: `${COLUMNS}, p.answer` }),
  // Its time goes on.
  takeBack: move('take_back'),
  handOut: move('hand_out', {
    set: "answer_until = now() + $5 * interval '1 millisecond'",
    // What payment $6, which asks for it, could be collected by, collects this one: its proof may be shown again.
    also: letGo('$5', `${COLLECTING} AND payment_id IN (SELECT unnest(ARRAY[id, $6]) FROM moved)`, 'payment_id = $1, '),
    told: `${COLUMNS}, p.answer`,
  }),
} as const;

/**
 * Claims, and looks for payments of the same payer $2 for the same request $6: one that is owed, and, no older than $16 milliseconds, one that was settled
 * and handed out to nobody, and one that was sent and given up waiting for, though it may have been taken up again since. Of the latter it counts those
 * for all requests of this payer. One whose process has been silent for $17 milliseconds may be such, though nobody has seen to it yet.
 */
export const CLAIM: NamedStatement = {
  name: 'payment_claim',
  text: `SELECT claimed.*, (SELECT min(id) FROM payment WHERE payer = $2 AND request_hash = $6 AND state = 'CONFIRMED' AND answer IS NOT NULL
      AND settled_at > now() - $16 * interval '1 millisecond') AS unserved,
      (SELECT min(id) FROM payment WHERE payer = $2 AND request_hash = $6 AND state = 'OWED') AS owed, undecided.*${RELAXED}
    FROM claim_payment($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) claimed,
    (SELECT min(id) FILTER (WHERE request_hash = $6 AND answer IS NOT NULL) AS unsettled, count(*)::int AS undecided FROM payment
      WHERE payer = $2 AND state = ANY ('{BROADCASTING,UNKNOWN}') AND (state = 'UNKNOWN' OR step > ${WRITTEN_AHEAD}
        OR NOT EXISTS (SELECT FROM payment_instance i WHERE i.id = instance AND i.seen_at > now() - $17 * interval '1 millisecond'))
      AND created_at > now() - $16 * interval '1 millisecond') undecided`,
};

/** The claim of proof $1 that request $2 made. */
export const CLAIMED_FOR: NamedStatement = {
  name: 'payment_claimed_for',
  text: 'SELECT id FROM payment WHERE proof_key = $1 AND request_id = $2',
};

/**
 * The write-ahead record of payment $1: bytes $3 of transaction $2, details $4, $5 the last moment to send, answer $6. Steps
 * that were not worth a statement of their own are written with it: the work began at $7 and was done at $8. $9 is the key of its
 * proof: a claim that a crash of the database lost may have left its id to another.
 */
export const WRITE_AHEAD: NamedStatement = {
  name: 'payment_write_ahead',
  text: `
    WITH moved AS (
      UPDATE payment p SET state = 'BROADCASTING', step = ${WRITTEN_AHEAD}, moved_at = now(), transaction = $2, raw = $3,
        details = p.details || $4, settle_by = $5, answer = $6
      WHERE id = $1 AND proof_key = $9 AND state = ANY ('{RESERVED,EXECUTING}') RETURNING p.*
    ), written AS (
      INSERT INTO payment_step (payment_id, step, state, at)
      SELECT id, s.step, s.state, s.at FROM moved,
        (VALUES (2, 'EXECUTING', $7::timestamptz), (3, 'RESULT_READY', $8::timestamptz), (${WRITTEN_AHEAD}, 'BROADCASTING', now())) s (step, state, at)
      ON CONFLICT DO NOTHING
    ) SELECT 1 FROM moved`,
};

/**
 * Payments $1 landed in transactions $2 at $3, and their answers were handed out: collectable for $4 milliseconds. Those that somebody
 * else confirmed meanwhile keep their moment.
 */
export const DELIVERED: NamedStatement = {
  name: 'payment_delivered',
  text: `
    WITH moved AS (
      UPDATE payment p SET state = 'DELIVERED', step = step + CASE WHEN p.settled_at IS NULL THEN 2 ELSE 1 END, moved_at = now(),
        transaction = told.transaction, settled_at = coalesce(p.settled_at, told.settled_at), ${SETTLED}, answer_until = now() + $4 * interval '1 millisecond'
      FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS told (id, transaction, settled_at)
      WHERE p.id = told.id AND p.state = ANY ('{BROADCASTING,UNKNOWN,CONFIRMED}') RETURNING p.id, p.step, p.settled_at
    ), written AS (
      INSERT INTO payment_step (payment_id, step, state, at)
      SELECT id, moved.step + s.step, s.state, coalesce(s.at, settled_at) FROM moved,
        (VALUES (-1, 'CONFIRMED', NULL), (0, 'DELIVERED', now())) s (step, state, at)
      ON CONFLICT DO NOTHING
    ), let_go AS (${letGo('$4')})
    SELECT count(*)${RELAXED} FROM moved`,
};

/** Payments that hold any of the keys $1, newest first, and by which kinds of key. */
export const HELD: NamedStatement = {
  name: 'payment_held',
  text: `SELECT ${COLUMNS}, p.answer, array_agg(DISTINCT c.kind) AS by FROM payment_claim c JOIN payment p ON p.id = c.payment_id
    WHERE c.key = ANY ($1) AND (c.expires_at IS NULL OR c.expires_at > now()) GROUP BY p.id ORDER BY p.id DESC`,
};

/** Micro-USDC that payer $1 may still have to pay, up to and including payment $2. The states are spelled as in the index that holds them. */
export const SUM_OPEN: NamedStatement = {
  name: 'payment_sum_open',
  text: `SELECT sum(amount) AS sum FROM payment
    WHERE payer = $1 AND state = ANY ('{RESERVED,EXECUTING,RESULT_READY,BROADCASTING,UNKNOWN}') AND NOT owed AND id <= $2`,
};

/** What payment $1 could be collected by collects payment $2, which is handed out to it. */
export const PASS_KEYS: NamedStatement = {
  name: 'payment_pass_keys',
  text: `UPDATE payment_claim SET payment_id = $2, expires_at = now() + interval '2 days' WHERE payment_id = $1 AND ${COLLECTING}`,
};

/**
 * Payment $1 takes on the debt of one that was admitted before it landed and released unserved: same proof, payer and request, and a
 * secret in common. A process that ended may not have written down that it had admitted it.
 */
export const ADOPT_DEBT: NamedStatement = {
  name: 'payment_adopt_debt',
  text: `UPDATE payment p SET owed = true FROM payment old
    WHERE p.id = $1 AND old.proof_key = p.proof_key AND old.state = 'RELEASED' AND old.payer = p.payer
    AND old.request_hash = p.request_hash AND old.secrets && p.secrets
    AND (old.details ? 'admitted' OR old.reason = 'process_ended')`,
};

/** Newest settlement of each protocol that has one. */
export const LAST_SETTLEMENTS: NamedStatement = {
  name: 'payment_last_settlements',
  text: `SELECT protocol, at FROM unnest('{x402,mpp_tempo,mpp_solana}'::text[]) AS protocol,
    LATERAL (SELECT max(settled_at) AS at FROM payment WHERE payment.protocol = protocol.protocol) newest WHERE at IS NOT NULL`,
};
