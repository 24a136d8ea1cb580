-- Whole lives of smart accounts stand beside each other too, as the day -infinity.
INSERT INTO "perp_smart_trader_day" ("day", "coin", "trader", "score", "fills", "buys", "open_longs", "open_shorts", "close_longs", "close_shorts",
  "open_long_usd", "open_short_usd", "close_long_usd", "close_short_usd", "bought_size", "sold_size", "long_pnl", "short_pnl", "last_at")
SELECT '-infinity', d."coin", d."trader", d."score", sum(d."fills"), sum(d."buys"), sum(d."open_longs"), sum(d."open_shorts"), sum(d."close_longs"),
  sum(d."close_shorts"), sum(d."open_long_usd"), sum(d."open_short_usd"), sum(d."close_long_usd"), sum(d."close_short_usd"), sum(d."bought_size"),
  sum(d."sold_size"), sum(d."long_pnl"), sum(d."short_pnl"), max(d."last_at")
FROM "perp_smart_trader_day" d GROUP BY d."coin", d."trader", d."score" ORDER BY 2, 3;
