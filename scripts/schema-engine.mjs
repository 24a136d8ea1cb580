#!/usr/bin/env node
// Stand-in for Prisma's native schema-engine: speaks the CLI's JSON-RPC on stdio, answers with the WASM schema engine
// from npm (@prisma/schema-engine-wasm) over @prisma/adapter-pg.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
const require = createRequire(import.meta.url);
const log = (level, fields) =>
  process.stderr.write(
    'schema-engine\n' + JSON.stringify({ timestamp: new Date().toISOString(), level, fields, target: 'schema_engine::logger' }),
  );
const { values, positionals } = parseArgs({
  options: {
    datamodels: { type: 'string', multiple: true, default: [] },
    datasource: { type: 'string', default: '{}' },
    'enabled-preview-features': { type: 'string' },
    'extension-types': { type: 'string' },
    version: { type: 'boolean' },
  },
  allowPositionals: true,
  strict: false,
});
if (values.version) {
  console.log('schema-engine-cli wasm-shim');
  process.exit(0);
}
const { datamodels } = values;
const ds = JSON.parse(values.datasource);
const cli = positionals.includes('cli') ? positionals[positionals.indexOf('cli') + 1] : undefined;
const parse = (url) => {
  const u = new URL(url);
  return { url: u, schema: u.searchParams.get('schema') ?? 'public', database: decodeURIComponent(u.pathname.slice(1)) };
};
// discrete fields, never a connectionString: the adapter's shadow-database pool only overrides `database`
const conn = (s) => {
  const { url, database } = parse(s);
  return {
    host: url.searchParams.get('host') ?? url.hostname,
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password) || undefined,
    database,
    max: 4,
  };
};
if (cli) {
  const { url, database } = parse(ds.url);
  const admin = new URL(url);
  admin.pathname = '/postgres';
  admin.search = '';
  const c = new pg.Client({ connectionString: cli === 'can-connect-to-database' ? ds.url : String(admin) });
  try {
    await c.connect();
    if (cli === 'create-database') await c.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`);
    if (cli === 'drop-database') await c.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(database)} WITH (FORCE)`);
    await c.end();
    process.exit(0);
  } catch (e) {
    const code = e.code === '3D000' ? 'P1003' : e.code === '42P04' ? 'P1009' : 'P1001';
    log('ERROR', { error_code: code, message: e.message, is_panic: false, meta: {} });
    process.exit(1);
  }
}
let panic;
globalThis.PRISMA_WASM_PANIC_REGISTRY = {
  set_message: (m) => {
    panic = m;
  },
};
const dir = path.dirname(require.resolve('@prisma/schema-engine-wasm'));
const glue = await import(path.join(dir, 'schema_engine_bg.js'));
const { instance } = await WebAssembly.instantiate(fs.readFileSync(path.join(dir, 'schema_engine_bg.wasm')), {
  './schema_engine_bg.js': glue,
});
glue.__wbg_set_wasm(instance.exports);
instance.exports.__wbindgen_start();
// whole scripts go through the simple protocol, so $$ bodies and ';' in strings survive
const patch = (o) => {
  // OID 18 (pg_catalog's "char") is unknown to adapter-pg: let it pass as text, then name its real kind
  const io = o.performIO.bind(o),
    raw = o.queryRaw.bind(o),
    chars = new WeakMap();
  o.performIO = async (q) => {
    const r = await io(q);
    const at = (r.fields ?? []).flatMap((f, i) => (f.dataTypeID === 18 ? [i] : []));
    for (const i of at) r.fields[i].dataTypeID = 25;
    chars.set(q, at);
    return r;
  };
  o.queryRaw = async (q) => {
    const r = await raw(q);
    for (const i of chars.get(q) ?? []) r.columnTypes[i] = ColumnTypeEnum.Character;
    return r;
  };
  const start = o.startTransaction?.bind(o);
  if (start) o.startTransaction = async (...x) => patch(await start(...x));
  return o;
};
const wrap = (a) => {
  patch(a);
  const q = a.underlyingDriver();
  a.executeScript = async (s) => {
    try {
      await q.query(s);
    } catch (e) {
      a.onError(e);
    }
  };
  return a;
};
class Factory extends PrismaPg {
  async connect() {
    return wrap(await super.connect());
  }
  async connectToShadowDb() {
    const name = `prisma_shadow_${process.pid}_${Date.now()}`;
    const admin = new pg.Client({ ...this.config });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE template0`);
    const a = wrap(await new PrismaPg({ ...this.config, database: name }).connect());
    const end = a.dispose.bind(a);
    a.dispose = async () => {
      await end();
      await admin.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
      await admin.end();
    };
    return a;
  }
}
let engine;
const getEngine = async () =>
  (engine ??= await (async () => {
    const { schema } = parse(ds.url);
    const f = bindMigrationAwareSqlAdapterFactory(new Factory(conn(ds.url), { schema }));
    return glue.SchemaEngine.new(
      { datamodels: datamodels.length ? datamodels.map((p) => [p, fs.readFileSync(p, 'utf8')]) : undefined },
      (s) => {
        if (process.env.SHIM_DEBUG) process.stderr.write(String(s) + '\n');
      },
      f,
    );
  })());
let printId = 1;
const rl = readline.createInterface({ input: process.stdin });
const pending = new Set();
rl.on('line', (line) => {
  const m = JSON.parse(line);
  if (m.method === undefined) return;
  const p = (async () => {
    try {
      const e = await getEngine();
      const name = m.method === 'getDatabaseVersion' ? 'version' : m.method;
      let result;
      if (name === 'createDatabase') result = { databaseName: parse(ds.url).database };
      else {
        // the WASM engine reaches its shadow database only from devDiagnostic, whose result it then keeps: ask that first
        if (name === 'evaluateDataLoss' || name === 'createMigration')
          await e.devDiagnostic({ migrationsList: m.params.migrationsList, filters: m.params.filters });
        result = await e[name](m.params ?? null);
        if (name === 'diff' && result?.stdout != null) {
          process.stdout.write(
            JSON.stringify({ jsonrpc: '2.0', id: 'print' + printId++, method: 'print', params: { content: result.stdout } }) + '\n',
          );
          result = { exitCode: result.exitCode, stdout: null };
        }
      }
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: result ?? {} }) + '\n');
    } catch (err) {
      if (process.env.SHIM_DEBUG) console.error(err);
      const message = panic ?? err?.message ?? String(err);
      process.stdout.write(
        JSON.stringify({
          jsonrpc: '2.0',
          id: m.id,
          error: {
            code: 4466,
            message: 'An error happened. Check the data field for details.',
            data: { is_panic: false, message, meta: null, error_code: err?.code ?? null },
          },
        }) + '\n',
      );
    }
  })();
  pending.add(p);
  void p.finally(() => pending.delete(p));
});
rl.on('close', async () => {
  await Promise.allSettled(pending);
  process.exit(0);
});
