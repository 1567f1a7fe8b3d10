/** Receives what the code of an author does while a body runs. Commands are objects here. */
export interface BodyLog {
  /** Notes a command that the body created. */
  add(created: object): void;
  /** Forgets a command that the author drops on purpose. */
  ignore(dropped: object): void;
  /** Takes advice about a value in the code. */
  advise(advice: string): void;
}

/** The body that runs now. */
interface RunningBody {
  log: BodyLog | undefined;
}

let running: RunningBody | undefined;

/**
 * Returns the body that runs now. All copies of this package share it: the engine of one runs a body
 * with commands of another.
 */
function runningBody(): RunningBody {
  const shared = globalThis as { [runningKey]?: RunningBody };
  if (running !== undefined) return running;
  running = shared[runningKey] ?? { log: undefined };
  // Hardened runtimes freeze the global object: then each copy sees its own commands only.
  if (Object.isExtensible(globalThis)) shared[runningKey] = running;
  return running;
}

const runningKey: unique symbol = Symbol.for('mcp-saga.running-body/1');

/** The log of the body that runs now. Undefined outside of bodies. */
export function bodyLog(): BodyLog | undefined {
  return runningBody().log;
}

/** Runs `body`, and notes in `into` what it does. */
export function noting<T>(into: BodyLog, body: () => T): T {
  const now = runningBody();
  const outer = now.log;
  now.log = into;
  try {
    return body();
  } finally {
    now.log = outer;
  }
}
