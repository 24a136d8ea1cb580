/** SQL that notes the resolved markets among `rows`, SQL of rows of pm_position: what was told of their crowds may no longer be true. */
export const noteSettledDue = (rows: string): string =>
  `INSERT INTO pm_settled_due (condition_id) SELECT DISTINCT condition_id FROM (${rows}) AS settling WHERE settled_at IS NOT NULL ON CONFLICT DO NOTHING`;

/** SQL that notes markets ($1), whatever their positions say: on one that is open again none is settled. */
export const NOTE_MARKETS = 'INSERT INTO pm_settled_due (condition_id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING';
