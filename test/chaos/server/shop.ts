import { OutcomeUnknown, step } from '@mcp-saga/server';
import type { Command } from '@mcp-saga/server/internal';
import { labelOf } from '../provider/label.ts';
import type { Kind } from '../provider/ledger.ts';

/** The provider refuses a request, on every attempt. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Sends the provider one request. Without a complete response, the outcome of the effect is
 * unknown.
 */
export async function ask(
  path: string,
  body: object,
  signal?: AbortSignal,
): Promise<{ readonly id: string }> {
  const response = await fetch(new URL(path, process.env['PROVIDER_URL']), {
    method: 'POST',
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: unknown) => {
    throw new OutcomeUnknown('The provider does not answer.', { cause });
  });
  if (response.status === 409 || response.status === 422)
    throw new Refused(response.status, await response.text());
  // Status 503: this attempt had no effect, but an earlier attempt may have had one.
  if (response.status === 503) throw new Error('The provider is out of order.');
  if (!response.ok) throw new OutcomeUnknown(`The provider answers ${response.status}.`);
  if (response.status === 204) return { id: '' };
  try {
    return (await response.json()) as { readonly id: string };
  } catch (cause) {
    throw new OutcomeUnknown('The provider has answered half.', { cause });
  }
}

/** Retries and timeout of requests to the provider. */
export const policy = {
  timeout: 1_500,
  retry: {
    attempts: 8,
    delay: 40,
    maxDelay: 400,
    when: (error: unknown) => !(error instanceof Refused),
  },
};

/** Input of an undo. */
interface Unwanted {
  readonly stepKey: string;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Undoes an effect at the provider, or withdraws an effect of unknown outcome. */
export async function undo(kind: Kind, purchase: string, unwanted: Unwanted): Promise<void> {
  const { stepKey: effectKey, idempotencyKey: key, signal } = unwanted;
  await ask('/undo', { key, effectKey, purchase, kind }, signal);
}

/** Step that runs an effect at the provider with its idempotency key, and can be undone. */
export function order(kind: Kind, purchase: string): Command<{ readonly id: string }> {
  return step(
    kind,
    ({ idempotencyKey: key, signal }) => ask('/effect', { key, purchase, kind }, signal),
    {
      ...policy,
      label: labelOf(kind, purchase),
      compensate: (unwanted) => undo(kind, purchase, unwanted),
      unknown: 'compensate',
      undo: policy,
    },
  );
}

/** Like `order`, but with `once`: the provider gets at most one request. */
export function orderOnce(kind: Kind, purchase: string): Command<{ readonly id: string }> {
  return step(
    kind,
    ({ idempotencyKey: key, signal }) => ask('/effect', { key, purchase, kind }, signal),
    {
      once: true,
      timeout: policy.timeout,
      label: labelOf(kind, purchase),
      compensate: (unwanted) => undo(kind, purchase, unwanted),
      unknown: 'compensate',
      undo: policy,
    },
  );
}

/** A step that cannot be undone and is retried for half a minute. */
export function tell(kind: Kind, purchase: string): Command<{ readonly id: string }> {
  return step(
    kind,
    ({ idempotencyKey: key, signal }) => ask('/effect', { key, purchase, kind }, signal),
    {
      ...policy,
      retry: { ...policy.retry, attempts: 80 },
    },
  );
}
