import { canonicalConditionId, canonicalEvmAddress, isBase58Address, isTokenId } from './address';
import { CATEGORIES, canonicalCategory, categoryMeant } from './category';
import { canonicalCoin, coinMeant } from './coin';
import { DCA_TIMEFRAMES, TIMEFRAMES, canonicalTimeframe } from './timeframe';

/** What a text must be to stand for a value. */
export interface Form {
  /** The canonical spelling of a text that has this form; undefined of any other. */
  canonical(text: string): string | undefined;
  /** In the words of a refusal: "is not …". */
  words: string;
  /** As a regular expression, where one tells it. */
  pattern?: string;
  /** Every canonical spelling, where there are few. */
  choices?: readonly string[];
  /** What a text that has not this form may have meant. */
  meant?(text: string): string | undefined;
  /** Upper case is lowered, and whoever sent it is told so. */
  lowers?: boolean;
  /** What is meant is looked up in any case: two spellings of it are one value. */
  anyCase?: boolean;
}

const same =
  (test: (text: string) => boolean) =>
  (text: string): string | undefined =>
    test(text) ? text : undefined;

const timeframe = (choices: typeof TIMEFRAMES | typeof DCA_TIMEFRAMES): Form => ({
  canonical: (text) => canonicalTimeframe(text, choices),
  words: 'a timeframe',
  choices,
});

/** The texts that parameters take, by the scalar of base.graphql that stands for each. */
export const FORMS: Readonly<Record<string, Form>> = {
  ConditionId: { canonical: canonicalConditionId, words: 'an id of 0x and 64 hex digits', pattern: '^0x[0-9a-fA-F]{64}$', lowers: true },
  EvmAddress: { canonical: canonicalEvmAddress, words: 'an address of 0x and 40 hex digits', pattern: '^0x[0-9a-fA-F]{40}$', lowers: true },
  TokenId: { canonical: same(isTokenId), words: 'an id of 1 to 78 decimal digits', pattern: '^[0-9]{1,78}$' },
  Coin: {
    canonical: canonicalCoin,
    words: 'a base coin symbol (BTC, kPEPE, xyz:CL)',
    pattern: '^([a-z0-9]{1,12}:)?[A-Za-z0-9]{1,16}$',
    meant: coinMeant,
    anyCase: true,
  },
  Base58: {
    canonical: same(isBase58Address),
    words: 'a base58 address of 32 bytes (case-sensitive)',
    pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$',
  },
  Timeframe: timeframe(TIMEFRAMES),
  DcaTimeframe: timeframe(DCA_TIMEFRAMES),
  Category: { canonical: canonicalCategory, words: 'a category', choices: CATEGORIES, meant: categoryMeant },
};
