import type { Frame, Message } from './wire.ts';

/** Facts about a host, from its messages. */
export interface HostFacts {
  readonly client: string;
  /** Negotiated protocol versions: a host may fall back to an older one. */
  readonly revision: string;
  readonly declared: readonly string[];
  /** Dialects of the responses. */
  readonly dialects: readonly string[];
  /** Fields of `_meta` by which the host may name a call: those outside of MCP. */
  readonly callFields: readonly string[];
}

const prefix = 'io.modelcontextprotocol/';

interface Hello {
  readonly clientInfo?: { readonly name: string; readonly version: string };
  readonly capabilities?: { readonly [name: string]: unknown };
  readonly protocolVersion?: string;
}

/** Reads the facts about a host from all messages of its scenarios. */
export function factsOf(frames: readonly Frame[]): HostFacts {
  const sent = frames.filter(({ from }) => from === 'client').map(({ message }) => message);
  const received = frames.filter(({ from }) => from === 'server').map(({ message }) => message);
  const hellos = sent
    .filter(({ method }) => method === 'tools/call')
    .map((message) => modernHello(message));
  const modern = hellos.find(({ clientInfo }) => clientInfo !== undefined);
  const legacy = (sent.find(({ method }) => method === 'initialize')?.params ?? {}) as Hello;
  const { clientInfo, capabilities = {} } = modern ?? legacy;
  const answers = received.map(({ result = {} }) => result as Hello);
  const negotiated = answers.find(({ protocolVersion }) => protocolVersion !== undefined);
  return {
    client: clientInfo === undefined ? 'unknown' : `${clientInfo.name} ${clientInfo.version}`,
    revision: [modern, negotiated].flatMap((hello) => hello?.protocolVersion ?? []).join(', '),
    declared: Object.entries(capabilities).flatMap(([name, value]) => describe(name, value)),
    dialects: dialectsOf(received),
    callFields: [...new Set(sent.flatMap((message) => callFieldsOf(message)))].toSorted(),
  };
}

/** Fields of `_meta` of a tool call that MCP does not define. */
function callFieldsOf({ method, params = {} }: Message): readonly string[] {
  if (method !== 'tools/call') return [];
  const defined = new Set(['progressToken', 'traceparent', 'tracestate']);
  return Object.keys(Object(params['_meta']) as object).filter(
    (field) => !field.startsWith(prefix) && !defined.has(field),
  );
}

/** Clients of 2026-07-28 introduce themselves in every request. */
function modernHello({ params = {} }: Message): Hello {
  const meta = Object(params['_meta']) as { readonly [key: string]: unknown };
  return {
    clientInfo: meta[`${prefix}clientInfo`],
    capabilities: meta[`${prefix}clientCapabilities`],
    protocolVersion: meta[`${prefix}protocolVersion`],
  } as Hello;
}

function describe(name: string, value: unknown): readonly string[] {
  const inner = Object.keys(Object(value) as object);
  if (name === 'extensions') return inner.map((extension) => `\`${extension}\``);
  const modes = inner.filter((key) => key !== 'listChanged');
  return [modes.length === 0 ? name : `${name} (${modes.join(', ')})`];
}

function dialectsOf(received: readonly Message[]): readonly string[] {
  const signs: readonly (readonly [string, (message: Message) => boolean])[] = [
    ['tasks', ({ result }) => result?.['resultType'] === 'task'],
    ['multi round-trip', ({ result }) => result?.['resultType'] === 'input_required'],
    ['push', ({ id, method }) => id !== undefined && method !== undefined],
    ['resume token', ({ result }) => result?.['nextResumeToken'] !== undefined],
  ];
  return signs.filter(([, isIn]) => received.some(isIn)).map(([name]) => name);
}
