/** The wire protocols sagas are served over. */
export type WireDialect =
  | 'saga methods'
  | 'multi round-trip'
  | 'push'
  | 'resume token'
  | 'resumable requests'
  | 'tasks';

/** The version of MCP that a client speaks: requests that stand for themselves, or a connection with a handshake. */
export type WireEra = '2026-07-28' | '2025-11-25';

/** One way in which a client reaches sagas. */
export interface WireWay {
  readonly dialect: WireDialect;
  readonly era: WireEra;
}

/** Every way there is: for `it.each`. */
export const wireWays: readonly WireWay[] = [
  { dialect: 'saga methods', era: '2026-07-28' },
  { dialect: 'saga methods', era: '2025-11-25' },
  { dialect: 'multi round-trip', era: '2026-07-28' },
  { dialect: 'push', era: '2025-11-25' },
  { dialect: 'resume token', era: '2026-07-28' },
  { dialect: 'resume token', era: '2025-11-25' },
  { dialect: 'resumable requests', era: '2026-07-28' },
  { dialect: 'resumable requests', era: '2025-11-25' },
  { dialect: 'tasks', era: '2026-07-28' },
];

/**
 * The era of a client: the newest one in which its dialect is spoken, unless it says so itself.
 *
 * @throws TypeError where there is no such client
 */
export function eraOf(dialect: WireDialect, era: WireEra | undefined): WireEra {
  const eras = wireWays.filter((way) => way.dialect === dialect).map((way) => way.era);
  const [newest] = eras;
  if (newest === undefined) {
    const all = [...new Set(wireWays.map((way) => `'${way.dialect}'`))].join(', ');
    throw new TypeError(`There is no dialect '${dialect as string}'. There are ${all}.`);
  }
  if (era !== undefined && !eras.includes(era))
    throw new TypeError(`No client of ${era} speaks '${dialect}': it is of ${eras.join(', ')}.`);
  return era ?? newest;
}

/** What a client declares, so that a server serves it in this dialect. */
export function capabilitiesOf({ dialect, era }: WireWay): { readonly [name: string]: object } {
  const asked = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  switch (dialect) {
    case 'saga methods':
    case 'multi round-trip':
    case 'push':
      return asked;
    case 'resume token':
      return {};
    case 'resumable requests':
      // A session keeps of what a client declares only what the specification of its time knows.
      return era === '2026-07-28'
        ? { ...asked, resumableRequests: {} }
        : { ...asked, experimental: { resumableRequests: {} } };
    case 'tasks':
      return { ...asked, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  }
}
