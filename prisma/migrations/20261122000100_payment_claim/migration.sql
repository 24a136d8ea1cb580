-- Claims a proof and answers in one round trip what its request has to know: the new payment's id (null: a key is held, or the
-- payer's settlements failed too often), those failures, what the payer may still have to pay up to and with this payment, how
-- many answers wait for a fresh proof of the payer, and the one that waits for this request. `keys` and `kinds` run in parallel.
CREATE FUNCTION claim_payment(
  of_protocol text, of_payer text, of_amount numeric, of_request_id text, of_path text, of_request_hash text, of_instance text,
  of_proof_key text, of_secrets text[], of_transaction text, of_details jsonb, keys text[], kinds text[],
  faults_since timestamptz, most_faults int,
  OUT made bigint, OUT faults int, OUT open_sum numeric, OUT kept int, OUT waiting text
)
LANGUAGE plpgsql AS $$
BEGIN
  -- One payer at a time, so that ids follow the order of commits and what stands before a payment can be summed up.
  PERFORM pg_advisory_xact_lock(hashtext('payment'), hashtext(of_payer));
  SELECT count(*) INTO faults FROM payment
  WHERE payer = of_payer AND state = ANY ('{RELEASED,REJECTED_ONCHAIN,EXPIRED}') AND fault AND created_at > faults_since;
  IF faults >= most_faults THEN RETURN; END IF;
  DELETE FROM payment_claim WHERE key = ANY (keys) AND expires_at < now();
  IF EXISTS (SELECT FROM payment_claim WHERE key = ANY (keys)) THEN RETURN; END IF;
  INSERT INTO payment (protocol, payer, amount, request_id, path, request_hash, state, instance, proof_key, secrets, transaction, details)
  VALUES (of_protocol, of_payer, of_amount, of_request_id, of_path, of_request_hash, 'RESERVED', of_instance, of_proof_key, of_secrets, of_transaction, of_details)
  RETURNING id INTO made;
  INSERT INTO payment_claim (key, kind, payment_id) SELECT key, kind, made FROM unnest(keys, kinds) AS claim (key, kind) ORDER BY key;
  INSERT INTO payment_step (payment_id, step, state) VALUES (made, 1, 'RESERVED');
  SELECT sum(amount) INTO open_sum FROM payment
  WHERE payer = of_payer AND state = ANY ('{RESERVED,EXECUTING,RESULT_READY,BROADCASTING,UNKNOWN}') AND NOT owed AND id <= made;
  SELECT count(*), max(answer) FILTER (WHERE request_hash = of_request_hash AND answer IS NOT NULL AND kept_until > now())
  INTO kept, waiting FROM payment_rechallenge WHERE payer = of_payer;
END
$$;

DROP FUNCTION reserve_payment;
