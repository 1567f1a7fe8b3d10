import {
  createSagaHost,
  generateKey,
  memoryStore,
  publicMessageOf,
  saga,
  SagaError,
  step,
  type SagaHost,
  type Steps,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';

const did: string[] = [];

/** Makes a thrown value that cannot be read in some way. */
const unreadable: readonly (readonly [what: string, make: () => object])[] = [
  ['whose constructor throws', withoutConstructor],
  [
    'whose constructor is a proxy that throws',
    () => Object.assign(new Error('lost'), { constructor: new Proxy(Error, throwing) }),
  ],
  ['that is a proxy without a prototype', () => new Proxy(new Error('lost'), throwing)],
  ['that is a revoked proxy', revoked],
];

const throwing: ProxyHandler<object> = {
  get: () => {
    throw new Error('not readable');
  },
  getPrototypeOf: () => {
    throw new Error('no prototype');
  },
  getOwnPropertyDescriptor: () => {
    throw new Error('no properties');
  },
};

function withoutConstructor(): object {
  return Object.defineProperty(new Error('lost'), 'constructor', {
    get: () => {
      throw new Error('no constructor');
    },
  });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function hostOf(body: () => Steps<string>): SagaHost {
  did.length = 0;
  const pay = saga({ name: 'pay', version: '1', reuse: 'ok' }, body);
  return createSagaHost({
    sagas: [pay],
    name: 'shop',
    keys: generateKey(),
    store: memoryStore(),
    starts: { unkeyed: 'run' },
    hooks: { onError: () => undefined, onTurn: () => undefined },
  });
}

/** An error of the package, whose answer to the question if clients may read it throws. */
function withoutPublic(): object {
  return Object.defineProperty(new SagaError('lost'), 'public', {
    get: () => {
      throw new Error('not public');
    },
  });
}

test('[E9] an error of the package that cannot be read has no public message', () => {
  expect(publicMessageOf('pay', withoutPublic())).toBe("'pay' failed.");
});

describe.each(unreadable)('a thrown value %s', (_, make) => {
  test('[E2] is retried like another error of a step', async () => {
    const host = hostOf(function* () {
      yield* step(
        'charge',
        () => {
          if (did.push('charge') < 3) throw make() as Error;
        },
        { retry: { attempts: 5, delay: 1 } },
      );
      return 'paid';
    });
    expect(await host.start('pay', {})).toMatchObject({ status: 'completed' });
    expect(did).toHaveLength(3);
  });

  test('[E3] ends the saga with one undo, however often the start is repeated', async () => {
    const host = hostOf(function* () {
      yield* step('hold', () => void did.push('hold'), {
        compensate: () => void did.push('release'),
      });
      throw make() as Error;
    });
    for (let times = 0; times < 3; times += 1) {
      const { status } = await host.start('pay', {}, { idempotencyKey: 'one' });
      expect(status).toBe('failed');
    }
    expect(did).toEqual(['hold', 'release']);
  });

  test('[E9] has no public message, and is no error of the package', () => {
    expect(publicMessageOf('pay', make())).toBe("'pay' failed.");
    expect(make() instanceof SagaError).toBe(false);
  });
});

test('[E9] an unknown outcome stays unknown if the constructor of its error throws', async () => {
  const host = hostOf(function* () {
    yield* step(
      'charge',
      () => {
        did.push('charge');
        throw Object.assign(withoutConstructor(), { code: 'outcome_unknown' });
      },
      { unknown: 'compensate', compensate: () => void did.push('refund') },
    );
    return 'paid';
  });
  await host.start('pay', {});
  expect(did).toEqual(['charge', 'refund']);
});
