import { OutcomeUnknown, step } from '@mcp-saga/server';
import type { Command } from '@mcp-saga/server/internal';
import { labelOf } from '../provider/label.ts';
import type { Kind } from '../provider/ledger.ts';

/** What a provider will not do, however often it is asked. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Asks the provider, once. Where no answer comes, or none that says what has become of it, nobody knows whether it has
 * happened.
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
  // Refused before anything was done: this attempt had no effect, whatever an earlier one had.
  if (response.status === 503) throw new Error('The provider is out of order.');
  if (!response.ok) throw new OutcomeUnknown(`The provider answers ${response.status}.`);
  if (response.status === 204) return { id: '' };
  try {
    return (await response.json()) as { readonly id: string };
  } catch (cause) {
    throw new OutcomeUnknown('The provider has answered half.', { cause });
  }
}

/** How often, and how long, the provider is asked. */
export const policy = {
  timeoutMs: 1_500,
  retry: { attempts: 8, delayMs: 40, maxDelayMs: 400, when: (error: unknown) => !(error instanceof Refused) },
};

/** What an undo is given. */
interface Unwanted {
  readonly stepKey: string;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Undoes something at the provider, or withdraws it where nobody knows whether it happened. */
export async function undo(kind: Kind, purchase: string, unwanted: Unwanted): Promise<void> {
  const { stepKey: effectKey, idempotencyKey: key, signal } = unwanted;
  await ask('/undo', { key, effectKey, purchase, kind }, signal);
}

/** A step that does something at the provider, under its idempotency key, and knows how to undo it. */
export function order(kind: Kind, purchase: string): Command<{ readonly id: string }> {
  return step(kind, ({ idempotencyKey: key, signal }) => ask('/effect', { key, purchase, kind }, signal), {
    ...policy,
    label: labelOf(kind, purchase),
    compensate: (known) => undo(kind, purchase, known),
    compensateUnknown: (unknown) => undo(kind, purchase, unknown),
    undo: policy,
  });
}

/** The same as a step that is claimed at the guard: the provider hears of it at most once. */
export function orderOnce(kind: Kind, purchase: string): Command<{ readonly id: string }> {
  return step(kind, ({ idempotencyKey: key, signal }) => ask('/effect', { key, purchase, kind }, signal), {
    once: true,
    timeoutMs: policy.timeoutMs,
    label: labelOf(kind, purchase),
    compensate: (known) => undo(kind, purchase, known),
    compensateUnknown: (unknown) => undo(kind, purchase, unknown),
    undo: policy,
  });
}

/** A step that cannot be undone and is retried for half a minute. */
export function tell(kind: Kind, purchase: string): Command<{ readonly id: string }> {
  return step(kind, ({ idempotencyKey: key, signal }) => ask('/effect', { key, purchase, kind }, signal), {
    ...policy,
    retry: { ...policy.retry, attempts: 80 },
  });
}
