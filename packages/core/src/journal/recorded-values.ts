import { decode } from '../values/codec.ts';

type Stream = 'client' | 'server';

/**
 * Copies of recorded values, whatever a body has done to the values it was given. The texts are parsed once more when the
 * first copy is made: few replays need one, and to copy each value took four times as long as the rest of its replay.
 */
export class RecordedValues {
  readonly #texts: Readonly<Record<Stream, string>>;
  readonly #values: Partial<Record<Stream, readonly unknown[]>> = {};

  constructor(texts: Readonly<Record<Stream, string>>) {
    this.#texts = texts;
  }

  /** Makes a copy of the value at a position of a stream. */
  copyAt(stream: Stream, at: number): unknown {
    this.#values[stream] ??= JSON.parse(`[${this.#texts[stream]}]`) as unknown[];
    return decode(JSON.stringify(this.#values[stream][at]));
  }
}
