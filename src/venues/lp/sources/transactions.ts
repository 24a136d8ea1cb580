import { inStretches } from '../../../lib/stretches';
import type { RecordedSource } from '../../../workers/source';
import { noFacts, type TokenRow } from '../store/rows';
import { addFacts } from './chain-facts';
import { loadPage, type PageLoad, type Write } from './page-load';
import { decodeTransaction, transactionOf } from './transaction';

/** getTransaction answers: events of both pool programs and of recurring orders. */
export const transactions: RecordedSource = {
  name: 'lp.transactions',
  harmless: ['failed_transaction', 'other_event', 'no_event'],
  recognises: (first) => {
    const result = transactionOf(first);
    if (result !== undefined) return 'meta' in result;
    // A JSON-RPC answer about a transaction that the node no longer has.
    return typeof first === 'object' && first !== null && 'jsonrpc' in first && 'result' in first && first.result === null;
  },
  load: (page, client, options) => loadPage('lp.transactions', page, client, options, readTransactions),
};

async function readTransactions(records: unknown[], { log, writer }: PageLoad): Promise<Write> {
  const facts = noFacts();
  const tokens = new Map<string, TokenRow>();
  for await (const record of inStretches(records)) {
    const tx = decodeTransaction(record);
    if (typeof tx === 'string') {
      log.skip(tx);
      continue;
    }
    const count = addFacts(tx, facts);
    log.read += count;
    log.skip('undecodable_event', tx.undecodable);
    log.skip('other_event', tx.others);
    if (count + tx.undecodable + tx.others === 0) log.skip('no_event');
    if (tx.events.length === 0) continue;
    log.saw(tx.timestamp);
    for (const [mint, decimals] of tx.decimals) tokens.set(mint, { mint, symbol: null, name: null, decimals, quality: 0 });
  }
  return async () => {
    await writer.tokens([...tokens.values()]);
    await writer.facts(facts);
  };
}
