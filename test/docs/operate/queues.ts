import {
  createSagaHost,
  elicit,
  memoryStore,
  memoryQueue,
  saga,
  sleep,
  step,
  StepTimedOut,
  type QueueMessage,
  type SagaHost,
  type SagaQueue,
} from '@mcp-saga/server';
import { z } from 'zod';

const hour = 3_600_000;
const day = 24 * hour;
const Sure = z.object({ sure: z.boolean() });

/** What the mails of the examples said. */
export const mails: string[] = [];
const mail = {
  send: async (text: string, _options: { readonly idempotencyKey: string }): Promise<void> =>
    void mails.push(text),
};

// #region saga
export const offer = saga({ name: 'offer', version: '1' }, function* () {
  yield* step('offer', ({ idempotencyKey }) => mail.send('Our offer', { idempotencyKey }), {
    compensate: ({ idempotencyKey }) => mail.send('We withdraw our offer', { idempotencyKey }),
  });
  yield* sleep(3 * day);
  yield* step('remind', ({ idempotencyKey }) => mail.send('A reminder', { idempotencyKey }));
  try {
    const { sure } = yield* elicit('sure', {
      message: 'Accept?',
      schema: Sure,
      timeout: 2 * day,
    });
    return sure ? 'Accepted' : 'Refused';
  } catch (error) {
    if (!(error instanceof StepTimedOut)) throw error;
    yield* step('close', ({ idempotencyKey }) =>
      mail.send('The offer is over', { idempotencyKey }),
    );
    return 'Over';
  }
});
// #endregion saga

export function hostInOneProcess(
  clock: () => number,
  keys: string,
  queue: SagaQueue = memoryQueue(),
): SagaHost {
  // #region host
  const host = createSagaHost({
    sagas: [offer],
    keys,
    name: 'shop',
    store: memoryStore(), // one process; a fleet shares a store
    queue, // memoryQueue() for one process
    testing: { clock }, // by default Date.now
  });
  // #endregion host
  return host;
}

/** Job system with delays. */
export interface Jobs {
  /** Replaces the job with this ID. */
  add(id: string, data: QueueMessage, runAt: Date): Promise<void>;
  remove(id: string): Promise<void>;
  /** Calls the handler with each job. Runs a job again if the promise rejects. */
  work(handler: (data: QueueMessage) => Promise<unknown>): void;
}

// #region pull
export function jobQueue(jobs: Jobs): SagaQueue {
  return {
    send: (message, at) => jobs.add(message.sagaId, message, new Date(at)),
    remove: (sagaId) => jobs.remove(sagaId),
    // Called once, when the host is created.
    start: ({ deliver }) => jobs.work(deliver),
  };
}
// #endregion pull

/** Service that calls a URL at a time, and signs its requests. */
export interface Scheduler {
  schedule(call: {
    readonly url: string;
    readonly body: string;
    readonly notBefore: number;
  }): Promise<void>;
  isSignedBy(signature: string | null, body: string): Promise<boolean>;
}

// #region push
export function scheduledQueue(scheduler: Scheduler, url: string): SagaQueue {
  return {
    send: (message, at) =>
      scheduler.schedule({ url, body: JSON.stringify(message), notBefore: at }),
    // With it, serveSagas serves POST /saga/wake.
    receive: async (request) => {
      const body = await request.text();
      const isSigned = await scheduler.isSignedBy(request.headers.get('signature'), body);
      return isSigned ? (JSON.parse(body) as QueueMessage) : undefined;
    },
  };
}
// #endregion push
