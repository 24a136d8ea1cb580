import fs from 'node:fs';
import path from 'node:path';
import bs58 from 'bs58';
import fc from 'fast-check';
import { DAMM_V2_PROGRAM, DCA_PROGRAM, DLMM_PROGRAM } from '../../../../src/venues/lp/chain-addresses';
import { decodeBase58 } from '../../../../src/venues/lp/sources/base58';
import { BorshReader, type FieldType, type Layout } from '../../../../src/venues/lp/sources/borsh';
import { EVENT_LAYOUTS } from '../../../../src/venues/lp/sources/event-layouts';
import { type DecodedTransaction, decodeTransaction } from '../../../../src/venues/lp/sources/transaction';
import { realData, testWithRealData } from '../../../support/real-data';
import { bool, eventData, i32, key, named, parsedTransaction, u128, u64 } from '../chain-writer';

describe('base58', () => {
  test('agrees with the common implementation on any bytes, leading zeros included', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(4), (bytes, zeros) => {
        const padded = Buffer.concat([Buffer.alloc(zeros), bytes]);
        expect(decodeBase58(bs58.encode(padded))?.toString('hex')).toBe(padded.toString('hex'));
      }),
    );
  });

  test('refuses what is not base58', () => {
    for (const text of ['0', 'O', 'I', 'l', 'abc+', 'é', '11 1']) expect(decodeBase58(text)).toBeUndefined();
    expect(decodeBase58('')).toEqual(Buffer.alloc(0));
  });
});

describe('payloads', () => {
  const golden = (data: string, program: string): DecodedTransaction =>
    decodeTransaction(
      parsedTransaction({
        signature: named('s', 64),
        at: '2025-01-01T00:00:00Z',
        payer: named('payer'),
        events: [{ program, data: bs58.encode(Buffer.from(data, 'hex')) }],
      }),
    ) as DecodedTransaction;

  test('a swap of the bin program, as a third party recorded it', () => {
    const { events } = golden(
      'e445a52e51cb9a1d516ce3becdd00ac471739c6f45944a0e56b3a0f9b2399f421b0a82b56c5b87acc78023b8ed27cc7cf74ba51f6820a847117a8fad48c80ae298e20bf37ff35e7ae8c7b85272b5010701feffff01feffff1f660a0000000000702c000000000000016037000000000000c40200000000000000623d010000000000000000000000000000000000000000',
      DLMM_PROGRAM,
    );
    expect(events).toEqual([
      {
        program: DLMM_PROGRAM,
        name: 'Swap',
        bytesLeft: 0,
        outerIx: 0,
        innerIx: 0,
        fields: {
          lb_pair: '8dsKNwMDMh1Vfr4YevzRY9oDS7N29fRHpPXcoDmUVSBd',
          from: 'HeLbvj7KM5fkduCdiufTa5SmVtuuVjySPps7dnp2pDZG',
          start_bin_id: -511,
          end_bin_id: -511,
          amount_in: '681503',
          amount_out: '11376',
          swap_for_y: true,
          fee: '14176',
          protocol_fee: '708',
          fee_bps: '20800000',
          host_fee: '0',
        },
      },
    ]);
  });

  test('a swap of the constant-product program in its older form, as a third party recorded it', () => {
    const { events } = golden(
      'e445a52e51cb9a1d1b3c15d58aaabb9361eb363b6c0f73437a18891ec65e5a1f20fbbdd8870656657d3167e04d4830a5010000c2eb0b00000000ccc0a13a8c7f0000ee64bf1c6f8d0000e83e7db166ee49000000000000000000544b1d0000000000d4520700000000000000000000000000000000000000000000c2eb0b0000000053f2bb6800000000',
      DAMM_V2_PROGRAM,
    );
    expect(events[0]).toMatchObject({
      name: 'EvtSwap',
      bytesLeft: 0,
      fields: {
        pool: '7bEa1teiLKdRbEopnCWjDdcvAAAnaHuiRiPErUKhLybS',
        trade_direction: 1,
        has_referral: false,
        params: { amount_in: '200000000', minimum_amount_out: '140240255828172' },
        swap_result: { output_amount: '155508363191534', lp_fee: '1919828', protocol_fee: '479956', partner_fee: '0', referral_fee: '0' },
        actual_amount_in: '200000000',
        current_timestamp: '1757147731',
      },
    });
  });

  // Lengths of payloads without tag and discriminator, added up from the published interface files.
  test.each([
    [DLMM_PROGRAM, 'AddLiquidity', 116],
    [DLMM_PROGRAM, 'RemoveLiquidity', 116],
    [DLMM_PROGRAM, 'ClaimFee', 112],
    [DLMM_PROGRAM, 'ClaimFee2', 116],
    [DLMM_PROGRAM, 'ClaimReward', 112],
    [DLMM_PROGRAM, 'ClaimReward2', 116],
    [DLMM_PROGRAM, 'PositionCreate', 96],
    [DLMM_PROGRAM, 'PositionClose', 64],
    [DLMM_PROGRAM, 'Rebalancing', 180],
    [DLMM_PROGRAM, 'Swap', 129],
    [DLMM_PROGRAM, 'Swap2Evt', 147],
    [DLMM_PROGRAM, 'LbPairCreate', 98],
    [DAMM_V2_PROGRAM, 'EvtLiquidityChange', 177],
    [DAMM_V2_PROGRAM, 'EvtAddLiquidity', 160],
    [DAMM_V2_PROGRAM, 'EvtRemoveLiquidity', 144],
    [DAMM_V2_PROGRAM, 'EvtClaimPositionFee', 112],
    [DAMM_V2_PROGRAM, 'EvtClaimReward', 137],
    [DAMM_V2_PROGRAM, 'EvtCreatePosition', 128],
    [DAMM_V2_PROGRAM, 'EvtClosePosition', 128],
    [DAMM_V2_PROGRAM, 'EvtSplitPosition', 358],
    [DAMM_V2_PROGRAM, 'EvtSplitPosition2', 360],
    [DAMM_V2_PROGRAM, 'EvtSplitPosition3', 444],
    [DAMM_V2_PROGRAM, 'EvtSwap2', 180],
    [DAMM_V2_PROGRAM, 'EvtSwap', 122],
    [DCA_PROGRAM, 'Opened', 160],
    [DCA_PROGRAM, 'Filled', 184],
    [DCA_PROGRAM, 'Closed', 185],
    [DCA_PROGRAM, 'CollectedFee', 104],
    [DCA_PROGRAM, 'Withdraw', 49],
    [DCA_PROGRAM, 'Deposit', 40],
  ])('%s %s holds %i bytes', (program, name, length) => {
    const [discriminator, layout] = Object.entries(EVENT_LAYOUTS[program] ?? {}).find(([, candidate]) => candidate.name === name) as [
      string,
      { fields: Layout },
    ];
    expect(
      Buffer.from(bs58.decode(eventData(name)))
        .subarray(8)
        .toString('hex'),
    ).toBe(discriminator);
    const reader = new BorshReader(Buffer.alloc(length));
    reader.struct(layout.fields);
    expect(reader.bytesLeft).toBe(0);
    expect(() => new BorshReader(Buffer.alloc(length - 1)).struct(layout.fields)).toThrow(RangeError);
  });

  test('values of any layout come back as they were written', () => {
    const cases: Record<string, [fc.Arbitrary<unknown>, (value: never) => Buffer]> = {
      u64: [fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value: bigint) => u64(value)],
      u128: [fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (value: bigint) => u128(value)],
      i32: [fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (value: number) => i32(value)],
      bool: [fc.boolean(), (value: boolean) => bool(value)],
      pubkey: [fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bs58.encode(bytes)), (value: string) => key(value)],
    } as never;
    const field = fc
      .constantFrom(...Object.keys(cases))
      .chain((type) => (cases[type] as [fc.Arbitrary<unknown>, never])[0].map((value) => [type, value] as const));
    fc.assert(
      fc.property(fc.array(field, { maxLength: 12 }), (values) => {
        const bytes = Buffer.concat(values.map(([type, value]) => (cases[type] as [never, (value: unknown) => Buffer])[1](value)));
        const reader = new BorshReader(bytes);
        const read = reader.struct(values.map(([type], i) => [`f${i}`, type as FieldType] as const));
        const shown = values.map(([, value]) => (typeof value === 'bigint' ? value.toString() : value));
        expect(Object.values(read)).toEqual(shown);
        expect(reader.bytesLeft).toBe(0);
      }),
    );
  });
});

describe('transactions', () => {
  const swap = eventData(
    'Swap',
    key(named('pool')),
    key(named('trader')),
    i32(-5),
    i32(-6),
    u64(1000),
    u64(900),
    bool(true),
    u64(10),
    u64(1),
    u128(10_000_000),
    u64(0),
  );
  const base = { signature: named('sig', 64), at: '2025-01-01T00:00:00Z', payer: named('payer') };
  const written = { ...base, events: [{ program: DLMM_PROGRAM, data: swap }] };

  test('programs are found through static keys, then looked-up writable ones, then looked-up readonly ones', () => {
    const parsed = parsedTransaction(written).result as {
      meta: Record<string, unknown>;
      transaction: { message: Record<string, unknown> };
    };
    const raw = (loaded: { writable: string[]; readonly: string[] }, programIdIndex: number): unknown => ({
      ...parsed,
      meta: {
        ...parsed.meta,
        loadedAddresses: loaded,
        innerInstructions: [{ index: 2, instructions: [{ programIdIndex, accounts: [], data: swap }] }],
      },
      transaction: {
        ...parsed.transaction,
        message: { accountKeys: [base.payer, named('router')], instructions: [{ programIdIndex: 1, accounts: [], data: '' }] },
      },
    });
    for (const record of [
      raw({ writable: [DLMM_PROGRAM], readonly: [] }, 2),
      raw({ writable: [named('w')], readonly: [named('r'), DLMM_PROGRAM] }, 4),
    ]) {
      const tx = decodeTransaction(record) as DecodedTransaction;
      expect(tx.events.map((event) => [event.name, event.outerIx, event.innerIx])).toEqual([['Swap', 2, 0]]);
      expect(tx.programs).toEqual([named('router')]);
    }
    expect((decodeTransaction(raw({ writable: [named('w')], readonly: [DLMM_PROGRAM] }, 2)) as DecodedTransaction).events).toEqual([]);
  });

  test('looked-up keys that the RPC already put among the parsed keys are not counted twice', () => {
    const record = parsedTransaction(written).result as { meta: Record<string, unknown> };
    const tx = decodeTransaction({
      ...record,
      meta: { ...record.meta, loadedAddresses: { writable: [named('w')], readonly: [DLMM_PROGRAM] } },
    }) as DecodedTransaction;
    expect(tx.events).toHaveLength(1);
  });

  test.each([
    ['failed_transaction', parsedTransaction({ ...written, err: { InstructionError: [0, 'Custom'] } })],
    ['not_a_transaction', { jsonrpc: '2.0', id: 1, result: null }],
    ['not_a_transaction', { hello: 1 }],
    ['not_a_transaction', null],
    ['unsupported_encoding', { result: { meta: { err: null }, blockTime: 1, transaction: ['AQ==', 'base64'] } }],
    ['no_block_time', { result: { ...(parsedTransaction(written).result as object), blockTime: null } }],
    [
      'no_inner_instructions',
      { result: { ...(parsedTransaction(written).result as object), meta: { err: null, innerInstructions: null } } },
    ],
    ['no_inner_instructions', { result: { ...(parsedTransaction(written).result as object), meta: { err: null } } }],
  ])('refuses: %s', (reason, record) => {
    expect(decodeTransaction(record)).toBe(reason);
  });

  test('a payload that is too short is counted, not guessed; one with more bytes is read', () => {
    const bytes = Buffer.from(bs58.decode(swap));
    const events = [
      bs58.encode(bytes.subarray(0, -1)),
      bs58.encode(Buffer.concat([bytes, Buffer.alloc(9)])),
      eventData('SomethingElse', u64(1)),
    ].map((data) => ({ program: DLMM_PROGRAM, data }));
    const tx = decodeTransaction(parsedTransaction({ ...base, events })) as DecodedTransaction;
    expect([tx.undecodable, tx.events.map((event) => event.bytesLeft), tx.others]).toEqual([1, [9], 1]);
  });

  test('the same bytes told by another program are nothing of ours', () => {
    const tx = decodeTransaction(
      parsedTransaction({ ...base, events: [{ program: named('impostor'), data: swap }] }),
    ) as DecodedTransaction;
    expect([tx.events, tx.others, tx.undecodable]).toEqual([[], 0, 0]);
  });
});

const SAMPLES = 'samples/pools/solana-tx';
testWithRealData('recorded transactions decode to the last byte', `${SAMPLES}/decoded-events.json`, async (file) => {
  const wanted = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<
    string,
    { slot: number; blockTime: number; signature: string; events: unknown[] }
  >;
  expect(Object.keys(wanted)).toHaveLength(4);
  for (const [name, { slot, blockTime, signature, events }] of Object.entries(wanted)) {
    const tx = decodeTransaction(JSON.parse(fs.readFileSync(path.join(path.dirname(file), name), 'utf8'))) as DecodedTransaction;
    const shown = tx.events.map((event) => ({
      outerIx: event.outerIx,
      program: event.program,
      event: event.name,
      fields: event.fields,
      bytesLeft: event.bytesLeft,
    }));
    expect({ slot: tx.slot, blockTime: tx.timestamp.getTime() / 1000, signature: tx.signature, events: shown }).toEqual({
      slot,
      blockTime,
      signature,
      events,
    });
  }
  expect(realData(SAMPLES)).not.toBeNull();
});
