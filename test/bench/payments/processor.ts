import fs from 'node:fs';

/** Of one clock tick, which /proc counts processor time in (USER_HZ is 100 on every Linux). */
const TICK_MS = 10;

interface Process {
  parent: number;
  name: string;
  ms: number;
}

/** Every process of the machine that can be read; empty where there is no /proc. */
function listProcesses(): Map<number, Process> {
  const found = new Map<number, Process>();
  if (!fs.existsSync('/proc/self/stat')) return found;
  for (const entry of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = fs.readFileSync(`/proc/${entry}/stat`, 'utf8');
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      // proc_pid_stat(5), counted from the third field: parent 4, user 14, system 15, and those of children that ended 16, 17.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + (fields[index] ?? 0), 0);
      found.set(Number(entry), { parent: fields[1] ?? 0, name, ms: ticks * TICK_MS });
    } catch {
      // It ended in between.
    }
  }
  return found;
}

/** Processor milliseconds so far of `root` and all its descendants, by default of those alone whose name has `named` in it. */
export function processorMs(root: number, named = ''): number {
  const all = listProcesses();
  const below = (pid: number): boolean => {
    for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) if (at === root) return true;
    return false;
  };
  return [...all].reduce((sum, [pid, { name, ms }]) => (name.includes(named) && below(pid) ? sum + ms : sum), 0);
}
