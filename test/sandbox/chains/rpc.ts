export interface RpcAnswer {
  jsonrpc: string;
  id: unknown;
  result?: { value?: unknown; transaction?: unknown };
  error: { code: number; message: string };
}

/** Posts one JSON-RPC body as it is and reads the answer. */
export async function postRpc<T = RpcAnswer>(url: string, body: unknown): Promise<T> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
  return (await response.json()) as T;
}
