/** Receives what the code of an author does while a body runs. Commands are objects here. */
export interface BodyLog {
  /** Notes a command that the body created. */
  add(created: object): void;
  /** Forgets a command that the author drops on purpose. */
  ignore(dropped: object): void;
  /** Takes advice about a value in the code. */
  advise(advice: string): void;
}

let current: BodyLog | undefined;

/** The log of the body that runs now. Undefined outside of bodies. */
export function bodyLog(): BodyLog | undefined {
  return current;
}

/** Runs `body`, and notes in `into` what it does. */
export function noting<T>(into: BodyLog, body: () => T): T {
  const outer = current;
  current = into;
  try {
    return body();
  } finally {
    current = outer;
  }
}
