import { readdirSync, readFileSync } from 'node:fs';

/** `true` if this machine tells the processor time of other processes, as Linux does. */
export const knowsProcessorTime: boolean = process.platform === 'linux';

/** Unit of `/proc/<pid>/stat`, in microseconds: the same on all processors that Node supports. */
const tick = 10_000;

/** What the bench reads of `/proc/<pid>/stat`. */
interface Stat {
  readonly parent: number;
  /** Ticks of the process, and of its children that have ended. */
  readonly ticks: number;
}

/**
 * Processor time of a process and of all processes below it, in microseconds: those that run, and
 * those that have ended. PostgreSQL has a process for each connection, and others that clean up.
 */
export function processorTimeOf(pid: number): number {
  const stats = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (stat !== undefined) stats.set(Number(name), stat);
  }
  if (!stats.has(pid)) throw new Error(`The process ${pid} does not run`);
  const ticksBelow = (root: number): number => {
    const below = [...stats].filter(([, { parent }]) => parent === root);
    return below.reduce((sum, [child]) => sum + ticksBelow(child), stats.get(root)?.ticks ?? 0);
  };
  return ticksBelow(pid) * tick;
}

/** Undefined if the process has ended. */
function statOf(name: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'utf8');
    // The name of a program may contain blanks and parentheses. The numbers follow the last one.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
    return { parent: fields[1] ?? 0, ticks };
  } catch {
    return undefined;
  }
}
