import { once } from 'node:events';
import { createServer } from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createSagaHost,
  generateKey,
  memoryStore,
  type ClientStep,
  type SagaHost,
} from '@mcp-saga/server';
import { afterEach, describe, expect, it } from 'vitest';
import { install } from '../../support/install.ts';
import { durableFunction } from '../asked-refund/durable-function.ts';
import { LocalLambda, type DurableSdk, type Testing } from '../asked-refund/local-lambda.ts';
import { refundSaga } from '../asked-refund/saga.ts';
import { Provider } from '../provider.ts';
import { driverOf } from './durable-function.ts';
import { workflowOf, type Restate } from './restate.ts';
import { serverPackage, startRestate } from './restate-server.ts';

const order = { order: 'A-17', euros: 20 };
const accept = { action: 'accept', content: {} };
const decline = { action: 'decline' };
const silent = (): void => undefined;

/** A host of the refund saga, and its world. `now` is its clock. */
function shop() {
  const bank = new Provider();
  const held = new Set<string>();
  const warehouse = {
    hold: async (one: string) => void held.add(one),
    release: async (one: string) => void held.delete(one),
  };
  const time = { now: 0 };
  const clock = (): number => time.now;
  const kept = { keys: generateKey(), store: memoryStore({ clock }) };
  const open = (): SagaHost =>
    createSagaHost({
      name: 'shop',
      sagas: [refundSaga({ bank, warehouse })],
      ...kept,
      testing: { clock },
      hooks: { onTurn: silent, onReject: silent, onError: silent, onWarning: silent },
    });
  return { bank, held, time, open };
}

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function installed(...packages: readonly string[]) {
  const folder = await install('compare', ...packages);
  const load = async (name: string): Promise<unknown> =>
    await import(pathToFileURL(createRequire(`${folder}/`).resolve(name)).href);
  return { folder, load };
}

describe('a durable function that drives a saga', () => {
  async function start() {
    const { load } = await installed(...durableFunction.packages);
    const sdk = (await load('@aws/durable-execution-sdk-js')) as DurableSdk;
    const testing = (await load('@aws/durable-execution-sdk-js-testing')) as Testing;
    const lambda = new LocalLambda(sdk, testing, '2 sure');
    opened.push(() => lambda.close());
    const world = shop();
    const asked: ClientStep[] = [];
    const deploy = () => {
      const { promise: death, resolve: kill } = deferred();
      const ask = async (question: ClientStep, callback: string): Promise<void> => {
        asked.push(question);
        await lambda.tellCallback(callback);
      };
      const handler = driverOf(world.open(), 'refund', ask);
      lambda.deploy(sdk.withDurableExecution(handler), death.then(silent));
      return kill;
    };
    const kill = deploy();
    const { execution, callback } = await lambda.start(order);
    return { ...world, lambda, asked, deploy, kill, execution, callback };
  }

  it('asks by a callback of a durable function, and refunds once', async () => {
    const { lambda, asked, execution, callback, bank, held } = await start();
    expect(asked).toMatchObject([
      { stepId: 'sure', params: { message: 'Refund 20 EUR for A-17?' } },
    ]);
    await lambda.completeCallback(callback, JSON.stringify(accept));
    expect(await lambda.resultOf(execution)).toMatchObject({ result: 'Refunded: re_1' });
    expect([bank.requests, [...held]]).toEqual([1, ['A-17']]);
  });

  it('undoes the steps of a saga in a durable function if the user declines', async () => {
    const { lambda, execution, callback, bank, held } = await start();
    await lambda.completeCallback(callback, JSON.stringify(decline));
    expect(await lambda.resultOf(execution)).toMatchObject({
      status: 'failed',
      error: "The user declined the question 'sure'.",
    });
    expect([bank.requests, [...held]]).toEqual([0, []]);
  });

  it('refunds once if the sandbox of a durable function dies after the refund', async () => {
    const { lambda, time, deploy, kill, execution, callback, bank } = await start();
    const { promise: refunded, resolve } = deferred();
    bank.onRefund = () => {
      resolve();
      return new Promise(() => undefined);
    };
    await lambda.completeCallback(callback, JSON.stringify(accept));
    await refunded;
    bank.onRefund = async () => undefined;
    kill();
    time.now += 60_000;
    deploy();
    expect(await lambda.resultOf(execution)).toMatchObject({ result: 'Refunded: re_1' });
    expect([bank.requests, bank.refunds]).toEqual([2, 1]);
  });
});

describe('a workflow of Restate that drives a saga', () => {
  async function start() {
    const { folder, load } = await installed(
      '@restatedev/restate-sdk@1.17.2',
      `${serverPackage}@1.7.12`,
    );
    // Of Node 22, which the SDK needs.
    (Promise as { withResolvers?: unknown }).withResolvers ??= deferred;
    const restate = (await load('@restatedev/restate-sdk')) as Restate;
    const server = await startRestate(
      join(folder, 'node_modules', serverPackage, 'bin/restate-server'),
    );
    opened.push(() => server.stop());
    const world = shop();
    const services = [workflowOf(restate, world.open(), 'refund')];
    const endpoint = createServer(restate.createEndpointHandler({ services, logger: silent }));
    endpoint.listen(0, '127.0.0.1');
    await once(endpoint, 'listening');
    opened.push(async () => endpoint.close());
    await server.register((endpoint.address() as AddressInfo).port);
    await server.call('/refund/one/run/send', order);
    const questions = async () => await server.call('/refund/one/questions');
    await expect.poll(questions).toMatchObject([{ id: '2 sure' }]);
    return { ...world, ...server };
  }

  it('asks by a durable promise of Restate, and refunds once', async () => {
    const { call, resultOf, bank, held } = await start();
    await call('/refund/one/answer', { id: '2 sure', result: accept });
    expect(await resultOf('/restate/workflow/refund/one/attach')).toMatchObject({
      result: 'Refunded: re_1',
    });
    expect([bank.requests, [...held]]).toEqual([1, ['A-17']]);
  });

  it('undoes the steps of a saga in a workflow of Restate if the user declines', async () => {
    const { call, resultOf, bank, held } = await start();
    await call('/refund/one/answer', { id: '2 sure', result: decline });
    expect(await resultOf('/restate/workflow/refund/one/attach')).toMatchObject({
      status: 'failed',
    });
    expect([bank.requests, [...held]]).toEqual([0, []]);
  });
});

function deferred() {
  let resolve: (value?: unknown) => void = silent;
  let reject: (error: unknown) => void = silent;
  const promise = new Promise<unknown>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}
