// What can be said of the code without running it: types, lint and format, side by side, since each keeps one core busy.
const { spawn } = require('node:child_process');
const path = require('node:path');

const root = path.resolve(__dirname, '..');

/** Runs one of the scripts of package.json; resolves with whether it found nothing. What it says comes in one piece. */
function run(script) {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
    child.once('error', (error) => said.push(Buffer.from(`${error.message}\n`)));
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(said));
      resolve(code === 0);
    });
  });
}

void Promise.all(['typecheck', 'lint', 'format'].map(run)).then((fine) => {
  if (fine.includes(false)) process.exitCode = 1;
});
