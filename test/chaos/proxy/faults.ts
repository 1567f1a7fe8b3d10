import { between, type Draw } from '../seeded.ts';

/** What a proxy does to one request. */
export type Fault =
  | { readonly kind: 'none' }
  /** The socket is cut before the request has reached a server. */
  | { readonly kind: 'cut before' }
  /** The socket is cut while a server works; it hears of that, or works on for nobody. */
  | { readonly kind: 'cut during'; readonly ms: number; readonly isHeard: boolean }
  /** The socket is cut in the middle of the response. */
  | { readonly kind: 'cut after' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Held until so many later requests have gone past, or a second is over. */
  | { readonly kind: 'reorder'; readonly past: number }
  /** Sent to two processes at once; the first answer counts. */
  | { readonly kind: 'duplicate' }
  /** Answered, and sent to a process once more, later. */
  | { readonly kind: 'duplicate late'; readonly ms: number };

const none: Fault = { kind: 'none' };

/** Draws what is done to a request. One of a session lives in one process, which sees each message once. */
export function drawFault(draw: Draw, isOfSession: boolean): Fault {
  const luck = draw();
  if (luck < 0.03) return { kind: 'cut before' };
  if (luck < 0.07) return { kind: 'cut during', ms: between(draw, 0, 60), isHeard: draw() < 0.5 };
  if (luck < 0.1) return { kind: 'cut after' };
  if (luck < 0.16) return { kind: 'delay', ms: between(draw, 50, 1_200) };
  if (luck < 0.2) return { kind: 'reorder', past: between(draw, 1, 5) };
  if (isOfSession) return none;
  if (luck < 0.26) return { kind: 'duplicate' };
  if (luck < 0.3) return { kind: 'duplicate late', ms: between(draw, 100, 3_000) };
  return none;
}
