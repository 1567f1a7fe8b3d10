import { alarmQueue, durableObjectStore } from '@mcp-saga/cloudflare';
import { saga, sleep, step } from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { control, createTestObject, noting, type TestEnv } from './test-objects.ts';

interface Env extends TestEnv {
  readonly SAGA_KEYS: string;
}

const remind = saga({ name: 'remind', version: '1' }, function* () {
  yield* sleep(3_600_000);
  yield* step('remind', async ({ services }) => {
    await (services as Env).NODE.fetch('http://node/effect', { method: 'POST' });
  });
  return 'Reminded';
});

let server: SagaServer<Env> | undefined;

const serverOf = (env: Env): SagaServer<Env> => {
  const namespace = noting(env, 'host ');
  return (server ??= serveSagas({
    name: 'reminders',
    version: '1.0.0',
    sagas: [remind],
    keys: env.SAGA_KEYS,
    services: (bindings) => bindings,
    store: durableObjectStore(namespace),
    queue: alarmQueue(namespace),
  }));
};

/** Objects whose host is in the Worker. */
export const Sagas = createTestObject((message, env) =>
  serverOf(env as Env).deliver(message, env as Env),
);

export default {
  fetch: (request: Request, env: Env, context: unknown) =>
    new URL(request.url).pathname === '/mcp'
      ? serverOf(env).fetch(request, env, context)
      : control(request, env),
};
