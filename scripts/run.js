// Runs one command of the program (`npm run ingest`, `npm run buy`, …), set up and compiled first where needed.
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const setup = spawnSync(process.execPath, [path.join(__dirname, 'setup.js'), '--build'], { stdio: ['ignore', 'inherit', 'inherit'] });
if (setup.status !== 0) process.exit(setup.status ?? 1);
// In this very process: a signal that ends it ends the work.
process.argv[1] = path.join(root, 'dist/main.js');
require(process.argv[1]);
