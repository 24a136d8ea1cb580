import { fundedBuyer, openTill, saleOf, signedHeaders, told, workOf } from './till';
it('bench', async () => {
  const till = await openTill();
  const buyer = await fundedBuyer(till, 1_000_000_000n);
  for (const [n, c] of [[60, 1], [200, 20]] as const) {
    const proofs = [];
    for (let i = 0; i < n; i++) proofs.push(await signedHeaders(till, buyer));
    const times: number[] = [];
    const t0 = performance.now();
    let next = 0;
    await Promise.all(Array.from({ length: c }, async () => { while (next < n) { const headers = proofs[next++]!; const t = performance.now(); const o = await till.payments.charge(saleOf({ headers }), workOf()); if (told(o) !== '200') throw new Error(told(o)); times.push(performance.now() - t); } }));
    times.sort((a, b) => a - b);
    console.log(n, c, 'p50', times[n >> 1]!.toFixed(1), 'p95', times[Math.floor(n * 0.95)]!.toFixed(1), 'per s', (n / (performance.now() - t0) * 1000).toFixed(0), JSON.stringify(till.solana.faults.callsByMethod()));
    till.solana.faults.forgetCalls();
  }
  await till.stop();
}, 100000);
