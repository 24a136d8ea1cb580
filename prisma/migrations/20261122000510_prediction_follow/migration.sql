-- D-FOLLOW: what somebody who copies a wallet's fills a minute later would have paid and got, by wallet, token and UTC day of the fills.
CREATE TABLE pm_follow_day (
  wallet text NOT NULL,
  condition_id text NOT NULL,
  token_id text NOT NULL,
  day date NOT NULL,
  trades int NOT NULL,
  followed int NOT NULL,
  buy_shares numeric NOT NULL,
  buy_usdc numeric NOT NULL,
  sell_shares numeric NOT NULL,
  sell_usdc numeric NOT NULL,
  CONSTRAINT pm_follow_day_pkey PRIMARY KEY (wallet, condition_id, token_id, day)
);
CREATE INDEX pm_follow_day_day_idx ON pm_follow_day (day);

-- Which days are told, from how many fills, and as of when.
CREATE TABLE pm_follow_state (
  day date NOT NULL,
  fills bigint NOT NULL,
  told_at timestamptz(3) NOT NULL,
  CONSTRAINT pm_follow_state_pkey PRIMARY KEY (day)
);

ALTER TABLE pm_wallet_score ADD COLUMN followable_roi_pct numeric, ADD COLUMN followable_share numeric;
