/**
 * Contracts of the venue that hold outcome tokens in passing, lower case: both exchanges of either version, the adapter of neg-risk markets and the
 * token contract itself (the venue's published contract addresses). No holders.
 */
export const VENUE_CONTRACTS: readonly string[] = [
  '0x4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e',
  '0xc5d563a36ae78145c45a50134d48a1215220f80a',
  '0xe111180000d2663c0091e4f400237545b87b996b',
  '0xe2222d279d744050d28e00520010520000310f59',
  '0xd91e80cf2e7be2e162c6513ced06f1dd0da35296',
  '0x4d97dcd97ec945f40cf65f87097ace5ea0476045',
];
