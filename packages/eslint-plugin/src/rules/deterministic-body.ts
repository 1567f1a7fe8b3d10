import type { Rule } from 'eslint';
import type { Origin } from '../saga/origin.ts';
import { lostValuesIn } from '../saga/lost-values.ts';
import { sagaFileOf } from '../saga/saga-file.ts';
import type { CallNode } from '../saga/syntax.ts';

type Kind = 'io' | 'random' | 'time' | 'timer' | 'uuid';

const globals: Readonly<Record<string, Kind>> = {
  'crypto.getRandomValues': 'random',
  'crypto.randomUUID': 'uuid',
  'Date.now': 'time',
  EventSource: 'io',
  fetch: 'io',
  'Math.random': 'random',
  'performance.now': 'time',
  'process.hrtime': 'time',
  'process.hrtime.bigint': 'time',
  queueMicrotask: 'timer',
  setImmediate: 'timer',
  setInterval: 'timer',
  setTimeout: 'timer',
  'Temporal.Now.instant': 'time',
  'Temporal.Now.plainDateISO': 'time',
  'Temporal.Now.plainDateTimeISO': 'time',
  'Temporal.Now.plainTimeISO': 'time',
  'Temporal.Now.zonedDateTimeISO': 'time',
  WebSocket: 'io',
  XMLHttpRequest: 'io',
};

const modules: readonly (readonly [module: RegExp, name: RegExp, kind: Kind])[] = [
  [/^(?:node:)?crypto$/, /(?:^|\.)randomUUID$/, 'uuid'],
  [/^(?:node:)?crypto$/, /(?:^|\.)(?:random(?!UUID)\w+|getRandomValues)$/, 'random'],
  [/^(?:node:)?perf_hooks$/, /(?:^|\.)performance\.now$/, 'time'],
  [/^(?:node:)?timers(?:\/promises)?$/, /(?:^|\.)set\w+$/, 'timer'],
  [/^(?:node:)?(?:child_process|dns|fs|http|https|http2|net|tls)(?:\/promises)?$/, /^./, 'io'],
  [/^(?:axios|got|ky|node-fetch|undici)$/, /^/, 'io'],
  [/^uuid$/, /(?:^|\.)v[1467]$/, 'uuid'],
  [/^nanoid$/, /(?:^|\.)nanoid$/, 'uuid'],
];

/**
 * Forbids time, randomness, timers and I/O in bodies outside of steps, and values that steps leave
 * in variables: a replay would take another branch.
 */
export const deterministicBody: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: {
      description:
        'Disallow what a replay of a saga would see otherwise: time, randomness, timers, I/O, and variables that a step assigns',
      url: 'https://www.npmjs.com/package/@mcp-saga/eslint-plugin#deterministic-body',
    },
    schema: [],
    messages: {
      assigned:
        "A replay does not run the step again, so `{{name}}` loses what it gets here. Return it from the step: `const {{name}} = yield* step('load', () => …)`.",
      io: '`{{call}}` runs again with each replay of the body. Move the call to a step: `yield* step(id, () => {{call}})`.',
      random:
        '`{{call}}` gives another value with each replay of the body. Write `yield* random()`.',
      time: '`{{call}}` gives another time with each replay of the body. Write `yield* now()`.',
      timer:
        '`{{call}}` starts with each replay of the body, and the saga does not wait for the timer. Write `yield* sleep(ms)`.',
      uuid: '`{{call}}` gives another value with each replay of the body. Write `yield* uuid()`.',
    },
  },
  create: (context) => ({
    'Program:exit'() {
      const file = sagaFileOf(context);
      if (file === undefined) return;
      for (const node of lostValuesIn(file))
        context.report({ node, messageId: 'assigned', data: { name: node.name } });
      for (const call of file.calls) {
        const kind = kindOf(call, file.origin(call));
        if (kind === undefined || !file.phasesOf(call).has('body')) continue;
        const callee = context.sourceCode.getText(call.callee);
        const isDate = callee === 'Date' && call.type === 'NewExpression';
        const text = isDate ? 'new Date()' : `${callee}(${call.arguments.length > 0 ? '…' : ''})`;
        context.report({ node: call, messageId: kind, data: { call: text } });
      }
    },
  }),
};

function kindOf(call: CallNode, origin: Origin | undefined): Kind | undefined {
  if (origin === undefined) return undefined;
  const { module, name } = origin;
  if (module !== undefined)
    return modules.find(([from, names]) => from.test(module) && names.test(name))?.[2];
  // With an argument, the result is the time of the argument. `Date()` ignores arguments.
  if (name === 'Date')
    return call.type === 'CallExpression' || call.arguments.length === 0 ? 'time' : undefined;
  return Object.hasOwn(globals, name) ? globals[name] : undefined;
}
