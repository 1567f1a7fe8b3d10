import type { Provenance } from '../model/client-step.ts';
import { formatOf, provenanceOf, type EntryFormat } from './entry-types.ts';
import { reveal } from './withheld.ts';

/** An entry of a parsed structure, with its position. */
interface Entry {
  readonly at: number;
  readonly format: EntryFormat;
  readonly path: string;
  readonly fingerprint: number;
  readonly provenance: Provenance | undefined;
  readonly agreement: number | undefined;
  /** `true` if the server stream contains its path or fingerprint, before its own value. */
  readonly isWithheld: boolean;
}

/**
 * Reads the entries of a parsed structure.
 *
 * @param server - values of the server stream, from the first entry's on. Without them a withheld fingerprint is 0, and a
 * path ends at its first key. Paths of questions have no keys.
 */
export function* entriesOf(
  structure: readonly (string | number)[],
  server: readonly unknown[] = [],
): Generator<Entry> {
  let serverAt = 0;
  for (let at = 0; at < structure.length;) {
    const head = structure[at] as string;
    const format = formatOf(head);
    const { answer, stream } = format;
    const isWithheld = typeof structure[at + 1] !== 'number';
    const open = head.slice(answer ? 2 : 1);
    const withheld = isWithheld ? server[serverAt] : undefined;
    const { path, fingerprint } =
      typeof withheld === 'string'
        ? reveal({ open, withheld })
        : { path: open, fingerprint: isWithheld ? 0 : (structure[at + 1] as number) };
    yield {
      at,
      format,
      path,
      fingerprint,
      provenance: answer ? provenanceOf(head.charAt(1)) : undefined,
      agreement: answer && !isWithheld ? (structure[at + 2] as number) : undefined,
      isWithheld,
    };
    if (isWithheld) serverAt += 1;
    if (stream === 'server') serverAt += 1;
    at += isWithheld ? 1 : answer ? 3 : 2;
  }
}

/** Positions of the last entry of each path. */
export function lastOf(
  structure: readonly (string | number)[],
  server: readonly unknown[],
): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const { at, path } of entriesOf(structure, server)) last.set(path, at);
  return last;
}

/** Provenance and entry of each answer in a structure, by path. */
export interface Answerers {
  readonly structure: string;
  readonly byPath: ReadonlyMap<string, { readonly index: number; readonly provenance: Provenance }>;
}

/** Reads the provenance of all answers in a structure. */
export function answerersOf(structure: string): Answerers {
  const byPath = new Map<string, { index: number; provenance: Provenance }>();
  let index = 0;
  for (const { path, provenance } of entriesOf(JSON.parse(`[${structure}]`) as (string | number)[])) {
    if (provenance !== undefined) byPath.set(path, { index, provenance });
    index += 1;
  }
  return { structure, byPath };
}

/**
 * Whether texts that `encode` wrote, joined or not, may hold one of the codec's tags (`{"$":…}`); where they do not,
 * `revive` changes nothing. JSON.stringify never escapes a `$`, so the key of a tag stands in them in plain.
 */
export function mayHoldTag(text: string): boolean {
  return text.includes('$":');
}
