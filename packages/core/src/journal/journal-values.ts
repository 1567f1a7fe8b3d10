import { decode } from '../values/codec.ts';
import { MalformedState, parseTexts } from './malformed-state.ts';

type Stream = 'client' | 'server';

/**
 * Copies of recorded values, unaffected by changes of a body. The first copy parses the texts
 * again: few replays need copies, and copying every value takes four times as long as the rest of a
 * replay.
 */
export class RecordedValues {
  readonly #texts: Readonly<Record<Stream, string>>;
  readonly #values: Partial<Record<Stream, readonly unknown[]>> = {};

  constructor(texts: Readonly<Record<Stream, string>>) {
    this.#texts = texts;
  }

  /** Makes a copy of the value at a position of a stream. */
  copyAt(stream: Stream, at: number): unknown {
    this.#values[stream] ??= parseTexts(this.#texts[stream]);
    const value = this.#values[stream][at];
    if (value === undefined) throw new MalformedState();
    return decode(JSON.stringify(value));
  }
}
