/** A message that a service stores. */
export interface Stored {
  readonly id: string;
  readonly label: string;
  readonly body: string;
  at: number;
  tries: number;
}

/** How a service passes messages to their consumer. */
export interface PushRules {
  /** Passes a message. Resolves to `true` if the consumer accepted it. */
  readonly push: (message: Stored) => Promise<boolean>;
  /**
   * Delay in milliseconds before the next attempt, by the number of attempts. Undefined: no further
   * attempt.
   */
  readonly retryAfter: (tries: number) => number | undefined;
}

/** A service that pushes messages to a consumer, in memory, with a clock that a test advances. */
export interface PushService {
  readonly stored: readonly Stored[];
  readonly now: () => number;
  readonly store: (message: Pick<Stored, 'label' | 'body' | 'at'>) => string;
  readonly drop: (label: string) => void;
  /** Passes all messages that become due, each at its time. */
  readonly pass: (ms: number) => Promise<void>;
  /** Ends the tries in progress: the consumer is gone. */
  readonly kill: () => void;
}

/** Starts a service without messages. */
export function startService({ push, retryAfter }: PushRules): PushService {
  let time = Date.UTC(2030, 0, 1);
  let stored: Stored[] = [];
  let made = 0;
  let kill: (() => void) | undefined;
  const forget = (message: Stored): void => void (stored = stored.filter((one) => one !== message));
  const tryOnce = async (message: Stored): Promise<void> => {
    const killed = new Promise<boolean>((resolve) => {
      kill = () => resolve(false);
    });
    message.tries += 1;
    const isAccepted = await Promise.race([push(message), killed]);
    const ms = retryAfter(message.tries);
    if (isAccepted || ms === undefined) forget(message);
    else message.at = time + ms;
  };
  return {
    get stored() {
      return stored;
    },
    now: () => time,
    store: (message) => {
      made += 1;
      stored = [...stored, { ...message, id: `message-${made}`, tries: 0 }];
      return `message-${made}`;
    },
    drop: (label) => void (stored = stored.filter((one) => one.label !== label)),
    pass: async (ms) => {
      const end = time + ms;
      for (;;) {
        const [next] = stored.toSorted((one, other) => one.at - other.at);
        if (next === undefined || next.at > end) break;
        time = Math.max(time, next.at);
        await tryOnce(next);
      }
      time = end;
    },
    kill: () => kill?.(),
  };
}
