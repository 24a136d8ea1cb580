-- What wallets put in is told in the order of markets, so that those of several are gone through side by side.
UPDATE "pm_told_sides" SET ("markets", "tokens", "net_usdc", "is_top", "opened_at") = (
  SELECT array_agg(market ORDER BY market, token), array_agg(token ORDER BY market, token), array_agg(net ORDER BY market, token), array_agg(top ORDER BY market, token), array_agg(opened ORDER BY market, token)
  FROM unnest("markets", "tokens", "net_usdc", "is_top", "opened_at") AS own(market, token, net, top, opened)
);
