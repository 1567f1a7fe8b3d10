/** Protocols that serve sagas. */
export type WireDialect =
  | 'saga methods'
  | 'multi round-trip'
  | 'push'
  | 'resume token'
  | 'resumable requests'
  | 'tasks';

/** Version of MCP: with independent requests, or with a session. */
export type WireEra = '2026-07-28' | '2025-11-25';

/** A protocol, and the version of MCP that carries it. */
export interface WireWay {
  readonly dialect: WireDialect;
  readonly era: WireEra;
}

/** All combinations of protocol and version: for `it.each`. */
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

/** Returns the MCP version of a client. Default: the newest with its dialect. Throws if the dialect has no such version. */
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

/** Capabilities that a client must declare to be served in a dialect. */
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
