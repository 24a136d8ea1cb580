// Runs one command of the program (`npm run ingest`, `npm run buy`, …), set up and compiled first where needed.
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const setup = spawnSync(process.execPath, [path.join(__dirname, 'setup.js'), '--build'], { stdio: ['ignore', 'inherit', 'inherit'] });
if (setup.status !== 0) process.exit(setup.status ?? 1);
const program = spawnSync(process.execPath, [path.join(root, 'dist/main.js'), ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(program.status ?? 1);
