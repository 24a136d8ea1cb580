import path from 'node:path';
import { defineConfig } from 'prisma/config';

// Prisma's CLI wants a native schema engine; where its download site is out of reach, ours stands in (scripts/schema-engine.mjs).
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= path.join(__dirname, 'scripts/schema-engine.mjs');
process.env.CHECKPOINT_DISABLE ??= '1';
process.env.PRISMA_HIDE_UPDATE_MESSAGE ??= '1';

export default defineConfig({
  schema: 'prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://app@127.0.0.1:5432/app' },
});
