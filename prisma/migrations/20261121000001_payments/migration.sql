CREATE TABLE "payment" (
  "id" BIGSERIAL NOT NULL,
  "protocol" TEXT NOT NULL,
  "payer" TEXT NOT NULL,
  "amount" DECIMAL(20,0) NOT NULL,
  "request_id" TEXT NOT NULL,
  "path" TEXT NOT NULL,
  "request_hash" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "step" INTEGER NOT NULL DEFAULT 1,
  "instance" TEXT NOT NULL,
  "owed" BOOLEAN NOT NULL DEFAULT false,
  "fault" BOOLEAN NOT NULL DEFAULT false,
  "proof_key" TEXT NOT NULL,
  "secrets" TEXT[],
  "transaction" TEXT,
  "raw" TEXT,
  "details" JSONB NOT NULL,
  "answer" TEXT,
  "answer_until" TIMESTAMPTZ(3),
  "settle_by" TIMESTAMPTZ(3),
  "reason" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "moved_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "settled_at" TIMESTAMPTZ(3),
  "final_at" TIMESTAMPTZ(3),
  "look_at" TIMESTAMPTZ(3),
  CONSTRAINT "payment_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "payment_state_look_at_idx" ON "payment"("state", "look_at");
CREATE INDEX "payment_payer_state_idx" ON "payment"("payer", "state");
CREATE INDEX "payment_proof_key_idx" ON "payment"("proof_key");
CREATE INDEX "payment_protocol_settled_at_idx" ON "payment"("protocol", "settled_at");
CREATE INDEX "payment_answer_until_idx" ON "payment"("answer_until");

CREATE TABLE "payment_claim" (
  "key" TEXT NOT NULL,
  "payment_id" BIGINT NOT NULL,
  "kind" TEXT NOT NULL,
  "expires_at" TIMESTAMPTZ(3),
  CONSTRAINT "payment_claim_pkey" PRIMARY KEY ("key"),
  CONSTRAINT "payment_claim_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "payment_claim_payment_id_idx" ON "payment_claim"("payment_id");
CREATE INDEX "payment_claim_expires_at_idx" ON "payment_claim"("expires_at");

CREATE TABLE "payment_step" (
  "payment_id" BIGINT NOT NULL,
  "step" INTEGER NOT NULL,
  "state" TEXT NOT NULL,
  "note" TEXT,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "payment_step_pkey" PRIMARY KEY ("payment_id", "step"),
  CONSTRAINT "payment_step_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "payment_rechallenge" (
  "payer" TEXT NOT NULL,
  "request_hash" TEXT NOT NULL,
  "answer" TEXT,
  "kept_until" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "payment_rechallenge_pkey" PRIMARY KEY ("payer", "request_hash")
);

CREATE INDEX "payment_rechallenge_kept_until_idx" ON "payment_rechallenge"("kept_until");

CREATE TABLE "payment_instance" (
  "id" TEXT NOT NULL,
  "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "payment_instance_pkey" PRIMARY KEY ("id")
);

-- Reserves a proof: all of its keys or none (unique_violation). `keys` and `kinds` run in parallel.
CREATE FUNCTION reserve_payment(
  of_protocol text, of_payer text, of_amount numeric, of_request_id text, of_path text, of_request_hash text, of_instance text,
  of_proof_key text, of_secrets text[], of_transaction text, of_details jsonb, keys text[], kinds text[]
) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  made bigint;
BEGIN
  -- One payer at a time, so that ids follow the order of commits and what stands before a payment can be summed up.
  PERFORM pg_advisory_xact_lock(hashtext('payment'), hashtext(of_payer));
  DELETE FROM payment_claim WHERE key = ANY (keys) AND expires_at < now();
  INSERT INTO payment (protocol, payer, amount, request_id, path, request_hash, state, instance, proof_key, secrets, transaction, details)
  VALUES (of_protocol, of_payer, of_amount, of_request_id, of_path, of_request_hash, 'RESERVED', of_instance, of_proof_key, of_secrets, of_transaction, of_details)
  RETURNING id INTO made;
  INSERT INTO payment_claim (key, kind, payment_id) SELECT key, kind, made FROM unnest(keys, kinds) AS claim (key, kind) ORDER BY key;
  INSERT INTO payment_step (payment_id, step, state) VALUES (made, 1, 'RESERVED');
  RETURN made;
END
$$;
