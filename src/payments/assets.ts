/** USDC mints by Solana network (6 decimals, classic Token program). Source: Circle's list of contract addresses. */
export const SOLANA_USDC_MINTS = {
  mainnet: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  devnet: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
} as const;

/** USDC.e on Tempo (6 decimals). Source: Tempo's token list. */
export const TEMPO_USDC = '0x20C000000000000000000000b9537d11c60E8b50';
