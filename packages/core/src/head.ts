/** The small part of a state that changes from turn to turn. */
export interface Head {
  /** Turns taken so far. */
  readonly turn: number;
  /** The stream that the input stands in, as its first value. */
  readonly input: 'client' | 'server';
  /** The last progress that was told; it never falls. (W5) */
  readonly progress: number | undefined;
  /** The questions the client was asked last, by path: digests of their exact parameters. (T6) */
  readonly asked: { readonly [path: string]: string };
}

/** A head as text. */
export function encodeHead(head: Head): string {
  const { turn, input, progress, asked } = head;
  return JSON.stringify({ t: turn, i: input === 'client' ? 'c' : 's', p: progress, a: asked });
}

/** A head from its text. */
export function decodeHead(text: string): Head {
  const { t, i, p, a } = JSON.parse(text) as { t: number; i: string; p?: number; a: Record<string, string> };
  return { turn: t, input: i === 'c' ? 'client' : 'server', progress: p, asked: a };
}
