import type { WireEra } from '@mcp-saga/testing';

/** Protocols that serve sagas. */
export type WireDialect =
  | 'saga methods'
  | 'multi round-trip'
  | 'push'
  | 'resume token'
  | 'resumable requests'
  | 'tasks';

export type { WireEra };

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

/** Capabilities that a client must declare to be served in a dialect. */
export function capabilitiesOf({ dialect }: WireWay): { readonly [name: string]: object } {
  const asked = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  switch (dialect) {
    case 'saga methods':
    case 'multi round-trip':
    case 'push':
      return asked;
    case 'resume token':
      return {};
    case 'resumable requests':
      return { ...asked, resumableRequests: {} };
    case 'tasks':
      return { ...asked, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  }
}
