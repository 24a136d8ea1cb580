import { DAMM_V2_PROGRAM, DCA_PROGRAM, DLMM_PROGRAM } from '../chain-addresses';
import type { FieldType, Layout } from './borsh';

/**
 * Events of the three programs, by their 8-byte Anchor discriminator (hex; the first bytes of sha256("event:Name")).
 * Sources: the published interface files lb_clmm 0.12.0, cp_amm 0.1.3 (older split event), 0.1.5 (older swap and liquidity events) to 0.2.1, dca 0.1.0.
 */
export interface EventLayout {
  name: string;
  fields: Layout;
}

type Primitive = Extract<FieldType, string>;

/** A layout from `name:type` words. */
function fields(words: string): Layout {
  return words
    .trim()
    .split(/\s+/)
    .map((word) => word.split(':') as [string, Primitive]);
}

const LIQUIDITY = fields('lb_pair:pubkey from:pubkey position:pubkey amounts:u64x2 active_bin_id:i32');
const CLAIM = fields('lb_pair:pubkey position:pubkey owner:pubkey fee_x:u64 fee_y:u64');
const REWARD = fields('lb_pair:pubkey position:pubkey owner:pubkey reward_index:index total_reward:u64');
const ACTIVE_BIN = fields('active_bin_id:i32');

const DLMM: Record<string, EventLayout> = {
  '1f5e7d5ae3343dba': { name: 'AddLiquidity', fields: LIQUIDITY },
  '74f461e8671f983a': { name: 'RemoveLiquidity', fields: LIQUIDITY },
  '4b7a9a308c4a7ba3': { name: 'ClaimFee', fields: CLAIM },
  e8abf2613a4d232d: { name: 'ClaimFee2', fields: [...CLAIM, ...ACTIVE_BIN] },
  '947486cc16ab555f': { name: 'ClaimReward', fields: REWARD },
  '1b8ff421502b6e92': { name: 'ClaimReward2', fields: [...REWARD, ...ACTIVE_BIN] },
  '908efc549d352579': { name: 'PositionCreate', fields: fields('lb_pair:pubkey position:pubkey owner:pubkey') },
  ffc4106b1cca3580: { name: 'PositionClose', fields: fields('position:pubkey owner:pubkey') },
  '006d75b33d5bc7c8': {
    name: 'Rebalancing',
    fields: fields(`lb_pair:pubkey position:pubkey owner:pubkey active_bin_id:i32 x_withdrawn_amount:u64 x_added_amount:u64
      y_withdrawn_amount:u64 y_added_amount:u64 x_fee_amount:u64 y_fee_amount:u64 old_min_id:i32 old_max_id:i32 new_min_id:i32 new_max_id:i32 rewards:u64x2`),
  },
  '516ce3becdd00ac4': {
    name: 'Swap',
    fields:
      fields(`lb_pair:pubkey from:pubkey start_bin_id:i32 end_bin_id:i32 amount_in:u64 amount_out:u64 swap_for_y:bool fee:u64 protocol_fee:u64
      fee_bps:u128 host_fee:u64`),
  },
  '2e7452d7941b544d': {
    name: 'Swap2Evt',
    fields:
      fields(`lb_pair:pubkey from:pubkey start_bin_id:i32 end_bin_id:i32 swap_for_y:bool fee_bps:u128 amount_in:u64 amount_left:u64 amount_out:u64
      mm_fee:u64 protocol_fee:u64 limit_order_fee:u64 host_fee:u64 fees_on_input:bool fees_on_token_x:bool`),
  },
  b94afc7d1bd7bc6f: { name: 'LbPairCreate', fields: fields('lb_pair:pubkey bin_step:u16 token_x:pubkey token_y:pubkey') },
};

const POSITION = fields('pool:pubkey position:pubkey owner:pubkey');
const POSITION_NFT = fields('pool:pubkey owner:pubkey position:pubkey position_nft_mint:pubkey');
const LIQUIDITY_PARAMS: Layout = [
  ['params', { struct: fields('liquidity_delta:u128 token_a_amount_threshold:u64 token_b_amount_threshold:u64') }],
];
const POOL_FEES: Layout = [
  ['base_fee', { bytes: 27 }],
  ['padding', { bytes: 3 }],
  ['dynamic_fee', { option: { bytes: 32 } }],
];
const SPLIT = fields(
  'pool:pubkey first_owner:pubkey second_owner:pubkey first_position:pubkey second_position:pubkey current_sqrt_price:u128',
);
const SPLIT_REST = 'fee_a:u64 fee_b:u64 reward_0:u64 reward_1:u64';
const AMOUNT_SPLITS = fields(`permanent_locked_liquidity:u128 unlocked_liquidity:u128 ${SPLIT_REST}`);
const AMOUNT_SPLITS_2 = fields(`permanent_locked_liquidity:u128 unlocked_liquidity:u128 vested_liquidity:u128 ${SPLIT_REST}`);
/** What went over; `after` bytes tell both positions and the parameters of the split. */
const splitOf = (amounts: Layout, after: number): Layout => [...SPLIT, ['amount_splits', { struct: amounts }], ['after', { bytes: after }]];
const SWAP_RESULT_2 =
  fields(`included_fee_input_amount:u64 excluded_fee_input_amount:u64 amount_left:u64 output_amount:u64 next_sqrt_price:u128
  claiming_fee:u64 protocol_fee:u64 compounding_fee:u64 referral_fee:u64`);
const SWAP_RESULT = fields('output_amount:u64 next_sqrt_price:u128 lp_fee:u64 protocol_fee:u64 partner_fee:u64 referral_fee:u64');

const DAMM_V2: Record<string, EventLayout> = {
  c5ab4e7fe0d3570d: {
    name: 'EvtLiquidityChange',
    fields: [
      ...POSITION,
      ...fields(`token_a_amount:u64 token_b_amount:u64 transfer_fee_included_token_a_amount:u64 transfer_fee_included_token_b_amount:u64 reserve_a_amount:u64
        reserve_b_amount:u64 liquidity_delta:u128 token_a_amount_threshold:u64 token_b_amount_threshold:u64 change_type:u8`),
    ],
  },
  aff2089d1ef7b9a9: {
    name: 'EvtAddLiquidity',
    fields: [...POSITION, ...LIQUIDITY_PARAMS, ...fields('token_a_amount:u64 token_b_amount:u64 total_amount_a:u64 total_amount_b:u64')],
  },
  '572e5862af60225b': {
    name: 'EvtRemoveLiquidity',
    fields: [...POSITION, ...LIQUIDITY_PARAMS, ...fields('token_a_amount:u64 token_b_amount:u64')],
  },
  c6b6b734610c3138: { name: 'EvtClaimPositionFee', fields: [...POSITION, ...fields('fee_a_claimed:u64 fee_b_claimed:u64')] },
  da5693c8ebbcd7e7: { name: 'EvtClaimReward', fields: [...POSITION, ...fields('mint_reward:pubkey reward_index:u8 total_reward:u64')] },
  '9c0f77c61db5dd37': { name: 'EvtCreatePosition', fields: POSITION_NFT },
  '149190448f8ed6b2': { name: 'EvtClosePosition', fields: POSITION_NFT },
  e432f655cb428625: {
    name: 'EvtInitializePool',
    fields: [
      ...fields('pool:pubkey token_a_mint:pubkey token_b_mint:pubkey creator:pubkey payer:pubkey alpha_vault:pubkey'),
      ['pool_fees', { struct: POOL_FEES }],
      ...fields(`sqrt_min_price:u128 sqrt_max_price:u128 activation_type:u8 collect_fee_mode:u8 liquidity:u128 sqrt_price:u128 activation_point:u64
        token_a_flag:u8 token_b_flag:u8 token_a_amount:u64 token_b_amount:u64 total_amount_a:u64 total_amount_b:u64 pool_type:u8`),
    ],
  },
  b68a2afe1b5e52dd: { name: 'EvtSplitPosition', fields: splitOf(AMOUNT_SPLITS, 118) },
  a520cbae4864e967: { name: 'EvtSplitPosition2', fields: splitOf(AMOUNT_SPLITS, 120) },
  e875beda55a2cf4e: { name: 'EvtSplitPosition3', fields: splitOf(AMOUNT_SPLITS_2, 188) },
  bd4233a826507599: {
    name: 'EvtSwap2',
    fields: [
      ...fields('pool:pubkey trade_direction:u8 collect_fee_mode:u8 has_referral:bool'),
      ['params', { struct: fields('amount_0:u64 amount_1:u64 swap_mode:u8') }],
      ['swap_result', { struct: SWAP_RESULT_2 }],
      ...fields(`included_transfer_fee_amount_in:u64 included_transfer_fee_amount_out:u64 excluded_transfer_fee_amount_out:u64 current_timestamp:u64
        reserve_a_amount:u64 reserve_b_amount:u64`),
    ],
  },
  '1b3c15d58aaabb93': {
    name: 'EvtSwap',
    fields: [
      ...fields('pool:pubkey trade_direction:u8 has_referral:bool'),
      ['params', { struct: fields('amount_in:u64 minimum_amount_out:u64') }],
      ['swap_result', { struct: SWAP_RESULT }],
      ...fields('actual_amount_in:u64 current_timestamp:u64'),
    ],
  },
};

const ORDER = fields(
  'userKey:pubkey dcaKey:pubkey inDeposited:u64 inputMint:pubkey outputMint:pubkey cycleFrequency:i64 inAmountPerCycle:u64 createdAt:i64',
);

const DCA: Record<string, EventLayout> = {
  a6ac61094d4cbd6d: { name: 'Opened', fields: ORDER },
  '8604113fdd2db1ad': {
    name: 'Filled',
    fields: fields('userKey:pubkey dcaKey:pubkey inputMint:pubkey outputMint:pubkey inAmount:u64 outAmount:u64 feeMint:pubkey fee:u64'),
  },
  '321f579b87dcc3ef': {
    name: 'Closed',
    fields: [...ORDER, ...fields('totalInWithdrawn:u64 totalOutWithdrawn:u64 unfilledAmount:u64 userClosed:bool')],
  },
  '2a88d874b5d16db5': { name: 'CollectedFee', fields: fields('userKey:pubkey dcaKey:pubkey mint:pubkey amount:u64') },
  c0f1c9d946965af7: { name: 'Withdraw', fields: fields('dcaKey:pubkey inAmount:u64 outAmount:u64 userWithdraw:bool') },
  '3ecdf2aff4a98834': { name: 'Deposit', fields: fields('dcaKey:pubkey amount:u64') },
};

/** Layouts by program and discriminator. */
export const EVENT_LAYOUTS: Readonly<Record<string, Readonly<Record<string, EventLayout>>>> = {
  [DLMM_PROGRAM]: DLMM,
  [DAMM_V2_PROGRAM]: DAMM_V2,
  [DCA_PROGRAM]: DCA,
};
