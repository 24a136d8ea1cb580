import type { Event, Life } from './market-life';
import { conditionId, questionId, tokenId } from './names';
import type { Plan } from './schedule';

const iso = (time: number): string => `${new Date(time * 1_000).toISOString().slice(0, -1)}000Z`;

/** A row of Data API `/trades`, or of `/activity` for what only a wallet's history tells. */
export function rowOf({ plan }: Life, event: Event): Record<string, unknown> {
  const { outcome } = event;
  const row = {
    proxyWallet: event.by.wallet,
    side: event.kind === 'BUY' || event.kind === 'SELL' ? event.kind : '',
    asset: outcome === null ? '' : tokens(plan)[outcome],
    conditionId: conditionOf(plan),
    size: event.shares / 100,
    price: event.price / 1_000,
    timestamp: event.time,
    title: plan.question,
    slug: plan.slug,
    icon: '',
    eventSlug: plan.event.slug,
    outcome: outcome === null ? '' : plan.topic.outcomes[outcome],
    outcomeIndex: outcome ?? 999,
    name: event.by.name,
    pseudonym: '',
    bio: '',
    profileImage: '',
    profileImageOptimized: '',
    transactionHash: event.tx,
  };
  if (event.feed === 'trades') return row;
  return { ...row, type: outcome === null ? event.kind : 'TRADE', usdcSize: event.usdc / 100_000 };
}

/** The market object of Gamma `/markets?include_tag=true` as it stood at its creation, or after its resolution. */
export function marketOf({ plan, path, volume }: Life, version: 'created' | 'resolved'): Record<string, unknown> {
  const resolved = version === 'resolved';
  const prices = !resolved
    ? [plan.first_price, 1 - plan.first_price].map((price) => price.toFixed(2))
    : plan.is_voided
      ? ['0.5', '0.5']
      : path.first_wins
        ? ['1', '0']
        : ['0', '1'];
  const updated = resolved ? plan.resolved : plan.created;
  return {
    id: String(plan.number),
    question: plan.question,
    conditionId: conditionOf(plan),
    questionID: questionId(plan.id),
    slug: plan.slug,
    description: plan.question,
    outcomes: JSON.stringify(plan.topic.outcomes),
    outcomePrices: JSON.stringify(prices),
    clobTokenIds: JSON.stringify(tokens(plan)),
    active: true,
    closed: resolved,
    archived: false,
    acceptingOrders: !resolved,
    enableOrderBook: true,
    createdAt: iso(plan.created),
    startDate: iso(plan.created),
    endDate: new Date(plan.end * 1_000).toISOString().replace('.000', ''),
    updatedAt: iso(updated),
    volume: String(resolved ? volume / 100_000 : 0),
    volumeNum: resolved ? volume / 100_000 : 0,
    liquidity: resolved ? '0' : '5000',
    negRisk: plan.neg_risk,
    ...(plan.neg_risk ? { negRiskMarketID: questionId(plan.event.id) } : {}),
    umaResolutionStatuses: resolved ? '["proposed", "resolved"]' : '[]',
    ...(resolved ? { closedTime: `${iso(plan.resolved).slice(0, 19).replace('T', ' ')}+00`, umaResolutionStatus: 'resolved' } : {}),
    tags: plan.topic.tags.map((slug, index) => ({ id: String(index + 1), label: slug, slug })),
    events: [{ id: plan.event.id, slug: plan.event.slug, title: plan.event.title, negRisk: plan.neg_risk }],
  };
}

const ids = new WeakMap<Plan, { condition: string; tokens: [string, string] }>();

function idsOf(plan: Plan): { condition: string; tokens: [string, string] } {
  const known = ids.get(plan) ?? {
    condition: conditionId(plan.id),
    tokens: [tokenId(plan.id, 0), tokenId(plan.id, 1)] as [string, string],
  };
  ids.set(plan, known);
  return known;
}

const conditionOf = (plan: Plan): string => idsOf(plan).condition;
const tokens = (plan: Plan): [string, string] => idsOf(plan).tokens;
