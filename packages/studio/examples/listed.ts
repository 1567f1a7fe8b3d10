/** Script of an example whose files have none. */
interface Script {
  /** Saga as code. Default: the last saga of the first file, or of its region. */
  readonly saga?: string;
  /** Options as code. */
  readonly options?: string;
  /** Answers and stand-ins for steps, as code. */
  readonly rules?: string;
  /** Steps that may run twice, or stay done. */
  readonly harmless?: readonly string[];
}

/** Example of the playground. */
export interface Listed extends Script {
  readonly name: string;
  readonly title: string;
  /**
   * Paths in the repository, by the name of the file in the editor. `PATH#NAME` is the part of a
   * file that a region or a declaration needs.
   */
  readonly files: Readonly<Record<string, string>>;
  /** Lines of the first file that the demo removes: the start of the first one, and their number. */
  readonly removes?: readonly [start: string, count: number];
}

/** Example in one file, with its fakes. */
function alone(name: string, title: string, path: string, script: Script = {}): Listed {
  const [, file = ''] = /([^/.]+)(?:\.test)?\.ts/.exec(path) ?? [];
  return { name, title, files: { [`${file}.ts`]: path }, ...script };
}

/** Example of a guide: its file of the docs, with a script. */
function guide(name: string, title: string): Listed {
  return {
    name,
    title,
    files: {
      [`${name}.ts`]: `test/docs/guides/${name}.ts#tool`,
      'script.ts': `packages/studio/examples/${name}/script.ts`,
    },
  };
}

/** Refund of the tutorial. */
function refund(name: string, title: string, path: string, script?: Script): Listed {
  const files = {
    'refund.ts': `test/docs/tutorial/${path}`,
    'bank.ts': 'test/docs/tutorial/bank.ts',
  };
  if (script !== undefined)
    return { name, title, files, options: "{ input: { order: 'A7' } }", ...script };
  return {
    name,
    title,
    files: { ...files, 'script.ts': `packages/studio/examples/${name}/script.ts` },
  };
}

/** Example of the repository, with its world replaced by fakes. */
function example(name: string, title: string, world: string): Listed {
  return {
    name,
    title,
    files: {
      'saga.ts': `examples/${name}/saga.ts`,
      [world]: `packages/studio/examples/${name}/${world}`,
      'script.ts': `packages/studio/examples/${name}/script.ts`,
    },
  };
}

/** Example of an effect: the region with its name. */
function effect(file: string, name: string, script: Script = {}): Listed {
  return alone(name, name, `test/docs/effects/${file}.ts#${name}`, script);
}

/**
 * Files that the tests of the repository run, too. The page contains the first, and loads the
 * others with the compiler.
 */
export const listed: readonly Listed[] = [
  {
    ...refund('refund', 'Refund an order', 'undo/refund.ts'),
    removes: ['compensate: ({ stepKey }) => bank.takeBack(', 2],
  },
  {
    name: 'front',
    title: 'Refund an order, in 15 lines',
    files: {
      'refund.ts': 'test/docs/front/refund.ts',
      'bank.ts': 'test/docs/front/bank.ts',
      'script.ts': 'packages/studio/examples/front/script.ts',
    },
    removes: ['compensate: (call) => bank.takeBack(', 2],
  },
  refund('manager', 'Wait for a manager', 'decide/refund.ts'),
  alone('ask', 'Ask for an amount', 'test/docs/tutorial/ask/refund.ts', {
    options: "{ input: { order: 'A7' } }",
  }),
  refund('charge', 'Pay with an idempotency key', 'charge/refund.ts', { harmless: ['pay'] }),
  refund('careless', 'Pay twice after a crash', 'charge/careless.ts', {}),
  {
    name: 'note',
    title: 'Keep a note',
    files: {
      'note.ts': 'test/packed/first/note.ts',
      'files.ts': 'packages/studio/examples/note/files.ts',
    },
    options: "{ input: { text: 'Buy milk' } }",
    harmless: ['save'],
  },
  {
    name: 'deploy',
    title: 'Deploy if the model agrees',
    files: { 'deploy.ts': 'test/readme/deploy.ts', 'api.ts': 'test/readme/api.ts' },
    options: "{ input: { service: 'web' } }",
    rules: ".on.sample('safety', 'Yes, all is green.')",
    harmless: ['release'],
  },
  {
    name: 'undo',
    title: 'Undo a charge',
    files: { 'undo.ts': 'test/readme/undo.ts', 'shop.ts': 'test/readme/shop.ts' },
    harmless: ['charge', 'ship', 'thank'],
  },
  alone('lacking', 'Serve a client that lacks elicitation', 'test/readme/lacking.ts#saga', {
    options: "{ input: { ticket: 'No invoice' } }",
  }),
  alone('quickstart', 'Quickstart', 'examples/quickstart/saga.ts', {
    options: "{ input: { initial_arg: 'value' } }",
    rules: ".on.sample('step-sampling-B', 'Yes')",
    harmless: ['deploy'],
  }),
  {
    name: 'trip',
    title: 'Book a trip',
    files: {
      'saga.ts': 'examples/book-trip/saga.ts',
      'agency.ts': 'examples/book-trip/agency.ts',
      'script.ts': 'packages/studio/examples/trip/script.ts',
    },
  },
  example('provision', 'Try a virtual machine', 'cloud.ts'),
  example('payment-webhook', 'Ship when the customer pays', 'world.ts'),
  example('refund-approval', 'Refund when two managers approve', 'world.ts'),
  {
    name: 'triage',
    title: 'Triage an incident, as a machine',
    files: {
      'saga.ts': 'examples/incident-triage/saga.ts',
      'machine.ts': 'examples/incident-triage/machine.ts',
      'ops.ts': 'packages/studio/examples/triage/ops.ts',
      'script.ts': 'packages/studio/examples/triage/script.ts',
    },
  },
  guide('approvals', 'Ask another person'),
  alone('approval-server', 'Ask a manager', 'test/docs/guides/approval-server.ts#refund', {
    options: '{ input: { amount: 20 } }',
    harmless: ['manager/deliver', 'refund'],
  }),
  alone('several', 'Ask several people', 'test/docs/guides/approvals.ts#several', {
    harmless: ['release/deliver*'],
  }),
  guide('webhooks', 'Wait for a webhook'),
  guide('confirm', 'Confirm a delete'),
  alone('once', 'Delete at most once', 'test/docs/guides/confirm.ts#once', {
    options: "{ input: { project: 'website' } }",
    harmless: ['delete'],
  }),
  guide('payments', 'Charge and ship'),
  guide('parallel', 'Ask two questions at once'),
  alone('deadline', 'Vote before a deadline', 'test/docs/guides/parallel.ts#deadline'),
  guide('paging', 'Read page by page'),
  alone('browse', 'Ask before each page', 'test/docs/guides/paging.ts#ask', {
    options: '{ input: {} }',
  }),
  alone('batch', 'Send a batch', 'test/docs/guides/loops.ts#each', {
    options: '{ input: {} }',
    harmless: ['each/*'],
  }),
  alone('loops', 'Go through a long list', 'test/docs/guides/loops.ts#tool', {
    options: '{ input: {} }',
    harmless: ['each/*'],
  }),
  alone('oauth', 'Sign in to another service', 'test/docs/guides/oauth.ts#tool', {
    options: "{ user: { subject: 'ann' } }",
    rules: "\n  .on.step('signed-in', true)\n  .on.step('import', 3)",
    harmless: ['begin', 'import'],
  }),
  alone('own-model', 'Use your own model', 'test/docs/guides/own-model.ts#tool', {
    options: "{ input: { ticket: 'No invoice' } }",
  }),
  alone('prompt', 'Ask before a prompt', 'test/docs/guides/prompts.ts#prompt', {
    options: "{ input: { language: 'Rust' } }",
  }),
  alone('resource', 'Read a resource', 'test/docs/guides/prompts.ts#resource', {
    options: "{ input: { uri: 'orders://17' } }",
  }),
  alone('tasks', 'Make a long report', 'test/docs/guides/tasks.ts#tool', {
    rules: ".on.step('rows', ({ attempt }) => (attempt < 3 ? undefined : 1_000))",
    harmless: ['start'],
  }),
  alone('migrate', 'Send an invoice', 'test/docs/guides/migrate.ts#after', {
    options: "{ input: { customer: 'acme' } }",
    rules: ".on.step('create', 'invoice 1')",
    harmless: ['create', 'send'],
  }),
  alone('existing', 'Keep a note on your server', 'test/docs/servers/tool.ts', {
    options: "{ input: { text: 'Buy milk' } }",
    harmless: ['save'],
  }),
  alone('rent', 'Rent a car for each day', 'test/docs/guides/rent.test.ts#rented'),
  alone('crashing', 'Charge before a question', 'test/docs/guides/crashing.ts#provider'),
  alone('version', 'Change the code in a new version', 'test/docs/guides/changing.ts#version', {
    harmless: ['ship'],
  }),
  alone('weigh', 'Patch a saga', 'test/docs/guides/changing.ts#patched', {
    harmless: ['weigh', 'ship'],
  }),
  alone('rename', 'Rename IDs', 'test/docs/guides/changing.ts#rename', { harmless: ['deliver'] }),
  alone('loop', 'Run a step for each item', 'test/readme/parcels.ts#loop', {
    saga: 'shipAll',
    options: "{ input: { items: [{ id: 'A7' }, { id: 'B2' }] } }",
    harmless: ['ship*'],
  }),
  alone('rollout', 'Roll out a new version', 'test/readme/rollout.ts#versions', {
    saga: 'phase2[0]',
    harmless: ['ship'],
  }),
  alone('enable', 'Enable a patch in phases', 'test/readme/rollout.ts#patched', {
    saga: 'parcel({ enabled: true })',
    harmless: ['weigh', 'ship'],
  }),
  alone('offer', 'Remind a customer of an offer', 'test/docs/operate/queues.ts#saga', {
    harmless: ['offer', 'remind', 'close'],
  }),
  alone('order', 'Order on any platform', 'examples/platforms/order/saga.ts', {
    options: "{ input: { item: 'lamps' } }",
    harmless: ['reserve', 'place'],
  }),
  alone('expense', 'Approve an expense, as a machine', 'test/docs/guides/xstate.ts#machine', {
    saga: 'expenseSaga',
    options: '{ input: { amount: 20 } }',
    harmless: ['pay'],
  }),
  alone('withdraw', 'Undo a refund, as a machine', 'test/docs/guides/xstate.ts#undo', {
    saga: 'refundSaga',
    harmless: ['refund'],
  }),
  alone('approve', 'Ask a manager, as a machine', 'test/docs/guides/approval-machine.ts#approval', {
    saga: 'refundByMachine',
    options: '{ input: { amount: 20 } }',
    harmless: ['manager/deliver', 'refund'],
  }),
  alone('paid', 'Wait for a payment, as a machine', 'test/docs/guides/approval-machine.ts#event', {
    saga: 'payByMachine',
    rules: ".on.event('payment', { type: 'payment.paid', reference: 'A7' })",
    harmless: ['payment/register'],
  }),
  alone('output', 'Return an object', 'test/docs/guides/output.ts#output'),
  effect('ask', 'elicit'),
  effect('ask', 'elicit.outcome'),
  effect('ask', 'elicitUrl', { rules: ".on.step('account', 'octocat')" }),
  effect('ask', 'sample', { options: "{ input: { text: 'A long text.' } }" }),
  effect('ask', 'sampleOrTruncate', {
    options: "{ input: { text: 'A text of more than ten words, to see how it ends.' } }",
  }),
  effect('ask', 'listRoots'),
  effect('wait', 'checkpoint'),
  effect('wait', 'sleep'),
  alone('until', 'sleep until a date', 'test/docs/effects/wait.ts#until', {
    options: "{ input: { at: '2030-01-15T12:01:00Z' }, clock: new Date('2030-01-15T12:00:00Z') }",
    harmless: ['publish'],
  }),
  effect('wait', 'poll', {
    rules: ".on.step('result', ({ attempt }) => (attempt < 3 ? undefined : 'passed'))",
    harmless: ['start'],
  }),
  effect('read', 'now'),
  effect('read', 'random'),
  effect('read', 'uuid'),
  effect('read', 'info'),
  effect('read', 'progress', { harmless: ['convert*'] }),
  effect('read', 'log', { harmless: ['copy'] }),
  effect('outside', 'approval', { harmless: ['board/deliver*'] }),
  effect('outside', 'waitFor', {
    rules: ".on.event('payment', { type: 'paid', amount: 20 })",
    harmless: ['payment/register'],
  }),
  effect('change', 'patched', { harmless: ['check', 'ship'] }),
  effect('change', 'continueAs', { options: '{ input: {} }' }),
  effect('run', 'step', { options: "{ input: { customer: 'acme' } }", harmless: ['create'] }),
  effect('run', 'all'),
  effect('run', 'allSettled'),
  effect('run', 'race'),
  effect('run', 'each', {
    options: "{ input: { orders: [{ id: 'A7' }, { id: 'B2' }] } }",
    harmless: ['each/*'],
  }),
  effect('run', 'scope'),
  effect('run', 'call', { options: "{ input: { name: 'Ada' } }", harmless: ['greet/translate'] }),
  effect('undo', 'oneUndo', { harmless: ['release', '~release', 'reserve*'] }),
  effect('undo', 'pivot', { harmless: ['reserve', '~reserve', 'ship'] }),
  effect('undo', 'abort', { harmless: ['reserve'] }),
  effect('undo', 'abortWithCause', {
    options: '{ input: { euros: 20 } }',
    harmless: ['reserve', '~reserve', 'pay'],
  }),
];

/**
 * Returns the name of the example with a region, or with a whole file, of the repository; undefined
 * if there is none.
 */
export function exampleWith(region: string): string | undefined {
  const [file] = region.split('#');
  const shown = listed.map(({ name, files }) => ({ name, path: Object.values(files)[0] }));
  const exact = shown.find(({ path }) => path === region || path === file);
  return (exact ?? shown.find(({ path }) => path?.replace(/#.*/, '') === region))?.name;
}
