import { all, elicit, saga, SagaError, sleep, step } from '@mcp-saga/server';
import { z } from 'zod';

const Confirm = z.object({ confirm: z.boolean() });
const Name = z.object({ name: z.string() });

const greet = saga(
  { name: 'greet', version: '1', description: 'Greets', input: z.object({ name: z.string() }) },
  function* ({ name }) {
    return yield* step('greet', () => `Hello, ${name}!`);
  },
);

const slowCompute = saga(
  {
    name: 'slow_compute',
    version: '1',
    description: 'Waits, then computes',
    input: z.object({ seconds: z.number(), label: z.string() }),
    task: 'prefer',
    reuse: 'ok',
  },
  function* ({ seconds, label }) {
    yield* sleep(seconds * 1000);
    return yield* step('compute', () => `${label} took ${seconds} s`);
  },
);

const failingJob = saga(
  {
    name: 'failing_job',
    version: '1',
    description: 'Waits, then fails',
    task: 'require',
    reuse: 'ok',
  },
  function* () {
    yield* sleep(1000);
    return yield* step('fail', (): string => {
      throw new SagaError('This job always fails');
    });
  },
);

/** Breaks its own promise, which is no error of a tool but of the server. */
const protocolErrorJob = saga(
  {
    name: 'protocol_error_job',
    version: '1',
    description: 'Returns a result that does not fit its schema',
    output: z.object({ count: z.number().positive() }),
    task: 'prefer',
    reuse: 'ok',
  },
  function* () {
    yield* sleep(500);
    return { count: -1 };
  },
);

const confirmDelete = saga(
  {
    name: 'confirm_delete',
    version: '1',
    description: 'Deletes a file if the user confirms',
    input: z.object({ filename: z.string() }),
    task: 'prefer',
    reuse: 'ok',
  },
  function* ({ filename }) {
    // It waits first, so that it is a task already when it asks.
    yield* sleep(200);
    const { confirm } = yield* elicit('confirm', {
      message: `Delete ${filename}?`,
      schema: Confirm,
    });
    if (!confirm) return `${filename} was kept`;
    return yield* step('delete', () => `${filename} was deleted`);
  },
);

const multiInput = saga(
  {
    name: 'multi_input',
    version: '1',
    description: 'Waits, then asks for two things',
    task: 'prefer',
    reuse: 'ok',
  },
  function* () {
    yield* sleep(200);
    const { name, sure } = yield* all({
      name: elicit('name', { message: 'What is your name?', schema: Name }),
      sure: elicit('sure', { message: 'Are you sure?', schema: Confirm }),
    });
    return `${name.name} is ${sure.confirm ? 'sure' : 'not sure'}`;
  },
);

/** Asks in rounds of the call, and is a task from when it waits. */
const toolWithTask = saga(
  {
    name: 'test_tool_with_task',
    version: '1',
    description: 'Asks, then waits',
    task: 'require',
    reuse: 'ok',
  },
  function* () {
    const { name } = yield* elicit('user_name', { message: 'What is your name?', schema: Name });
    yield* sleep(500);
    return `Done, ${name}`;
  },
);

/** The tools of the scenarios `tasks-*`. */
export const taskSagas = [
  greet,
  slowCompute,
  failingJob,
  protocolErrorJob,
  confirmDelete,
  multiInput,
  toolWithTask,
] as const;
