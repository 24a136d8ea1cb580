import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { listPages, openPage, pageOf } from '../../src/workers/pages';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pages-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, name.endsWith('.gz') ? zlib.gzipSync(content) : content);
  return file;
}
async function recordsOf(file: string, page = openPage(file)): Promise<unknown[]> {
  const records: unknown[] = [];
  for await (const record of page.records) records.push(record);
  return records;
}

test.each([
  ['a.json', '[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
  ['b.json', '{"data":[1]}', [{ data: [1] }]],
  ['c.ndjson', '{"a":1}\n\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
  ['d.jsonl.gz', '{"a":1}\r\n{"a":2}', [{ a: 1 }, { a: 2 }]],
  ['e.ndjson', '{"a":"b\u2028c\u2029d"}\n{"a":2}\n', [{ a: 'b\u2028c\u2029d' }, { a: 2 }]],
  ['e.csv', 'x,y\n1,"a,b"\n', [{ x: '1', y: 'a,b' }]],
  ['g.json', '\ufeff[1]', [1]],
  ['h.ndjson', '\ufeff{"a":1}\r\n{"a":2}', [{ a: 1 }, { a: 2 }]],
  ['i.CSV', 'x,y\n\n1,2\n\n', [{ x: '1', y: '2' }]],
  ['f.csv.gz', '\ufeffx,y\n1,2\n3\n', [{ x: '1', y: '2' }, { x: '3' }]],
])('%s is read record by record', async (name, content, records) => expect(await recordsOf(write(name, content))).toEqual(records));

test('a broken file says where it is broken, and never hangs', async () => {
  await expect(recordsOf(write('g.ndjson', '{"a":1}\n{"a":'))).rejects.toThrow('Line 2 is not JSON');
  const cut = write('h.ndjson.gz', '{"a":1}\n'.repeat(1_000));
  fs.truncateSync(cut, 20);
  await expect(recordsOf(cut)).rejects.toThrow();
  await expect(recordsOf(write('i.csv', 'x,y,z\n1,2,3\n4,5'))).rejects.toThrow('The last row is cut off: it has 2 of 3 cells.');
  expect(await recordsOf(write('j.csv', 'x,y,z\n1,2,3\n4,5,6'))).toHaveLength(2);
  for (const missing of ['missing.csv', 'missing.csv.gz']) await expect(recordsOf(path.join(folder, missing))).rejects.toThrow('ENOENT');
});

test('a page in memory hands on whatever stands in it, null too', async () => {
  expect(await recordsOf('', pageOf('p.json', 'json', [{ a: 1 }, null, 2]))).toEqual([{ a: 1 }, null, 2]);
});

test('a folder is read in name order, other files left alone', () => {
  const sub = fs.mkdtempSync(path.join(folder, 'sub-'));
  for (const name of ['b.csv', 'a.json', 'README.md', 'c.ndjson.gz']) fs.writeFileSync(path.join(sub, name), '');
  fs.mkdirSync(path.join(sub, 'older.json'));
  expect(listPages(sub).map((file) => path.basename(file))).toEqual(['a.json', 'b.csv', 'c.ndjson.gz']);
  expect(() => openPage(listPages('/dev/null')[0] as string)).toThrow('null is neither .json');
  expect(() => listPages(path.join(folder, 'nowhere'))).toThrow('There is no file or folder');
  expect(() => listPages(fs.mkdtempSync(path.join(folder, 'empty-')))).toThrow('No .json, .ndjson, .jsonl or .csv file');
});
