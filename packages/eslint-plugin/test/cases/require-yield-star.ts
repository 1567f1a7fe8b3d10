import { code, invalid, saga, valid, type Cases } from '../support/cases.ts';

export const cases: Cases = {
  valid: [
    valid(`const { target } = yield* elicit('target', { message: 'Where?', schema });
           yield* step('deploy', () => deploy(target));
           return target;`),
    valid(
      `const { outcome } = { outcome: yield* elicit.outcome('target', { message: 'Where?', schema }) };`,
    ),
    // Values of which the rule does not know what they are
    valid(`yield* run(); const steps = helperOf(input); yield* steps; yield* input.steps;`),
    valid(
      `const helper = function* () { yield* step('a', f); }; yield* all(input.map(function* () { yield* helper(); }));`,
    ),
    valid(`input.forEach(function* () { yield 1; });`),
    // Branches
    valid(`yield* all({ a: step('a', f), b: helper() });
           function* helper() { yield* step('b', f); }`),
    valid(`yield* all(items.map((item) => step('charge', f, { key: item.id })));`),
    valid(`yield* each(items, (item) => step('charge', f), { key: (item) => item.id });`),
    valid(`yield* each(items, (item) => { return helper(item); }, { key: (item) => item.id });
           function* helper() { yield* step('b', f); }`),
    valid(`yield* each(items, function* (item) { yield* step('b', f); }, { limit: 2 });`),
    valid(`yield* race({ answer: elicit('ok', form), late: sleep(1000) });`),
    valid(`yield* scope('billing', step('charge', f));`),
    valid(
      `const branches = []; for (const item of items) branches.push(step('a', f)); yield* all(branches);`,
    ),
    valid(`const branches = Object.fromEntries(items.map((item) => [item.id, step('a', f, { key: item.id })]));
           yield* all(branches);`),
    valid(`const { answer } = yield* all({ ...base, answer: elicit('ok', form) });`),
    // Commands in variables
    valid(`const question = elicit('ok', form); yield* question;`),
    valid(
      `const question = input.ask ? elicit('ok', form) : undefined; if (question) yield* question;`,
    ),
    valid(`let wait = sleep(1); if (input.long) wait = sleep(1000); yield* wait;`),
    valid(`const steps = { a: step('a', f) }; yield* steps.a;`),
    valid(`yield* (input.ask ? elicit('ok', form) : sample('ok', params));`),
    valid(`yield* retrying(3, step('a', f));`),
    // Commands that are dropped on purpose
    valid(`const mail = step('mail', f), chat = step('chat', f);
           yield* input.urgent ? chat : mail; ignore(input.urgent ? mail : chat);`),
    valid(`const extra = step('extra', f); ignore(extra);`),
    valid(`if ((yield* patched('audit')) && (yield* random()) < 0.5) yield* step('audit', f);`),
    // Not commands of mcp-saga
    {
      code: `import { step } from './dance.js'; export function* dance() { step('left'); yield step('right'); }`,
    },
    {
      code: `import { saga } from '@mcp-saga/server'; import { step } from '@mcp-saga/xstate'; step('a', f);`,
    },
    { code: saga(`{ const step = () => {}; step(); } yield* step('a', f);`) },
    {
      code: `import { saga } from '@mcp-saga/server'; function* ids() { yield 1; yield* [2, 3]; } for (const id of ids()) use(id);`,
    },
    // Outside of sagas: checks of what a command refuses, and functions that return commands
    {
      code: code(`export function assertForm(schema) { elicit('form', { message: '', schema }); }`),
    },
    {
      code: code(
        `const ask = (id) => elicit(id, form); export default saga(o, function* () { yield* ask('a'); });`,
      ),
    },
    {
      code: code(
        `function* helper() { yield* step('a', f); } const steps = helper(); steps.next();`,
      ),
    },
    // A helper of branches
    {
      code: code(
        `function* branches() { yield* step('first', f); return { a: step('a', f), b: step('b', f) }; }`,
      ),
    },
    // Undo with steps of its own
    valid(
      `yield* step('charge', f, { compensate: function* ({ result }) { yield* step('refund', f); } });`,
    ),
    // TypeScript
    {
      isTyped: true,
      code: code(`import type { Steps } from '@mcp-saga/server';
        function* confirm(what: string): Steps<boolean> { return (yield* elicit('ok', form)).ok as boolean; }
        export default saga(o, function* () { return (yield* confirm('a'))! satisfies boolean; });`),
    },
    {
      code: `import * as s from '@mcp-saga/core'; export default s.saga(o, function* () { yield* s.step('a', f); });`,
    },
    {
      code: `const { saga, step } = require('@mcp-saga/server'); saga(o, function* () { yield* step('a', f); });`,
    },
  ],
  invalid: [
    // What yields no commands
    invalid(`yield* Promise.all([load(1), load(2)]);`, 'promise'),
    invalid(`const response = yield* fetch('https://a.example');`, 'promise'),
    invalid(`yield* new Promise((resolve) => resolve());`, 'promise'),
    invalid(`const load = async () => get(); return yield* load();`, 'promise'),
    invalid(`yield* load(); async function* load() { yield await get(); }`, 'promise'),
    invalid(`yield* get().then((order) => order.id);`, 'promise'),
    invalid(`yield* helper; function* helper() { yield* step('a', f); }`, 'uncalled'),
    invalid(`input.forEach(function* (id) { yield* step('a', f, { key: id }); });`, 'forEach'),
    invalid(
      `input.forEach(pay); function* pay(id) { yield* step('a', f, { key: id }); }`,
      'forEach',
    ),
    // Dropped
    invalid(`step('deploy', f);`, 'dropped', `yield* step('deploy', f);`),
    invalid(`sleep(1000);`, 'dropped', `yield* sleep(1000);`),
    invalid(`if (input.sure) pivot('sent');`, 'dropped', `if (input.sure) yield* pivot('sent');`),
    invalid(`input.sure && progress(1);`, 'dropped', `input.sure && (yield* progress(1));`),
    invalid(`const sent = step('send', f);`, 'dropped', `const sent = yield* step('send', f);`),
    invalid(`items.forEach((item) => step('charge', f, { key: item.id }));`, 'dropped'),
    invalid(`items.forEach((item) => { step('charge', f, { key: item.id }); });`, 'dropped'),
    invalid(`void step('deploy', f);`, 'dropped', `void (yield* step('deploy', f));`),
    // In place of the result
    invalid(
      `const { ok } = elicit('ok', form);`,
      'read',
      `const { ok } = yield* elicit('ok', form);`,
    ),
    invalid(
      `const answer = elicit('ok', form); if (answer.ok) return 'yes';`,
      'read',
      `const answer = yield* elicit('ok', form); if (answer.ok) return 'yes';`,
    ),
    invalid(
      `const answer = elicit('ok', form); if (answer) return 'yes';`,
      'read',
      `const answer = yield* elicit('ok', form); if (answer) return 'yes';`,
    ),
    invalid(
      `if (elicit('ok', form).ok) return 'yes';`,
      'read',
      `if ((yield* elicit('ok', form)).ok) return 'yes';`,
    ),
    invalid(
      `if (patched('audit')) return 'yes';`,
      'read',
      `if ((yield* patched('audit'))) return 'yes';`,
    ),
    invalid(
      `if (!patched('audit')) return 'yes';`,
      'read',
      `if (!(yield* patched('audit'))) return 'yes';`,
    ),
    invalid(
      `const later = now() + 1000; return String(later);`,
      'read',
      `const later = (yield* now()) + 1000; return String(later);`,
    ),
    invalid(
      `const today = new Date(now()); return today.toISOString();`,
      'read',
      `const today = new Date((yield* now())); return today.toISOString();`,
    ),
    invalid('return `order ${uuid()}`;', 'read', 'return `order ${(yield* uuid())}`;'),
    invalid(
      `yield* step('charge', f, { key: uuid() });`,
      'read',
      `yield* step('charge', f, { key: (yield* uuid()) });`,
    ),
    invalid(
      `yield* step('charge', f, { input: { at: now() } });`,
      'read',
      `yield* step('charge', f, { input: { at: (yield* now()) } });`,
    ),
    invalid(`yield* sleep(random());`, 'read', `yield* sleep((yield* random()));`),
    invalid(
      `yield* log('info', { at: now() });`,
      'read',
      `yield* log('info', { at: (yield* now()) });`,
    ),
    invalid(`console.log(info());`, 'read', `console.log((yield* info()));`),
    invalid(
      `yield* step('a', f, { compensate: step('b', f) });`,
      'read',
      `yield* step('a', f, { compensate: (yield* step('b', f)) });`,
    ),
    // Returned
    invalid(`return elicit('ok', form);`, 'returned', `return yield* elicit('ok', form);`),
    invalid(`return { id: uuid() };`, 'returned', `return { id: (yield* uuid()) };`),
    invalid(`const id = uuid(); return id;`, 'returned', `const id = yield* uuid(); return id;`),
    // Other keywords
    invalid(
      `const answer = yield elicit('ok', form);`,
      'yielded',
      `const answer = yield* elicit('ok', form);`,
    ),
    invalid(`const answer = yield question;`, 'yieldedOther'),
    invalid(`yield fetch('https://example.com');`, 'yieldedOther'),
    invalid(`const load = async () => { await step('load', f); };`, 'awaited'),
    {
      code: code(`export default saga(o, async function () { await step('load', f); });`),
      mistakes: ['awaited'],
    },
    // In steps
    invalid(`yield* step('a', async () => { progress(1); });`, 'inStep'),
    invalid(`yield* step('a', async () => { const at = now(); return at; });`, 'inStep'),
    invalid(`yield* step('a', () => step('b', f));`, 'inStep'),
    invalid(`yield* step('a', f, { compensate: () => step('refund', f) });`, 'inStep'),
    // Helpers
    {
      code: code(
        `function* helper() { yield* step('a', f); } export default saga(o, function* () { helper(); });`,
      ),
      mistakes: [
        [
          'dropped',
          code(
            `function* helper() { yield* step('a', f); } export default saga(o, function* () { yield* helper(); });`,
          ),
        ],
      ],
    },
    {
      code: code(
        `export default saga(o, function* () { const { ok } = yield confirm(); }); function* confirm() { return yield* elicit('ok', form); }`,
      ),
      mistakes: [
        [
          'yielded',
          code(
            `export default saga(o, function* () { const { ok } = yield* confirm(); }); function* confirm() { return yield* elicit('ok', form); }`,
          ),
        ],
      ],
    },
    {
      code: code(
        `export default saga(o, function* () { return confirm().ok; }); const confirm = function* () { return yield* outer(); }; function* outer() { return yield* elicit('ok', form); }`,
      ),
      mistakes: [
        [
          'read',
          code(
            `export default saga(o, function* () { return (yield* confirm()).ok; }); const confirm = function* () { return yield* outer(); }; function* outer() { return yield* elicit('ok', form); }`,
          ),
        ],
      ],
    },
    {
      isTyped: true,
      code: code(
        `import type { Steps } from '@mcp-saga/server'; declare const rest: () => unknown; function* confirm(): Steps<void> {} export default saga(o, function* () { confirm()!; });`,
      ),
      mistakes: [
        [
          'dropped',
          code(
            `import type { Steps } from '@mcp-saga/server'; declare const rest: () => unknown; function* confirm(): Steps<void> {} export default saga(o, function* () { (yield* confirm())!; });`,
          ),
        ],
      ],
    },
    // Other ways to import
    {
      code: `import * as s from '@mcp-saga/core'; export default s.saga(o, function* () { s.elicit.outcome('a', form); });`,
      mistakes: [
        [
          'dropped',
          `import * as s from '@mcp-saga/core'; export default s.saga(o, function* () { yield* s.elicit.outcome('a', form); });`,
        ],
      ],
    },
    {
      code: `const { saga, step: run } = require('@mcp-saga/server'); saga(o, function* () { run('a', f); });`,
      mistakes: [
        [
          'dropped',
          `const { saga, step: run } = require('@mcp-saga/server'); saga(o, function* () { yield* run('a', f); });`,
        ],
      ],
    },
    {
      code: `import { saga, step } from './sagas.js'; saga(o, function* () { step('a', f); });`,
      settings: { 'mcp-saga': { modules: ['./sagas.js'] } },
      mistakes: [
        [
          'dropped',
          `import { saga, step } from './sagas.js'; saga(o, function* () { yield* step('a', f); });`,
        ],
      ],
    },
    // A body that is given by name, and one that has only the mistake
    {
      code: code(`saga(o, body); function* body() { step('a', f); }`),
      mistakes: [['dropped', code(`saga(o, body); function* body() { yield* step('a', f); }`)]],
    },
    {
      code: code(`promptSaga(o, function* () { yield 'text'; });`),
      mistakes: ['yieldedOther'],
    },
  ],
};
