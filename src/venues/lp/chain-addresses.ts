/** Solana addresses that figures depend on. Source: the programs' public documentation and their interface files. */
export const DLMM_PROGRAM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo';
export const DAMM_V2_PROGRAM = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG';
export const DCA_PROGRAM = 'DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M';

export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
export const SOL = 'So11111111111111111111111111111111111111112';

/** Tokens that are worth one dollar by definition. */
export const STABLES: readonly string[] = [USDC, USDT];

/** Decimals of the tokens by which others are priced. Source: their mint accounts (SPL Token has no instruction that changes them; of SOL spl_token::native_mint). */
export const QUOTE_DECIMALS: Readonly<Record<string, number>> = { [USDC]: 6, [USDT]: 6, [SOL]: 9 };

export type PoolType = 'dlmm' | 'damm_v2';
export const POOL_TYPES: readonly PoolType[] = ['dlmm', 'damm_v2'];
