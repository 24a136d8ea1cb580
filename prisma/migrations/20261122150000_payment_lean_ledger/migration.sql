-- Every payment is written three times, so every index and check on it is paid for three times: indexes hold what is looked for alone,
-- and rows of claims and steps, which are written by the statement that writes their payment, are not checked against it again.
ALTER TABLE payment_step DROP CONSTRAINT payment_step_payment_id_fkey;
ALTER TABLE payment_claim DROP CONSTRAINT payment_claim_payment_id_fkey;

DROP INDEX payment_state_look_at_idx, payment_payer_state_idx, payment_protocol_settled_at_idx, payment_answer_until_idx, payment_claim_expires_at_idx;
CREATE INDEX payment_due_idx ON payment (state, look_at) WHERE look_at IS NOT NULL;
CREATE INDEX payment_open_idx ON payment (payer) WHERE state = ANY ('{RESERVED,EXECUTING,RESULT_READY,BROADCASTING,UNKNOWN}');
CREATE INDEX payment_fault_idx ON payment (payer, created_at) WHERE fault;
CREATE INDEX payment_settled_idx ON payment (protocol, settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX payment_answer_until_idx ON payment (answer_until) WHERE answer_until IS NOT NULL;
CREATE INDEX payment_claim_expires_at_idx ON payment_claim (expires_at) WHERE expires_at IS NOT NULL;

-- As before, in three statements instead of eight. Under the payer's lock what is open before this payment is what is open now.
CREATE OR REPLACE FUNCTION claim_payment(
  of_protocol text, of_payer text, of_amount numeric, of_request_id text, of_path text, of_request_hash text, of_instance text,
  of_proof_key text, of_secrets text[], of_transaction text, of_details jsonb, keys text[], kinds text[],
  faults_since timestamptz, most_faults int,
  OUT made bigint, OUT faults int, OUT open_sum numeric, OUT kept int, OUT waiting text
)
LANGUAGE plpgsql AS $$
DECLARE
  held int;
  lapsed int;
BEGIN
  -- One payer at a time, so that ids follow the order of commits and what stands before a payment can be summed up.
  PERFORM pg_advisory_xact_lock(hashtext('payment'), hashtext(of_payer));
  SELECT
    (SELECT count(*) FROM payment
     WHERE payer = of_payer AND fault AND state = ANY ('{RELEASED,REJECTED_ONCHAIN,EXPIRED}') AND created_at > faults_since),
    (SELECT of_amount + coalesce(sum(amount), 0) FROM payment
     WHERE payer = of_payer AND state = ANY ('{RESERVED,EXECUTING,RESULT_READY,BROADCASTING,UNKNOWN}') AND NOT owed),
    claim.held, claim.lapsed, answer.kept, answer.waiting
  INTO faults, open_sum, held, lapsed, kept, waiting
  FROM (SELECT count(*) AS held, count(*) FILTER (WHERE expires_at < now()) AS lapsed FROM payment_claim WHERE key = ANY (keys)) claim,
    (SELECT count(*) AS kept,
       max(r.answer) FILTER (WHERE request_hash = of_request_hash AND r.answer IS NOT NULL AND kept_until > now()) AS waiting
     FROM payment_rechallenge r WHERE payer = of_payer) answer;
  IF faults >= most_faults OR held > lapsed THEN RETURN; END IF;
  IF lapsed > 0 THEN DELETE FROM payment_claim WHERE key = ANY (keys) AND expires_at < now(); END IF;
  WITH new AS (
    INSERT INTO payment (protocol, payer, amount, request_id, path, request_hash, state, instance, proof_key, secrets, transaction, details)
    VALUES (of_protocol, of_payer, of_amount, of_request_id, of_path, of_request_hash, 'RESERVED', of_instance, of_proof_key, of_secrets, of_transaction, of_details)
    RETURNING id
  ), claimed AS (
    INSERT INTO payment_claim (key, kind, payment_id) SELECT key, kind, id FROM new, unnest(keys, kinds) AS claim (key, kind) ORDER BY key
  ), written AS (
    INSERT INTO payment_step (payment_id, step, state) SELECT id, 1, 'RESERVED' FROM new
  ) SELECT id INTO made FROM new;
END
$$;
