import { clip, clipSigned, roundTo } from '../../../lib/statistics';
import {
  consistency,
  edgeOf,
  edgeWithoutLargestEvent,
  eligiblePositions,
  forecasts,
  largestEventShare,
  shrunkReturn,
  sumsByEvent,
} from './evidence';
import type { Edge, EndedPosition, EventSums } from './evidence';
import { S_PM } from './parameters';
import { edgeInterval, randomizationP, seedOfEvents } from './significance';
import { type Tier, tierOf } from './tiers';

type PmBand = 'smart' | 'between' | 'dumb';
/** Rules that held a score down. */
type PmCap = 'newcomer' | 'trivial_edge' | 'one_hit';
type PmConfidence = 'low' | 'medium' | 'high';

/** What the score is made of. */
export interface PmEvidence {
  /** Positions that forecast. */
  n: number;
  /** Edge over its standard error as a normal number, corrected for few events; null of nothing. */
  z: number | null;
  /** z without the largest event; null when there is no other. */
  without_largest_event_z: number | null;
  roi_shrunk: number;
  consistency: number;
}

export interface PmVerdict {
  /** 0..100 in tenths; null below five positions. */
  score: number | null;
  tier: Tier;
  band: PmBand;
  caps: PmCap[];
}

export interface PmScore extends PmEvidence, PmVerdict {
  /** Mean of outcome less entry price, −1..1. */
  edge: number | null;
  /** Its 90 % interval: low, high. */
  edge_ci: [number, number] | null;
  /** Chance of so large an edge at fair prices. */
  p_value: number | null;
  score_confidence: PmConfidence;
  /** An edge beyond chance by its standard error and by randomization, which also holds for few bets and few events. */
  is_significant: boolean;
  /** Share of the largest event in the net gain, 0..1; null without a gain. */
  largest_event_share: number | null;
  version: string;
}

/** Score of one wallet from all its ended positions, in any order, as of `now`; later and refunded ones are passed over. */
export function scoreWallet(positions: readonly EndedPosition[], now: Date): PmScore {
  const eligible = eligiblePositions(positions, now);
  const counted = forecasts(eligible, now);
  const events = sumsByEvent(counted);
  const edge = edgeOf(events);
  const evidence: PmEvidence = {
    n: counted.length,
    z: edge?.z ?? null,
    without_largest_event_z: edgeWithoutLargestEvent(events)?.z ?? null,
    roi_shrunk: shrunkReturn(counted),
    consistency: consistency(eligible),
  };
  const seed = seedOfEvents(events);
  const p = edge && randomizationP(counted, seed);
  return {
    ...verdictOn(evidence),
    ...evidence,
    ...toldEdge(edge, events, seed),
    p_value: p,
    score_confidence: confidenceOf(evidence),
    is_significant: isProvenGood(evidence) && p !== null && p < S_PM.significant_p,
    largest_event_share: largestEventShare(eligible),
    version: S_PM.version,
  };
}

/** The edge of `scoreWallet` and its interval alone, of the same positions: no luck is drawn. */
export function judgeEdge(positions: readonly EndedPosition[], now: Date): Pick<PmScore, 'edge' | 'edge_ci'> {
  const events = sumsByEvent(forecasts(eligiblePositions(positions, now), now));
  return toldEdge(edgeOf(events), events, seedOfEvents(events));
}

const toldEdge = (edge: Edge | null, events: readonly EventSums[], seed: number): Pick<PmScore, 'edge' | 'edge_ci'> => ({
  edge: edge?.edge ?? null,
  edge_ci: edge && edgeInterval(edge, events, seed),
});

/** What of `scoreWallet` a leader is shown with, of the same positions: luck is drawn only where the standard error does not decide. */
export function judgeLeader(
  positions: readonly EndedPosition[],
  now: Date,
): Pick<PmScore, 'edge' | 'edge_ci' | 'is_significant' | 'largest_event_share'> {
  const eligible = eligiblePositions(positions, now);
  const counted = forecasts(eligible, now);
  const events = sumsByEvent(counted);
  const edge = edgeOf(events);
  const seed = seedOfEvents(events);
  return {
    ...toldEdge(edge, events, seed),
    is_significant: edge !== null && isProvenGood(edge) && randomizationP(counted, seed) < S_PM.significant_p,
    largest_event_share: largestEventShare(eligible),
  };
}

/** Band, caps, score and tier of the evidence. */
export function verdictOn(evidence: PmEvidence): PmVerdict {
  const band = bandOf(evidence);
  const { value, caps } = capped(bandScore(band, evidence), evidence);
  const score = evidence.n < S_PM.unscored_below_n ? null : roundTo(value, 1);
  return { score, tier: tierOf(score), band, caps };
}

const isProvenGood = ({ z }: Pick<PmEvidence, 'z'>): boolean => z !== null && z > S_PM.significant_z;
const isProvenBad = ({ z }: PmEvidence): boolean => z !== null && z < -S_PM.significant_z;
/** Still an edge without its largest event. */
const isRobust = ({ without_largest_event_z: z }: PmEvidence): boolean => z !== null && z > S_PM.robust_z;

function bandOf(evidence: PmEvidence): PmBand {
  if (evidence.n >= S_PM.smart.min_n && isProvenGood(evidence) && isRobust(evidence)) return 'smart';
  return evidence.n >= S_PM.dumb.min_n && isProvenBad(evidence) ? 'dumb' : 'between';
}

function bandScore(band: PmBand, { z: seen, roi_shrunk, consistency: p }: PmEvidence): number {
  const { smart, dumb, between, significant_z } = S_PM;
  const z = seen ?? 0;
  switch (band) {
    case 'smart':
      return smart.from + smart.span * clip((z - significant_z) / smart.z_span);
    case 'dumb':
      return Math.min(dumb.to, dumb.from - dumb.span * clip((-z - significant_z) / dumb.z_span));
    case 'between':
      return (
        between.centre +
        between.reach *
          clipSigned(
            (between.z * z) / significant_z +
              between.return * clipSigned(roi_shrunk / between.return_full) +
              between.months * clipSigned((p - 0.5) / between.months_full),
          )
      );
  }
}

function capped(value: number, evidence: PmEvidence): { value: number; caps: PmCap[] } {
  const { newcomer, trivial_edge, one_hit, smart } = S_PM;
  const caps: PmCap[] = [];
  const hold = (cap: PmCap, applies: boolean, at_most: number): void => {
    if (!applies || value <= at_most) return;
    value = at_most;
    caps.push(cap);
  };
  hold('newcomer', evidence.n < newcomer.below_n, newcomer.at_most);
  hold('trivial_edge', evidence.roi_shrunk < trivial_edge.below_return, trivial_edge.at_most);
  hold('one_hit', !isRobust(evidence), one_hit.at_most);
  // Without that test it would have been smart: the rule held it down even when the band's own score is lower.
  const missedSmart = evidence.n >= smart.min_n && isProvenGood(evidence) && !isRobust(evidence);
  if (missedSmart && !caps.includes('one_hit')) caps.push('one_hit');
  return { value, caps };
}

function confidenceOf({ n, z }: PmEvidence): PmConfidence {
  const { high_n, high_z, medium_n } = S_PM.confidence;
  if (n >= high_n && z !== null && z > high_z) return 'high';
  return n >= medium_n ? 'medium' : 'low';
}
