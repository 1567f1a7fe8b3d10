import type { Act, Session, SourceFile } from '../model/session.ts';

/** State in a link: an example, the edited files, and the answers. */
export interface Shared {
  readonly example: string;
  /** Edited files; undefined for the code of the example. */
  readonly files?: readonly SourceFile[];
  /** Open case of the crash matrix, as text. */
  readonly case?: string;
  readonly session: Session;
}

/**
 * Removes the values of all answers. A link without values still leads to the same questions and
 * forks.
 */
export function redactAnswers(session: Session): Session {
  const { input: _, answers, forks, ...bare } = session;
  return {
    ...bare,
    answers: answers.map(withoutValue),
    forks: forks.map((fork) => ({ ...fork, answers: fork.answers.map(withoutValue) })),
  };
}

export function isRedacted({ answers, forks }: Session): boolean {
  return [...answers, ...forks.flatMap((fork) => fork.answers)].some(
    (act) => /^(?:accept|approve|deny|send)$/.test(act.action) && !('content' in act),
  );
}

function withoutValue(act: Act): Act {
  const { content: _, by: __, ...rest } = { content: undefined, by: undefined, ...act };
  return rest;
}

/** Packs a state into the fragment of a link. Browsers do not send fragments to a server. */
export async function toFragment(shared: object): Promise<string> {
  const text = new Blob([JSON.stringify(shared)])
    .stream()
    .pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(text).arrayBuffer());
  const encoded = btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''));
  return `#run=${encoded.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** Reads the state of a link; undefined if the fragment carries none, or one of another form. */
export async function fromFragment<State>(
  fragment: string,
  isState: (shared: State) => boolean,
): Promise<State | undefined> {
  const encoded = /^#run=([\w-]+)$/.exec(fragment)?.[1];
  if (encoded === undefined) return undefined;
  try {
    const text = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(text, (character) => character.codePointAt(0) ?? 0);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const shared = JSON.parse(await new Response(stream).text()) as State;
    return isState(shared) ? shared : undefined;
  } catch {
    return undefined;
  }
}
