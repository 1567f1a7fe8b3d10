// As they are when the kit is loaded: a test may put fake timers in their place.
const { setTimeout: realTimeout, clearTimeout: clearReal } = globalThis;

/** How the code of a step is watched. */
export interface Watch {
  /** After how much real time it is told, in milliseconds. Default 2000. */
  readonly afterMs?: number;
  /** Default: a warning on the console, since a test runner that gives up shows nothing else. */
  readonly tell?: (warning: string) => void;
}

/** Waits for the code of a step, and tells which one it is where that takes long: time stands still meanwhile. */
export async function toldWhenSlow<T>(
  id: string,
  work: PromiseLike<T>,
  // oxlint-disable-next-line no-console -- nobody else is there to be told
  { afterMs = 2_000, tell = (warning) => console.warn(warning) }: Watch = {},
): Promise<T> {
  const timer = realTimeout(() => {
    tell(
      `The code of step '${id}' has been running for ${afterMs / 1_000} s. Does it wait for something that never comes, or for a ` +
        'timer of its own? A stand-in answers at once: .on.step(…); its `sleep` waits by the clock of the run.',
    );
  }, afterMs);
  try {
    return await work;
  } finally {
    clearReal(timer);
  }
}
