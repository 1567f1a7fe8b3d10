import { encode } from '../../values/codec.ts';
import type { Effect, Spec } from '../parts/effect.ts';
import { ended } from '../parts/effect-entries.ts';

/** Room that a wait for answers from outside needs in the token, in bytes of JSON. */
export interface RoomNeeds {
  /** What the smallest answers take that can end the wait. */
  readonly least: number;
  /** What the largest answers take that the wait can use. */
  readonly most: number;
  /** What the wait records besides the answers, such as deliveries and reminders. */
  readonly records: number;
}

/** Opens a wait for answers from outside: reserves room for them in the token of the saga. */
export interface OpenSpec extends Spec {
  readonly kind: 'open';
  readonly needs: RoomNeeds;
}

/**
 * Records how many bytes the answers may take. The door refuses more, and the saga keeps the room
 * until it has the answers. So an answer that was confirmed always fits.
 */
export const open: Effect<OpenSpec> = {
  entries: ['read', 'failed', 'withdrawn'],
  run: async (_, __, ___, share) => ended('read', encode(await share())),
};
