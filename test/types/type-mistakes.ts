/** Code that must not compile: the wrong line ends in `// <-`. */
export interface TypeMistake {
  readonly code: string;
  /** What the compiler tells of the line, in the message or in its explanation. */
  readonly says: RegExp;
}

const body = (line: string): string => `
saga({ name: 'a', version: '1' }, function* () {
  ${line} // <-
  return 'x';
});`;

/** Declarations that the mistakes share. */
export const declarations = `
const Sure = z.object({ sure: z.boolean() });
const question = { message: 'Sure?', schema: Sure };
const refund = compensator('refund', z.object({ id: z.string() }), () => {});
const text = saga({ name: 'text', version: '1', input: z.object({ n: z.number() }) }, function* ({ n }) {
  yield* sleep(n);
  return 'x';
});
class Order { total() { return 1; } }
function* helper() { return yield* step('x', () => 1); }
`;

const form = /A form has fields of text, number, boolean/;
const data = (type: string): RegExp =>
  new RegExp(
    `A step must return plain data, Date, Map, Set, URL, Uint8Array or Error, not", ${type}`,
  );
const json = (what: string, type: string): RegExp =>
  new RegExp(`"${what} must be JSON, not", ${type}`);
const cannotAsk = /An undo cannot ask, because the client may be gone/;

/** Typical mistakes in sagas, each with one error, which names the mistake at its line. */
export const typeMistakes: Readonly<Record<string, TypeMistake>> = {
  'a result without yield*': {
    code: body("if (elicit('q', question).sure) yield* helper();"),
    says: /Property 'sure' does not exist on type 'AskingCommand<\{ sure: boolean; \}>'/,
  },
  'a result of a plain yield': {
    code: body("if ((yield elicit('q', question)).sure) yield* helper();"),
    says: /Object is of type 'unknown'/,
  },
  'a body that is an async generator': {
    code: "saga({ name: 'a', version: '1' }, async function* () { return 'x'; }); // <-",
    says: /AsyncGenerator/,
  },
  'a body that is an async function': {
    code: "saga({ name: 'a', version: '1' }, async () => 'x'); // <-",
    says: /Type 'Promise<string>' is missing .* from type 'Generator</,
  },
  'await in a body': {
    code: body("await fetch('x');"),
    says: /'await' expressions are only allowed within async functions/,
  },
  'a body that returns nothing': {
    code: "saga({ name: 'a', version: '1' }, function* () { yield* sleep(1); }); // <-",
    says: /"The body must return", string \| ToolResult/,
  },
  'a body that returns an object': {
    code: "saga({ name: 'a', version: '1' }, function* () { return { n: 1 }; }); // <-",
    says: /"The body must return", string \| ToolResult/,
  },
  'a result that the output lacks': {
    code: "saga({ name: 'a', version: '1', output: Sure }, function* () { return { sure: 'yes' }; }); // <-",
    says: /"The body must return", \{ sure: boolean; \}/,
  },
  'a saga without a version': {
    code: "saga({ name: 'a' }, function* () { return 'x'; }); // <-",
    says: /Property 'version' is missing/,
  },
  'an argument without input': {
    code: "saga({ name: 'a', version: '1' }, function* ({ cents }) { return String(cents); }); // <-",
    says: /Property 'cents' does not exist on type 'NoInput'/,
  },
  'a property of an input that is not declared': {
    code: "saga({ name: 'a', version: '1' }, function* (order) { return `${order.cents}`; }); // <-",
    says: /Property 'cents' does not exist on type 'NoInput'/,
  },
  'commitEach without a store': {
    code: `const pack = saga({ name: 'a', version: '1', commitEach: true }, function* () { return 'x'; });
createSagaHost({ sagas: [pack], name: 'shop' }); // <-`,
    says: /Property 'store' is missing/,
  },
  'an undo without a store': {
    code: `const pay = saga({ name: 'a', version: '1' }, function* () {
  yield* step('a', () => 1, { compensate: () => {} });
  return 'x';
});
createSagaHost({ sagas: [text, pay], name: 'shop' }); // <-`,
    says: /Property 'store' is missing/,
  },
  'an undo with a lease, without a store': {
    code: `const pay = saga({ name: 'a', version: '1' }, function* () {
  yield* pivot('sent');
  return 'x';
});
createSagaHost({ sagas: [pay], name: 'shop', limits: { lease: '2m' } }); // <-`,
    says: /Property 'store' is missing/,
  },
  'an undo of a server with an environment, without a store': {
    code: `const pay = saga({ name: 'a', version: '1' }, function* () {
  yield* pivot('sent');
  return 'x';
});
serveSagas({ name: 'shop', version: '1', sagas: [pay], keys: (env: { key: string }) => env.key }); // <-`,
    says: /Property 'store' is missing/,
  },
  'an undo with a store that may be missing': {
    code: `const pay = saga({ name: 'a', version: '1' }, function* () {
  yield* pivot('sent');
  return 'x';
});
const store = Math.random() < 0.5 ? memoryStore() : undefined;
createSagaHost({ sagas: [pay], name: 'shop', ...(store && { store }) }); // <-`,
    says: /Property 'store' is optional in type/,
  },
  'a word for tokens that are used again': {
    code: "saga({ name: 'a', version: '1', reuse: 'yes' }, function* () { return 'x'; }); // <-",
    says: /Type '"yes"' is not assignable to type '"ok"/,
  },

  // Steps
  'a misspelt option of a step': {
    code: body("yield* step('a', () => 1, { timeOut: 5 });"),
    says: /'timeOut' does not exist .*Did you mean to write 'timeout'/,
  },
  'a misspelt undo': {
    code: body("yield* step('a', () => 1, { compansate: () => {} });"),
    says: /'compansate' does not exist .*Did you mean to write 'compensate'/,
  },
  'a retry without attempts': {
    code: body("yield* step('a', () => 1, { retry: { delay: 1 } });"),
    says: /Property 'attempts' is missing .*required in type 'RetryPolicy'/,
  },
  'a step that returns an instance': {
    code: body("yield* step('a', () => new Order(), { retry: 3 });"),
    says: data('Order'),
  },
  'a step that returns a function': {
    code: body("yield* step('a', ({ input }) => ({ run: () => input }), { input: 1 });"),
    says: data('\\{ run: \\(\\) => number; \\}'),
  },
  'a step that is a generator': {
    code: body("yield* step('a', function* () { yield* sleep(1); });"),
    says: /A step is a function or an async function\. It must not be a generator/,
  },
  'a date in the input of a step': {
    code: body(
      "yield* step('a', ({ input }) => input.at.getTime(), { input: { at: new Date() } });",
    ),
    says: json('The input of a step', '\\{ at: Date; \\}'),
  },
  'an instance as the input of a step': {
    code: body("yield* step('a', ({ input }) => input.total(), { input: new Order() });"),
    says: json('The input of a step', '\\{ total: \\(\\) => number; \\}'),
  },
  'a value that may be undefined in the input of a step': {
    code: body(
      "yield* step('a', () => 1, { input: { note: 'x' as string | undefined, seat: 1, at: 2n } });",
    ),
    says: json('The input of a step', '\\{ note: string \\| undefined; at: bigint; \\}'),
  },
  'a field that the result of a step lacks': {
    code: body("yield* step('a', () => ({ id: 1 }), { compensate: ({ result }) => result.idd });"),
    says: /Property 'idd' does not exist on type '\{ id: number; \}'/,
  },
  'an undo of a result that is not kept': {
    code: body(
      "yield* step('a', () => ({ id: 'x' }), { keep: false, compensate: refund.for(({ result }) => ({ id: result.id })) });",
    ),
    says: /A step with keep: false has no result|Type 'undefined' is not assignable to type '\{ id: string; \}'/,
  },
  'a named compensator without arguments': {
    code: body("yield* step('a', () => 1, { compensate: refund });"),
    says: /Property 'bind' is missing in type 'Compensator</,
  },

  'an undo of a step without an effect': {
    code: body("yield* step('a', () => 1, { reads: true, compensate: () => {} });"),
    says: /A step without an effect is neither undone nor run only once/,
  },

  // Undos that ask
  'an undo that asks': {
    code: body(
      "yield* step('a', () => 1, { compensate: function* () { yield* elicit('q', question); } });",
    ),
    says: cannotAsk,
  },
  'an undo of an unknown outcome that asks': {
    code: body(
      "yield* step('a', () => 1, { unknown: 'compensate', compensate: function* () { yield* sleep(1); yield* elicit.outcome('q', question); } });",
    ),
    says: cannotAsk,
  },
  'an undo that asks in a group': {
    code: body(
      "yield* step('a', () => 1, { compensate: function* () { yield* all([sleep(1), listRoots('r')]); } });",
    ),
    says: cannotAsk,
  },
  'a named compensator that is a generator': {
    code: "compensator('undo', Sure, function* () { yield* sleep(1); }); // <-",
    says: /A compensator is a function or an async function\. It must not be a generator/,
  },

  // Groups, calls, and waits
  'a helper that is not called': {
    code: body('const { a } = yield* all({ a: helper, b: sleep(1) }); void a;'),
    says: /"Call the helper, without yield\*: helper\(…\)"/,
  },
  'a promise among branches': {
    code: body("const [a] = yield* allSettled([fetch('x'), sleep(1)]); void a;"),
    says: /"A branch is a command, or a helper that is called, not", Promise<Response>/,
  },
  'a promise for each item': {
    code: body("yield* each(['a'], async (id) => id);"),
    says: /A branch is a command, or a helper that is called, not/,
  },
  'a helper for each item that is not called': {
    code: body("yield* each(['a'], () => helper);"),
    says: /Call the helper, without yield\*: helper\(…\)/,
  },
  'items without a key': {
    code: body('yield* each([{ id: 1 }], () => helper());'),
    says: /Expected 3 arguments, but got 2/,
  },
  'a race of a list': {
    code: body('yield* race([sleep(1), helper()]);'),
    says: /Index signature for type 'string' is missing in type/,
  },
  // Editors show the same types.
  'a branch that a group lacks': {
    code: body("const both = yield* all({ a: helper(), b: elicit('q', question) }); void both.c;"),
    says: /Property 'c' does not exist on type '\{ a: number; b: \{ sure: boolean; \}; \}'/,
  },
  'a place that a group lacks': {
    code: body('const both = yield* all([helper(), uuid()]); void both.c;'),
    says: /Property 'c' does not exist on type '\[number, string\]'/,
  },
  'a field that the end of a race lacks': {
    code: body('const first = yield* race({ a: helper(), b: uuid() }); void first.value.c;'),
    says: /Property 'c' does not exist on type 'string \| number'/,
  },
  'arguments that a called saga refuses': {
    code: body("yield* call(text, { n: 'x' });"),
    says: /Type 'string' is not assignable to type 'number'/,
  },
  'the result of a called saga as a number': {
    code: body('const n: number = yield* call(text, { n: 1 }); void n;'),
    says: /Type 'string' is not assignable to type 'number'/,
  },
  'a nested field in a form': {
    code: body(
      "yield* elicit('q', { message: 'm', schema: z.object({ a: z.object({ b: z.string() }) }) });",
    ),
    says: form,
  },
  'a date in a form': {
    code: body("yield* elicit('q', { message: 'm', schema: z.object({ day: z.date() }) });"),
    says: form,
  },
  'a form that is no object': {
    code: body("yield* elicit('q', { message: 'm', schema: z.string() });"),
    says: form,
  },
  'an event that nothing authenticates': {
    code: body("yield* waitFor('e', { schema: Sure, register: () => {}, timeout: 1 });"),
    says: /Property '(?:verify|link)' is missing/,
  },
  'an event with a check and a link': {
    code: body(
      "yield* waitFor('e', { schema: Sure, register: () => {}, timeout: 1, verify: 'bank', link: 'accept' });",
    ),
    says: /"With `link`, omit `verify`"/,
  },
  'a recipient that JSON lacks': {
    code: body(
      "yield* approval('a', { message: 'm', to: [{ since: new Date() }], deliver: () => {}, timeout: 1 });",
    ),
    says: json('A recipient of an approval', '\\{ readonly since: Date; \\}'),
  },
  'a log message that JSON lacks': {
    code: body("yield* log('info', { order: new Order() });"),
    says: json('The data of log\\(\\)', '\\{ order: Order; \\}'),
  },
  'a helper that is ignored': {
    code: body('ignore(helper());'),
    says: /Property '\[brand\]' is missing in type 'Generator</,
  },
};
