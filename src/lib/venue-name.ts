/** The venues that are told of: a wing each. */
export type VenueName = 'prediction' | 'perps' | 'lp';
