import {
  createSagaObject,
  type DurableObjectNamespaceLike,
  type DurableObjectStateLike,
  type SagaObject,
  type SagaObjectOptions,
} from '@mcp-saga/cloudflare';

/** Bindings of the Workers of the tests. */
export interface TestEnv {
  readonly SAGAS: DurableObjectNamespaceLike & {
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
  /** The test in Node. */
  readonly NODE: { fetch(url: string, init: RequestInit): Promise<Response> };
  /** Name of the object that delivers a message. */
  readonly object?: string | undefined;
}

/** Time that has passed for the objects and not for workerd, in milliseconds. */
let passed = 0;
const workerdTime = Date.now.bind(Date);
Date.now = () => workerdTime() + passed;

type State = DurableObjectStateLike & {
  abort(reason: string): void;
  readonly id: { readonly name?: string };
};

/** State of an object, whose alarms are of the clock of the tests. */
function stateOf({ storage }: State): DurableObjectStateLike {
  return {
    storage: {
      kv: storage.kv,
      getAlarm: async () => {
        const at = await storage.getAlarm();
        return at === null ? null : at + passed;
      },
      setAlarm: (at) => storage.setAlarm(Math.max(1, at - passed)),
      deleteAlarm: () => storage.deleteAlarm(),
      deleteAll: () => storage.deleteAll(),
    },
  };
}

/** Creates the class of the objects, which the tests control. */
export function createTestObject(
  deliver: NonNullable<SagaObjectOptions<TestEnv>['deliver']>,
): new (state: State, env: TestEnv) => SagaObject {
  return class extends createSagaObject<TestEnv>({ deliver }) {
    readonly #state: State;
    readonly #env: TestEnv;
    #alarms = 0;

    constructor(state: State, env: TestEnv) {
      super(stateOf(state), { ...env, object: state.id.name });
      this.#state = state;
      this.#env = env;
    }

    override async fetch(request: Request): Promise<Response> {
      const { storage } = this.#state;
      const alarm = await storage.getAlarm();
      switch (new URL(request.url).pathname) {
        case '/shift': {
          const { ms } = (await request.json()) as { readonly ms: number };
          if (alarm !== null) await storage.setAlarm(Math.max(1, alarm - ms));
          return new Response();
        }
        case '/ring':
          await storage.setAlarm(workerdTime());
          return new Response();
        case '/state': {
          const isDue = alarm !== null && alarm <= workerdTime();
          const names = Array.from(storage.kv.list(), ([name]) => name);
          return Response.json({
            isBusy: isDue || this.#alarms > 0,
            hasAlarm: alarm !== null,
            names,
          });
        }
        case '/abort':
          this.#state.abort('The object ends.');
          return new Response();
        default:
          return await super.fetch(request);
      }
    }

    override async alarm(): Promise<void> {
      this.#alarms += 1;
      try {
        await super.alarm();
      } finally {
        this.#alarms -= 1;
      }
      await this.#env.NODE.fetch('http://node/rung', { method: 'POST' });
    }
  };
}

const objects = new Set<string>();

/** Returns the binding, and notes the names of the objects. */
export function noting({ SAGAS }: TestEnv, prefix: string): DurableObjectNamespaceLike {
  return {
    idFromName: (name) => {
      objects.add(prefix + name);
      return SAGAS.idFromName(prefix + name);
    },
    get: (id) => SAGAS.get(id),
  };
}

/** Serves the requests of the test. */
export async function control(request: Request, env: TestEnv): Promise<Response> {
  const url = new URL(request.url);
  switch (url.pathname) {
    case '/pass':
      passed += Number(url.searchParams.get('ms'));
      return new Response();
    case '/names':
      return Response.json([...objects]);
    default:
  }
  const name = url.searchParams.get('object') ?? '';
  objects.add(name);
  try {
    return await env.SAGAS.get(env.SAGAS.idFromName(name)).fetch(request);
  } catch (error) {
    return Response.json({ message: String(error) }, { status: 500 });
  }
}
