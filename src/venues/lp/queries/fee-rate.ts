/** Fees in percent of volume; null where either is unknown or nothing was swapped. */
export const feeRate = (fees: string, volume: string): string => `100 * ${fees} / nullif(${volume}, 0)`;

/**
 * Highest fee a swap may cost, in percent. dlmm: MAX_FEE_RATE 100,000,000 of FEE_PRECISION 10^9 (github.com/MeteoraAg/dlmm-sdk,
 * commons/src/constants.rs). damm_v2: MAX_FEE_NUMERATOR_V1 990,000,000 of FEE_DENOMINATOR 10^9 (github.com/MeteoraAg/damm-v2,
 * programs/cp-amm/src/constants.rs), the bound of every pool of the current version; pools of version 0 stop at 50 %, which no feed tells.
 */
export const MOST_FEE_PCT = { dlmm: 10, damm_v2: 99 } as const;

/** From a launch on fees fall by a schedule: in damm_v2 pools so young, rates above this are that. */
export const LAUNCH_FEE = { above_pct: 10, hours: 24 } as const;

/** Why a rate should not be taken at face value; null for no reason, or an age that nobody tells. */
export const feeRateFlag = (pool: string, rate: string, now: string): string => `CASE
  WHEN ${rate} > CASE ${pool}.pool_type WHEN 'dlmm' THEN ${MOST_FEE_PCT.dlmm} ELSE ${MOST_FEE_PCT.damm_v2} END THEN 'implausible'
  WHEN ${pool}.pool_type = 'damm_v2' AND ${rate} > ${LAUNCH_FEE.above_pct} AND ${pool}.created_at > ${now} - interval '${LAUNCH_FEE.hours} hours' THEN 'launch_fee_schedule' END`;
