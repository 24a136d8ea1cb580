import { keccak256 as hexOf } from 'js-sha3';

/** Bytes as hex, 0x before them. */
export type HexText = `0x${string}`;

/** keccak256 of bytes, or of the UTF-8 bytes of a text, as hex: the library of the chain's types takes four times as long. */
export const keccak256 = (input: Uint8Array | string): HexText => `0x${hexOf(input)}`;
