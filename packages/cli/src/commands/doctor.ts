import { millisecondsOf } from '@mcp-saga/core/shared';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { skewMs } from '@mcp-saga/seal';
import type { SagaStore } from '@mcp-saga/server/stores';
import { defineCommand, type Command, type CommandIo } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { headersOf, serverOptions, withServer, type ServerValues } from '../calling/connect.ts';
import { declaredFor, wayFor } from '../calling/call-tool.ts';
import { loadHosts, type GivenOptions } from '../input/load-sagas.ts';
import { findKeys, keyOptions } from '../input/read-keys.ts';
import type { SeenClient, StudioState } from '../studio/seen-turns.ts';
import { limitsOf, limitsSeen } from './client-limits.ts';
import { checked } from './keys.ts';

const answerTimeoutMs = 5_000;

/** One finding of the doctor. */
type Check = Readonly<Record<'name' | 'text', string> & { ok: boolean }>;

export const doctor: Command = defineCommand({
  parameters: [],
  options: {
    ...serverOptions,
    ...keyOptions,
    host: {
      value: 'FILE',
      help: 'module with the host or server, to check its store and old versions',
      runsUserCode: true,
    },
    studio: {
      value: 'URL',
      help: 'studio page, to list its clients (default: that of dev at --url)',
    },
  },
  example: 'mcp-saga doctor --url http://127.0.0.1:3000/mcp --env-file .env',
  run: async (values, _parameters, io) => {
    const keys = findKeys(values, io);
    const checks: Check[] = [];
    if (keys !== undefined) {
      const { text, ok = true } = checked(keys);
      checks.push({ name: 'keys', ok, text });
    }
    if (values.host !== undefined) checks.push(...(await hostChecks(values.host)));
    if (values.url !== undefined || values.stdio !== undefined) {
      const dead = (error: Error): readonly Check[] => {
        if (checks.length === 0 || Object(error).code === 'usage') throw error;
        return [{ name: 'server', ok: false, text: error.message }];
      };
      checks.push(...(await serverChecks(values, io).catch(dead)));
    }
    const isDead = checks.some((check) => check.name === 'server' && !check.ok);
    if (values.studio !== undefined || (values.url !== undefined && !isDead))
      checks.push(...(await clientChecks(values, inTime(values, io))));
    if (checks.length === 0)
      throw new CliError(
        'usage',
        'Nothing to check: pass --url, --stdio, --host, --studio, or --env-file.',
      );
    const ok = checks.every((check) => check.ok);
    const lines = checks.map(({ name, ok: isOk, text }) => {
      const mark = name === 'limits' ? 'note' : isOk ? 'ok  ' : 'FAIL';
      return `${mark}  ${name}: ${text}`;
    });
    const text = lines.map((line) => line.replaceAll('\n', '\n      ')).join('\n');
    return { text, json: { ok, checks }, ok };
  },
});

async function serverChecks(values: ServerValues, io: CommandIo): Promise<readonly Check[]> {
  return await withServer(values, declaredFor(undefined), io, async (client) => {
    const { name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' };
    const offers = wayFor(client) === 'saga-methods';
    const lacking = 'no saga methods: not a saga server, or its sagas are not attached';
    const { tools } = await client.listTools();
    const noun = tools.length === 1 ? 'tool' : 'tools';
    return [
      {
        name: 'server',
        ok: true,
        text: `${name} ${version} answers, with ${tools.length} ${noun}`,
      },
      { name: 'sagas', ok: offers, text: offers ? 'the saga methods are offered' : lacking },
      ...(offers ? (await limitsSeen(client, values, io)).map(limitOf) : []),
      ...(values.url === undefined ? [] : [await clockCheck(values.url, inTime(values, io))]),
    ];
  });
}

/** A limit is what the server is: not every client meets it, so no check fails. */
function limitOf(text: string): Check {
  return { name: 'limits', ok: true, text };
}

/** Options of a request that ends in time. */
function inTime({ header }: ServerValues, { signal }: CommandIo): RequestInit {
  const timeout = AbortSignal.timeout(answerTimeoutMs);
  return { headers: headersOf(header), signal: AbortSignal.any([signal, timeout]) };
}

async function clockCheck(url: string, options: RequestInit): Promise<Check> {
  const sent = Date.now();
  const response = await fetch(url, { ...options, method: 'OPTIONS' }).catch(() => undefined);
  await response?.body?.cancel().catch(() => undefined);
  const date = Date.parse(response?.headers.get('date') ?? '');
  if (Number.isNaN(date))
    return { name: 'clock', ok: true, text: 'unknown: the server sends no Date' };
  // The header has whole seconds.
  const skew = Math.max(0, sent - date - 1_000, date - Date.now());
  if (skew <= skewMs) return { name: 'clock', ok: true, text: 'in time with this machine' };
  const text = `${Math.round(skew / 1_000)} s apart from this machine; tokens tolerate ${skewMs / 1_000} s`;
  return { name: 'clock', ok: false, text };
}

/** Lists the clients that a studio has seen: a server stores none. */
async function clientChecks(
  { url, studio }: ServerValues & { readonly studio: string | undefined },
  options: RequestInit,
): Promise<readonly Check[]> {
  const page = (studio ?? new URL('/studio/', url).href).replace(/\/?$/, '/');
  if (!URL.canParse(page)) throw new CliError('usage', `--studio ${studio}: expected an address.`);
  const { seen, clients = [] } = await fetch(`${page}state`, options)
    .then(async (response) => (await response.json()) as Partial<StudioState>)
    .catch((): Partial<StudioState> => ({}));
  if (seen === undefined && studio !== undefined)
    return [{ name: 'clients', ok: false, text: `no studio answers at ${studio}` }];
  const methods = new Set(seen?.map(({ method }) => method));
  const texts = [
    // The page and this command line are no clients of users.
    ...clients.filter(({ name }) => !/^(?:mcp-saga|studio) /.test(name)).map(describe),
    ...(methods.size === 0 ? [] : [`started sagas by ${[...methods].join(', ')}`]),
  ];
  if (texts.length === 0)
    texts.push('none seen; mcp-saga dev lists them, and --studio with the page of createStudio');
  return texts.map((text) => ({ name: 'clients', ok: true, text }));
}

/** Writes an entry that expires after a minute, and compares the clocks of this process and the store. */
async function writeOnce(store: SagaStore, id: string): Promise<unknown> {
  const nowMs = Date.now();
  const life = { expiresAtMs: nowMs + 60_000, nowMs };
  return await store.write({ group: id, name: 'doctor' }, { head: id }, 0, life);
}

/** Describes what a client supports, of the capabilities that decide how a saga is served. */
function describe({ name, mcp, supports }: SeenClient): string {
  const lacks = ['elicitation', 'sampling', 'roots', 'tasks'].filter(
    (key) => !supports.join().includes(key),
  );
  return `${name}, MCP ${mcp}, supports ${supports.join(', ') || 'nothing'}, lacks ${lacks.join(', ') || 'nothing'}`;
}

/** Checks the stores and the old versions of a host. */
async function hostChecks(file: string): Promise<readonly Check[]> {
  const { hosts } = await loadHosts(file);
  const checks = hosts.map(async (host) => [
    ...(await storesOf(host)),
    ...versionsOf(host),
    ...limitsOf(host).map(limitOf),
  ]);
  return (await Promise.all(checks)).flat();
}

async function storesOf({ store, queue }: GivenOptions): Promise<readonly Check[]> {
  const id = `doctor-${randomUUID()}`;
  const storeCheck: Check =
    store === undefined
      ? { name: 'store', ok: true, text: 'none: used tokens can be used again' }
      : await reached('store', async () => await writeOnce(store, id));
  if (queue === undefined) return [storeCheck];
  if (queue.remove !== undefined)
    return [storeCheck, await reached('queue', async () => await queue.remove?.(id))];
  return [
    storeCheck,
    { name: 'queue', ok: true, text: 'unknown: this kind of queue takes no harmless request' },
  ];
}

/** Tries a store. The message of an error may contain credentials, but its code does not. */
async function reached(name: 'store' | 'queue', request: () => Promise<unknown>): Promise<Check> {
  try {
    const isDone = await Promise.race([
      request().then(() => true),
      setTimeout(answerTimeoutMs, false),
    ]);
    return {
      name,
      ok: isDone,
      text: isDone ? 'answers' : `no answer within ${answerTimeoutMs / 1_000} s`,
    };
  } catch (error) {
    const { code, name: kind = 'unknown error' } = Object(error) as Partial<NodeJS.ErrnoException>;
    return { name, ok: false, text: `cannot be reached (${code ?? kind})` };
  }
}

function versionsOf({ sagas, limits }: GivenOptions): readonly Check[] {
  const days = Math.ceil(millisecondsOf(limits?.maxLifetime ?? '7d') / 86_400_000);
  return sagas.flatMap(({ name, version, previous }) =>
    previous.map(({ saga, until }): Check => {
      const text =
        until === undefined
          ? `has no \`until\`: its last sagas end ${days} days after the rollout of ${version}`
          : until.getTime() <= Date.now()
            ? 'can be removed: its last sagas have ended'
            : `is needed until ${until.toISOString()}`;
      return { name: 'versions', ok: true, text: `${name} ${saga.version} ${text}` };
    }),
  );
}
