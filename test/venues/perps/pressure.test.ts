import { pressureLabel } from '../../../src/venues/perps/pressure';
import { testDatabase } from '../../support/database';
import { ago, ANN, BOB, loadScores, MAX, NOW } from './small-world';
import { ask, load, match } from './support';

interface Held {
  trader: string;
  coin: string;
  usd_value: number;
}

interface Pressed {
  pressure_ratio: number;
  pressure_label: string;
}

test('a ratio that is shown as a bound has the label of the bound, whatever noise the positions carry', async () => {
  const db = await testDatabase();
  try {
    await load(db.pool, [
      match(ago(6), { px: '1', sz: '115', side: 'B', taker: [BOB, '0.0'], maker: [MAX, '0.0'] }),
      match(ago(5), { px: '1', sz: '100', side: 'A', taker: [ANN, '14.99999999999'], maker: [MAX, '-115.0'] }),
      match(ago(6), { coin: 'ETH', px: '1', sz: '10', side: 'B', taker: [BOB, '0.0'], maker: [MAX, '0.0'] }),
      match(ago(5), { coin: 'ETH', px: '1', sz: '25', side: 'A', taker: [ANN, '15.00000000001'], maker: [MAX, '-10.0'] }),
    ]);
    const expected = { pressure_ratio: 0.15, pressure_label: 'buy' };
    const even = { pressure_ratio: 0, pressure_label: 'neutral' };
    const pairs = await ask<{ coins: Pressed[] }>(db, 'perps/pressure/pairs', {}, NOW);
    expect(pairs.data.coins).toMatchObject([expected, even]);
    const summary = await ask<{ coins: Pressed[]; market: Pressed }>(db, 'perps/pressure/summary', {}, NOW);
    expect(summary.data).toMatchObject({ coins: [expected, even], market: { coins_long: 1, coins_short: 0 } });
  } finally {
    await db.drop();
  }
});

test('a half is strong', () =>
  expect(['-0.5', '-0.499999', '0.4999996', '0.149999'].map(pressureLabel)).toEqual(['strong_sell', 'sell', 'strong_buy', 'neutral']));

test('positions that are shown with the same value stand by their names, whatever noise they carry', async () => {
  const db = await testDatabase();
  try {
    const bought = (coin: string, user: string, held: string): unknown =>
      match(ago(5), { coin, px: '1', sz: '5', side: 'B', taker: [user, held], maker: [MAX, '-100.0'] });
    await load(db.pool, [
      bought('BTC', ANN, '4.99999999999'),
      bought('BTC', BOB, '5.0'),
      bought('ETH', ANN, '5.0'),
      bought('ETH', BOB, '5.00000000001'),
    ]);
    await loadScores(db.pool, '2026-01-31', { [ANN]: 90, [BOB]: 90 });
    const pairs = await ask<{ coins: { smart_positions: Held[] }[] }>(db, 'perps/pressure/pairs', { trades_limit: 1 }, NOW);
    expect(pairs.data.coins.map(({ smart_positions }) => smart_positions)).toMatchObject([[{ trader: ANN, usd_value: 10 }], [{ trader: ANN, usd_value: 10 }]]); // prettier-ignore
    for (const trader of [ANN, BOB]) {
      const { data } = await ask<{ open_positions: Held[] }>(db, 'perps/traders/profile', { trader }, NOW);
      expect(data.open_positions.map(({ coin, usd_value }) => [coin, usd_value])).toEqual([['BTC', 10], ['ETH', 10]]); // prettier-ignore
    }
  } finally {
    await db.drop();
  }
});

test('coins of which the same is shown to be opened stand by their names, whatever noise the positions carry', async () => {
  const db = await testDatabase();
  try {
    const flip = (coin: string, held: string): unknown =>
      match(ago(5), { coin, px: '1', sz: '100', side: 'A', taker: [ANN, held], maker: [MAX, '-100.0'] });
    await load(db.pool, [flip('BTC', '15.00000000001'), flip('ETH', '14.99999999999')]);
    await loadScores(db.pool, '2026-01-31', { [ANN]: 90 });
    for (const path of ['pairs', 'summary']) {
      const { data } = await ask<{ coins: { coin: string; short_pressure: number }[] }>(db, `perps/pressure/${path}`, {}, NOW);
      expect(data.coins.map(({ coin, short_pressure }) => [coin, short_pressure])).toEqual([['BTC', 85], ['ETH', 85]]); // prettier-ignore
    }
    const { data } = await ask<{ period_summary: { top_coins: { coin: string; volume: number }[] } }>(db, 'perps/smart-wallets/activity', { side: 'Open Short' }, NOW); // prettier-ignore
    expect(data.period_summary.top_coins.map(({ coin, volume }) => [coin, volume])).toEqual([['BTC', 85], ['ETH', 85]]); // prettier-ignore
  } finally {
    await db.drop();
  }
});
