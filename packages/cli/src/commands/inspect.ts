import { text } from 'node:stream/consumers';
import { historyOf, receiptsIn } from '@mcp-saga/core/program';
import { createKeyRing, createSealer, fromBase64Url } from '@mcp-saga/seal';
import type { Claims } from '@mcp-saga/seal';
import type { Json, SagaHost, SagaInspection } from '@mcp-saga/server';
import { partsOf, toSealedSaga } from '@mcp-saga/server/internal';
import { defineCommand, type Command } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { toValue } from '../input/assignments.ts';
import { inspectingHost } from '../input/inspecting-host.ts';
import { loadHosts, type GivenOptions } from '../input/load-sagas.ts';
import { findKeys, keyOptions, readKeys } from '../input/read-keys.ts';

export const inspect: Command = defineCommand({
  parameters: ['token'],
  options: {
    host: {
      value: 'FILE',
      help: 'module that exports the host or server, to open the token with its keys',
      runsUserCode: true,
    },
    audience: {
      value: 'NAME',
      help: 'audience of the service, to open the token without the host',
    },
    values: { help: 'shows answers and results too; needs the keys and --audience' },
    ...keyOptions,
  },
  example: 'mcp-saga inspect - --host host.ts < token.txt',
  run: async (values, [given = ''], io) => {
    const { host, audience, values: isShown = false } = values;
    if (isShown && (audience === undefined || host !== undefined))
      throw new CliError('usage', '--values needs --audience, and no --host.');
    if (audience === '')
      throw new CliError('usage', '--audience: expected the name of the service.');
    const token = (given === '-' ? await text(io.input) : given).trim();
    if (token === '') throw new CliError('usage', 'The token is empty.');
    const outside = readOutside(token);
    const found = findKeys(values, io);
    if (host !== undefined) {
      const inspection = await (await hostIn(host, found)).inspect(token);
      const { sagaId, keyId, claims, tokenBytes, parts, trace } = inspection;
      const shown = [
        ...facts({ sagaId, keyId, tokenBytes, ...sizesOf(parts), trace }),
        ...claimsOf(claims),
      ];
      return { text: sections(shown, timelineOf(inspection)), json: inspection };
    }
    const keys = audience === undefined ? found : readKeys(values, io);
    const ring = keys === undefined ? undefined : createKeyRing(keys);
    if (ring === undefined || audience === undefined) {
      const missing = ring === undefined ? 'SAGA_KEYS and --audience' : '--audience';
      const advice = `Everything else is encrypted. Pass --host, or ${missing}.`;
      return { text: sections(facts(outside), [advice]), json: outside };
    }
    const sealer = createSealer({ ring, audience });
    const sealed = await sealer.open(token, {
      purpose: 'token',
      ignoreExpiry: true,
      allowFuture: true,
    });
    const { claims, sid: sagaId } = sealed;
    const parts = partsOf(sealed);
    const { input, entries } = historyOf(toSealedSaga(sealed, token.length).state.program);
    const begin = { kind: 'input', path: '', outcome: 'parsed', value: input };
    const timeline = [begin, ...entries].map(({ kind, path, outcome, value }): Entry => {
      const bytes = value === undefined ? 0 : JSON.stringify(value).length;
      return { kind, path, outcome, bytes, ...(isShown && value !== undefined ? { value } : {}) };
    });
    const read = { timeline, receipts: receiptsIn(entries) };
    return {
      text: sections(facts(outside), claimsOf(claims), facts(sizesOf(parts)), timelineOf(read)),
      json: { ...outside, sagaId, expired: claims.exp <= Date.now(), claims, parts, ...read },
    };
  },
});

/** Returns the exported host of a module, or a host like that of its exported server. */
async function hostIn(file: string, found: string | undefined): Promise<SagaHost> {
  const module = await loadHosts(file);
  for (const host of module.exported.values()) if ('inspect' in host) return host as SagaHost;
  const { keys = found, ...given } = module.hosts[0] as GivenOptions;
  return await inspectingHost(module, { ...given, keys });
}

/** Reads the header of a token, which needs no key. Throws `usage` if the text is no token. */
function readOutside(token: string): Facts {
  const [header = '', ...others] = token.split('.');
  const decoded = new TextDecoder().decode(fromBase64Url(header));
  const { kid } = Object(toValue(decoded)) as { readonly kid?: unknown };
  if (others.length !== 4 || typeof kid !== 'string')
    throw new CliError(
      'usage',
      'This is not a whole saga token: expected five parts and a key ID.',
    );
  return { tokenBytes: token.length, keyId: kid };
}

type Facts = Readonly<Record<string, string | number | undefined>>;

function facts(given: Facts): readonly string[] {
  const rows = Object.entries(given).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

function claimsOf({
  saga,
  entry,
  turn,
  method,
  born,
  iat,
  exp,
  ...claims
}: Claims): readonly string[] {
  return facts({
    saga: `${saga.name} ${saga.version}`,
    target: entry.target,
    turn,
    method,
    principal: claims.principal ?? 'anonymous',
    engine: claims.engine,
    started: new Date(born).toISOString(),
    sealed: new Date(iat).toISOString(),
    [exp <= Date.now() ? 'expired' : 'expires']: new Date(exp).toISOString(),
  });
}

/** Entry of a timeline, with the value on request. */
type Entry = NonNullable<SagaInspection['timeline']>[number] & { readonly value?: Json };

function timelineOf({
  timeline,
  receipts = [],
}: Pick<SagaInspection, 'timeline' | 'receipts'>): string[] {
  if (timeline === undefined) return ['No timeline: the host does not serve this version.'];
  const width = Math.max(0, ...timeline.map(({ path }) => path.length));
  return [
    ...timeline.map(({ kind, path, outcome, bytes, value }: Entry) => {
      const shown = value === undefined ? '' : `: ${JSON.stringify(value)}`;
      return `${path.padEnd(width)}  ${kind} ${outcome}, ${bytes} bytes${shown}`;
    }),
    ...receipts.map((receipt) => `receipt ${JSON.stringify(receipt)}`),
  ];
}

function sizesOf(parts: SagaInspection['parts']): Facts {
  const sizes = parts.map(({ part, bytes, stored }) => [part, `${bytes} bytes, ${stored} stored`]);
  return Object.fromEntries(sizes) as Facts;
}

function sections(...parts: readonly (readonly string[])[]): string {
  const filled = parts.filter(({ length }) => length > 0);
  return filled.map((lines) => lines.join('\n')).join('\n\n');
}
