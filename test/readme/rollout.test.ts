import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SagaGone, startSaga, type KeptSaga } from '@mcp-saga/client';
import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type ClientStep,
  type Program,
  type SagaHost,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { testHost } from '@mcp-saga/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rawClient, type RawClient } from '../support/wire/wire-client.ts';
import { wireWays, type WireWay } from '../support/wire/ways.ts';
import { before, parcel, parcels, phase1, phase2, phase3, resumeThroughDeploy } from './rollout.ts';
import { askingModels } from '../support/asking-models.ts';

/** A question as the test kit shows it. */
type Question = Pick<ClientStep, 'params'>;

type Release = readonly Program[];

const answers = ({ params }: Question): { readonly [field: string]: string | boolean } =>
  JSON.stringify(params['message']).includes('express') ? { express: true } : { address: 'Rome' };

/** Releases by process, and which of them serves the next request. */
class Balancer {
  readonly #hosts: readonly SagaHost[];
  /** Which process serves a request, by its number from 0. */
  route: (request: number) => number = (request) => request % 2;
  #requests = 0;

  constructor(releases: readonly Release[]) {
    const shared = {
      keys: generateKey(),
      name: 'shop',
      testing: { environment: 'production' },
      answerers: { model: 'accept' },
      anonymous: { tasks: 'accept' },
      store: memoryStore({ olderTokens: 'accept' }),
      shortTokens: false,
      hooks: { onError: () => undefined },
    } as const;
    this.#hosts = releases.map((sagas) =>
      createSagaHost({ ...shared, sagas: askingModels(sagas) }),
    );
  }

  /**
   * A host for clients: every request, or every session, is served by the process that is its turn.
   */
  get host(): SagaHost {
    const [any] = this.#hosts;
    if (any === undefined) throw new Error('no release');
    const attach: SagaHost['attach'] = (...to) => {
      this.#hosts[this.route(this.#requests)]?.attach(...to);
      this.#requests += 1;
    };
    return { ...any, attach };
  }
}

const reasonOf = (error: unknown): unknown => Object(Object(error).data).reason;

/**
 * Has a client send a request again if the server asks for that. Returns the reasons that the
 * server gives.
 */
function persistent(client: RawClient): unknown[] {
  const reasons: unknown[] = [];
  const send = client.send.bind(client);
  client.send = async (...request) => {
    try {
      return await send(...request);
    } catch (error) {
      if (reasonOf(error) === undefined || isAsked(error) || reasons.length > 5) throw error;
      reasons.push(reasonOf(error));
      return await client.send(...request);
    }
  };
  return reasons;
}

const asTask = (release: Release, { dialect }: WireWay): Release =>
  dialect === 'tasks' ? release.map((program) => ({ ...program, task: 'prefer' })) : release;

beforeEach(() => void parcels.splice(0));

describe.each(wireWays)('a rolling deploy for clients of $dialect, $era', (way) => {
  const rollouts: readonly (readonly [string, readonly (() => Release)[]])[] = [
    ['a new version', [() => before, () => phase1, () => phase2, () => phase3]],
    ['patched code', [false, true].map((enabled) => () => [parcel({ enabled })])],
  ];

  it.each(rollouts)(
    '[E10] [R5] shows no client an error when %s is deployed by its phases',
    async (_, phases) => {
      for (const [index, release] of phases.entries()) {
        const next = phases[index + 1];
        if (next === undefined) continue;
        const releases = [release(), next()].map((each) => asTask(each, way));
        for (const offset of [0, 1]) {
          parcels.splice(0);
          const balancer = new Balancer(releases);
          balancer.route = (request) => (request + offset) % 2;
          const client = rawClient(testHost(balancer.host), { ...way, answers });
          const name = releases[0]?.[0]?.name ?? '';
          const result = await client.call(name);
          expect(result).toMatchObject({ content: [{ text: 'On its way' }] });
          expect(
            client.exchanges.filter(({ error }) => error !== undefined && !isAsked(error)),
          ).toEqual([]);
          expect(parcels.filter((sent) => sent.endsWith('Rome'))).toHaveLength(1);
          await client.close();
        }
      }
    },
  );

  const unphased: readonly (readonly [string, string, () => Release, () => Release])[] = [
    ['a new version', 'version_gone', () => before, () => phase2],
    ['patched code', 'replay_mismatch', () => [unpatched()], () => [parcel({ enabled: true })]],
  ];

  it.each(unphased)(
    '[E10] [R5] shows clients only retryable errors when %s is deployed without phases',
    async (_, reason, old, next) => {
      const balancer = new Balancer([asTask(old(), way), asTask(next(), way)]);
      // Two requests reach the new process, and others the old one, until it is replaced.
      balancer.route = (request) => (request < 2 || request > 4 ? 1 : 0);
      const client = rawClient(testHost(balancer.host), { ...way, answers });
      const reasons = persistent(client);
      expect(await client.call(next()[0]?.name ?? '')).toMatchObject({
        content: [{ text: 'On its way' }],
      });
      // A session stays with its process. A task that asks already is only working meanwhile.
      const isPatchedTask = way.dialect === 'tasks' && reason === 'replay_mismatch';
      const isSpared = way.dialect === 'push' || isResumedInSession(way) || isPatchedTask;
      expect(reasons).toEqual(isSpared ? [] : [reason, reason, reason]);
      expect(parcels.filter((sent) => sent.endsWith('Rome'))).toEqual(['express to Rome']);
      await client.close();
    },
  );
});

const isResumedInSession = ({ dialect, era }: WireWay): boolean =>
  dialect === 'resumable requests' && era === '2025-11-25';

/** The parcel saga before the change that weighs the parcel. */
const unpatched = (): Program =>
  saga({ name: 'parcel', version: '1' }, function* () {
    const { address } = yield* elicit('address', {
      message: 'Where to?',
      schema: z.object({ address: z.string() }),
    });
    const { express } = yield* elicit('express', {
      message: 'By express?',
      schema: z.object({ express: z.boolean() }),
    });
    yield* step(
      'ship',
      () => void parcels.push(`${express ? 'express' : 'standard'} to ${address}`),
    );
    return 'On its way';
  });

/** `true` if an error only asks for input, which requests/resume has no other way to do. */
const isAsked = (error: unknown): boolean => reasonOf(error) === 'input_required';

describe('a client of the saga methods', () => {
  async function connected(
    route: (request: number) => Release,
    clock: () => number = Date.now,
  ): Promise<Client> {
    const keys = generateKey();
    let requests = 0;
    const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => {
      const isSaga = JSON.stringify(init?.body ?? '').includes('tools/resumeSaga');
      const sagas = route(isSaga ? (requests += 1) : 0);
      const hooks = { onError: () => undefined, onReject: () => undefined };
      const server = serveSagas({
        name: 'shop',
        version: '1',
        sagas,
        keys,
        testing: { environment: 'production', clock },
        hooks,
      });
      return server.fetch(new Request(url, init));
    };
    const client = new Client(
      { name: 'shopper', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
    );
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const isAddress = params.message.startsWith('Where');
      return { action: 'accept', content: isAddress ? { address: 'Rome' } : { express: true } };
    });
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }),
    );
    return client;
  }

  async function keptBy(client: Client): Promise<KeptSaga> {
    const turn = await startSaga(client, { name: 'order' });
    if (turn.status !== 'suspended') throw new Error('completed');
    return turn.saga.toJSON();
  }

  it('[E10] resumes a saga until the deploy has finished', async () => {
    const client = await connected((request) => (request > 1 && request < 4 ? before : phase2));
    const waits: number[] = [];
    const kept = await keptBy(client);
    const result = await resumeThroughDeploy(client, kept, async (ms) => void waits.push(ms));
    expect(result).toMatchObject({ content: [{ text: 'On its way' }] });
    expect(waits).toEqual([1_000, 2_000]);
    expect(parcels).toEqual(['express to Rome']);
    await client.close();
  });

  it('[E10] stops if the token of a saga that no process serves has expired', async () => {
    let time = Date.now();
    const client = await connected(
      (request) => (request === 0 ? phase3 : before),
      () => time,
    );
    const kept = await keptBy(client);
    const waits: number[] = [];
    const wait = async (ms: number): Promise<void> => {
      waits.push(ms);
      time += ms;
    };
    await expect(resumeThroughDeploy(client, kept, wait)).rejects.toBeInstanceOf(SagaGone);
    expect(Math.max(...waits)).toBe(60_000);
    expect(parcels).toEqual([]);
    await client.close();
  });
});
