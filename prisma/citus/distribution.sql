-- Spreads the tables over the workers of a Citus cluster. Not a migration: run it once over a migrated database in which the extension
-- exists (CREATE EXTENSION citus), before the first load. Every table of the schema is named here, and a test holds the rules: the distribution
-- column is part of each unique key, and tables that statements join stand together.

-- A transaction that wrote shards over several connections cannot read them joined: one connection a worker does both.
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET citus.multi_shard_modify_mode = ''sequential''', current_database()); END $$;

-- Before tables are spread: afterwards a transaction creates no function.
-- Wallets that traded little: Citus looks nothing up among hours that stand by market for a wallet of a list; the same, all hours of the wallets counted.
CREATE OR REPLACE FUNCTION pm_wallets_within(wallets text[], numbers bigint[], since timestamptz, before timestamptz) RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT wanted.wallet FROM unnest(wallets, numbers) AS wanted(wallet, most) LEFT JOIN (
    SELECT own.wallet, count(*) AS hours FROM pm_wallet_hour AS own
    WHERE own.wallet = ANY (wallets) AND own.token_id <> '' AND own.hour >= since AND own.hour <= before - interval '1 hour' GROUP BY own.wallet
  ) AS told ON told.wallet = wanted.wallet WHERE wanted.most >= COALESCE(told.hours, 0);
END $$;

-- Since when wallets are known: the same, all hours of the wallets counted.
CREATE OR REPLACE FUNCTION pm_known_since(wallets text[], fewest int) RETURNS TABLE (wallet text, since timestamptz) LANGUAGE plpgsql STABLE
  SET citus.allow_nested_distributed_execution = on AS $$
BEGIN
  RETURN QUERY SELECT told.wallet, min(told.hour)::timestamptz FROM (
    SELECT own.wallet, own.hour, sum(own.buys + own.sells) OVER (PARTITION BY own.wallet ORDER BY own.hour) AS so_far FROM pm_wallet_hour AS own WHERE own.wallet = ANY (wallets)
  ) AS told WHERE so_far >= fewest GROUP BY told.wallet;
END $$;

-- The last fill of a coin: for a row of another step of a statement Citus looks nothing up among facts that stand by account; the same, one statement a
-- coin, from whichever node the row is on. Statements within those of a node may read what others have committed since; questions write nothing.
CREATE OR REPLACE FUNCTION perp_last_fill(of_coin text, instant timestamptz) RETURNS TABLE (price numeric, filled_at timestamptz) LANGUAGE plpgsql STABLE ROWS 1
  SET citus.allow_nested_distributed_execution = on AS $$
DECLARE since timestamptz := date_trunc('hour', instant, 'UTC');
BEGIN
  RETURN QUERY SELECT f.price, f.timestamp::timestamptz FROM perp_fill f WHERE f.coin = of_coin AND f.timestamp >= since AND f.timestamp < instant ORDER BY f.timestamp DESC, f.seq DESC, f.tid DESC LIMIT 1;
  IF NOT FOUND THEN
    RETURN QUERY SELECT h.close_price, h.close_at::timestamptz FROM perp_coin_hour h WHERE h.coin = of_coin AND h.hour < since AND h.close_at IS NOT NULL ORDER BY h.hour DESC LIMIT 1;
  END IF;
END $$;
CREATE OR REPLACE FUNCTION perp_price_before(of_coin text, instant timestamptz) RETURNS TABLE (price numeric) LANGUAGE plpgsql STABLE ROWS 1
  SET citus.allow_nested_distributed_execution = on AS $$
DECLARE since timestamptz := date_trunc('hour', instant, 'UTC');
BEGIN
  SELECT f.price INTO price FROM perp_fill f WHERE f.coin = of_coin AND f.timestamp >= since AND f.timestamp < instant ORDER BY f.timestamp DESC, f.seq DESC, f.tid DESC LIMIT 1;
  IF price IS NULL THEN
    SELECT h.close_price INTO price FROM perp_coin_hour h WHERE h.coin = of_coin AND h.hour < since AND h.close_price IS NOT NULL ORDER BY h.hour DESC LIMIT 1;
  END IF;
  RETURN NEXT;
END $$;

-- Prediction: what is on a market, by market; what is about a wallet, by wallet.
SELECT create_distributed_table('pm_market', 'condition_id');
SELECT create_distributed_table('pm_outcome', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_trade', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_position', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_token_hour', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_token_last', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_wallet_hour', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_market_day', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_market_quarter', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_market_total', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_insider', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_market_norm', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_smart_wallet_hour', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_smart_position', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_crowd', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_settled_crowd', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_settled_due', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_told_participants', 'condition_id', colocate_with => 'pm_market');
SELECT create_distributed_table('pm_wallet', 'wallet', colocate_with => 'none');
SELECT create_distributed_table('pm_wallet_score', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_follow_day', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_told_wallet', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_told_category', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_told_figures', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_told_life', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_told_sides', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_standing', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_standing_due', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_crowd_stance', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_crowd_due', 'wallet', colocate_with => 'pm_wallet');
SELECT create_reference_table('pm_standing_told');
SELECT create_reference_table('pm_crowd_told');
SELECT create_reference_table('pm_smart_run');
SELECT create_reference_table('pm_score_run');
SELECT create_distributed_table('pm_latest_fill', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_smart_latest', 'wallet', colocate_with => 'pm_wallet');
SELECT create_distributed_table('pm_category_volume', 'category', colocate_with => 'none');
SELECT create_distributed_table('pm_smart_hour', 'category', colocate_with => 'none');

-- Perpetuals: accounts with all they did; markets of coins.
SELECT create_reference_table('perp_coin');
SELECT create_distributed_table('perp_fill', 'trader', colocate_with => 'none');
SELECT create_distributed_table('perp_trader', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_trader_hour', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_trader_day', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_trader_life', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_trader_sum', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_trader_drawdown', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_trader_coin_drawdown', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_round_trip', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_position', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_role', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_score', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_dealt', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_smart_trader_day', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_smart_trader_rest', 'trader', colocate_with => 'perp_fill');
SELECT create_distributed_table('perp_timing', 'trader', colocate_with => 'perp_fill');
SELECT create_reference_table('perp_timing_told');
SELECT create_reference_table('perp_dealt_day');
SELECT create_reference_table('perp_standing');
SELECT create_reference_table('perp_smart_run');
SELECT create_distributed_table('perp_match', 'coin', colocate_with => 'none');
SELECT create_distributed_table('perp_coin_hour', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_coin_day', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_coin_month', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_coin_quarter', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_coin_bar', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_volume_hour', 'hour', colocate_with => 'none');
SELECT create_distributed_table('perp_coin_takers', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_coin_last_day', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_smart_hour', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_smart_day', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_smart_month', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_smart_quarter', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_smart_bar', 'coin', colocate_with => 'perp_match');
SELECT create_distributed_table('perp_smart_last_day', 'coin', colocate_with => 'perp_match');

-- Pools: whole on the coordinator, as plain tables. Their facts stand by pool, prices by mint, and nearly every statement of them joins the two, which
-- no column spreads together, while Citus keeps no partitioned table on every node. Some millions of events fit one machine.
-- local: lp_pool, lp_token, lp_known_hour, lp_life_day, lp_life_hour, lp_type_swap_hour, lp_type_hour, lp_type_bar, lp_event, lp_swap, lp_reward, lp_volume_hour
-- local: lp_liquidity_hour, lp_liquidity_day, lp_owner_hour, lp_owner_count, lp_pool_last, lp_pool_hour, lp_pool_bar, lp_pool_day, lp_pool_quarter, lp_pool_month, lp_pool_life
-- local: lp_flow_hour, lp_flow_day, lp_flow_quarter, lp_flow_month, lp_flow_life
-- local: lp_smart_flow_day, lp_smart_flow_hour, lp_smart_last, lp_position_sum, lp_owner_day, lp_owner_life, lp_owner_pool, lp_owner_result
-- local: lp_score, lp_smart_day, lp_smart_pool, lp_smart_life, lp_position, lp_position_event
-- local: token_price, dca_event, dca_order

-- On the coordinator, small or about money: every payment step is one short transaction over several keys.
-- local: payment, payment_claim, payment_instance, payment_rechallenge, payment_step
-- local: source_cursor, snapshot, signal, signal_mark, signal_record, signal_snapshot, pm_follow_state, pm_follow_due, pm_told_hour, pm_told_whole, pm_told_size, pm_told_day, pm_told_day_size, pm_latest_day, pm_latest_hour, pm_smart_latest_told, _prisma_migrations
