import { code, invalid, saga, valid, type Cases } from '../support/cases.ts';

export const cases: Cases = {
  valid: [
    valid(
      `const at = yield* now(); const chance = yield* random(); return new Date(at).toISOString();`,
    ),
    valid(
      `yield* step('load', async () => { const response = await fetch(url); return response.json(); });`,
    ),
    valid(`yield* step('wait', () => new Promise((resolve) => setTimeout(resolve, 10)));`),
    valid(`yield* step('charge', f, { compensate: async () => { await fetch(url); }, retry: 3 });`),
    valid(`yield* step('charge', f, { compensate: input.old ? undefined : () => fetch(url) });`),
    valid(
      `yield* poll('ready', () => fetch(url).then((r) => r.ok || undefined), { every: 1, timeout: 2 });`,
    ),
    valid(`yield* elicit('ok', { message: 'Ok?', schema, fallback: () => ({ at: Date.now() }) });`),
    // A function that only steps call
    valid(`const load = async () => fetch(url); yield* step('load', load);`),
    valid(
      `const load = async () => fetch(url); yield* step('load', async () => (await load()).json());`,
    ),
    {
      code: code(
        `async function load() { return fetch(url); } saga(o, function* () { yield* step('load', load); });`,
      ),
    },
    {
      code: code(
        `const id = () => crypto.randomUUID(); saga(o, function* () { yield* step('load', () => id()); });`,
      ),
    },
    valid(`yield* each(items, (item) => step('load', () => fetch(item)), { limit: 2 });`),
    // Values that steps use by themselves, or that the body gives to variables
    valid(`let tries = 0; yield* step('load', () => { tries += 1; return load(tries); });`),
    valid(`let id; id = yield* step('load', () => load()); return id;`),
    valid(
      `const ids = []; for (const one of input) ids.push(yield* step('load', () => load(one), { key: one })); return ids;`,
    ),
    valid(
      `return yield* step('load', async () => { const ids = []; let last; for (const one of input) { last = one; ids.push(await load(one)); } return [ids, last]; });`,
    ),
    valid(
      `const { cache } = input; yield* step('load', () => { cache.set('a', 1); }); return cache.size;`,
    ),
    {
      code: code(
        `let client; saga(o, function* () { yield* step('open', () => { client ??= open(); }); return client; });`,
      ),
    },
    // A callback that another function may give to a step
    valid(`yield* all(tasks.map((task) => run(task.id, () => fetch(task.url))));`),
    // Other things of these names
    valid(`const Date = clock; const time = Date.now();`),
    {
      code: code(`import { fetch } from './store.js'; saga(o, function* () { return fetch(1); });`),
    },
    {
      code: code(
        `import { createHash } from 'node:crypto'; saga(o, function* () { return createHash('sha256').update('a').digest('hex'); });`,
      ),
    },
    valid(`const { now } = input; return now();`),
    // Outside of bodies
    {
      code: code(
        `const started = Date.now(); export const server = () => fetch(url); function* ids() { yield Math.random(); }`,
      ),
    },
    { code: `function* ids() { yield Math.random(); }` },
    {
      isTyped: true,
      code: saga(`const at: number = yield* now(); return new Date(at as number).toISOString();`),
    },
  ],
  invalid: [
    invalid(
      `let id; yield* step('pay', async () => { id = await pay(); }); return id;`,
      'assigned',
    ),
    invalid(
      `let id = ''; yield* step('pay', async () => { ({ id } = await pay()); }); return id;`,
      'assigned',
    ),
    invalid(
      `let paid = 0; yield* poll('pay', () => { paid += 1; }, o); yield* step('tell', () => tell(paid));`,
      'assigned',
    ),
    invalid(
      `let paid = 0; yield* step('pay', () => { paid++; }); if (paid > 0) return 'paid';`,
      'assigned',
    ),
    invalid(
      `const ids = []; yield* step('pay', async () => { ids.push(await pay()); }); return ids;`,
      'assigned',
    ),
    invalid(
      `const order = {}; yield* step('pay', async () => { order.id = await pay(); }); return order;`,
      'assigned',
    ),
    invalid(
      `const byId = new Map(); const load = async () => { byId.set(1, await get()); }; yield* step('load', load); return byId.get(1);`,
      'assigned',
    ),
    {
      isTyped: true,
      code: saga(
        `let id: string | undefined; yield* step('pay', async () => { id = await pay(); }); return id!;`,
      ),
      mistakes: ['assigned'],
    },
    {
      code: code(
        `function* pay() { let id; yield* step('pay', async () => { id = await charge(); }); return id; }`,
      ),
      mistakes: ['assigned'],
    },
    invalid(`const at = Date.now();`, 'time'),
    invalid(`const at = new Date();`, 'time'),
    invalid(`const at = new Date().toISOString();`, 'time'),
    invalid(`const at = new Date(Date.now());`, 'time'),
    invalid(`const at = Date();`, 'time'),
    invalid(`const at = globalThis.performance.now();`, 'time'),
    invalid(`const at = process.hrtime.bigint();`, 'time'),
    invalid(`const lot = Math.random();`, 'random'),
    invalid(`const bytes = crypto.getRandomValues(new Uint8Array(4));`, 'random'),
    invalid(`const id = crypto.randomUUID();`, 'uuid'),
    invalid(`const id = globalThis.crypto.randomUUID();`, 'uuid'),
    invalid(`const response = fetch(url);`, 'io'),
    invalid(`setTimeout(() => {}, 1000);`, 'timer'),
    invalid(`queueMicrotask(() => {});`, 'timer'),
    invalid(`const lots = items.map(() => Math.random());`, 'random'),
    invalid(`const shuffled = items.toSorted(() => Math.random() - 0.5);`, 'random'),
    invalid(`yield* step('charge', f, { input: { at: Date.now() } });`, 'time'),
    invalid(`yield* step('charge', f, { key: crypto.randomUUID() });`, 'uuid'),
    invalid(
      `yield* all(items.map((item) => step('a', f, { key: String(Math.random()) })));`,
      'random',
    ),
    invalid(`const wait = new Promise((resolve) => setTimeout(resolve, 10));`, 'timer'),
    invalid(`const at = (() => Date.now())();`, 'time'),
    // Functions that the body calls
    invalid(`const stamp = () => Date.now(); const at = stamp();`, 'time'),
    {
      code: code(
        `const stamp = () => new Date(); saga(o, function* () { return stamp().toISOString(); });`,
      ),
      mistakes: ['time'],
    },
    {
      code: code(
        `saga(o, function* () { return outer(); }); function outer() { return inner(); } function inner() { return Math.random(); }`,
      ),
      mistakes: ['random'],
    },
    // Helpers, undos with steps, bodies by name
    {
      code: code(`function* helper() { yield* step('a', f); return Date.now(); }`),
      mistakes: ['time'],
    },
    invalid(
      `yield* step('a', f, { compensate: function* () { yield* step('b', f, { input: Date.now() }); } });`,
      'time',
    ),
    { code: code(`saga(o, body); function* body() { return Date.now(); }`), mistakes: ['time'] },
    {
      code: code(`resourceSaga(o, function* () { return String(Date.now()); });`),
      mistakes: ['time'],
    },
    {
      isTyped: true,
      code: code(
        `import type { Steps } from '@mcp-saga/server'; function* stamp(): Steps<number> { return Date.now(); }`,
      ),
      mistakes: ['time'],
    },
    // Modules
    {
      code: code(
        `import { randomUUID } from 'node:crypto'; saga(o, function* () { return randomUUID(); });`,
      ),
      mistakes: ['uuid'],
    },
    {
      code: code(
        `import crypto from 'crypto'; saga(o, function* () { return crypto.randomBytes(4); });`,
      ),
      mistakes: ['random'],
    },
    {
      code: code(
        `import { readFileSync } from 'node:fs'; saga(o, function* () { return readFileSync('a', 'utf8'); });`,
      ),
      mistakes: ['io'],
    },
    {
      code: code(
        `import * as fs from 'fs/promises'; saga(o, function* () { fs.writeFile('a', 'b'); });`,
      ),
      mistakes: ['io'],
    },
    {
      code: code(
        `import { setTimeout } from 'node:timers/promises'; saga(o, function* () { setTimeout(1); });`,
      ),
      mistakes: ['timer'],
    },
    {
      code: code(`import { v4 } from 'uuid'; saga(o, function* () { return v4(); });`),
      mistakes: ['uuid'],
    },
    {
      code: code(`import { nanoid } from 'nanoid'; saga(o, function* () { return nanoid(); });`),
      mistakes: ['uuid'],
    },
    {
      code: code(`import axios from 'axios'; saga(o, function* () { return axios.get(url); });`),
      mistakes: ['io'],
    },
    {
      code: `import { saga } from './sagas.js'; saga(o, function* () { return Date.now(); });`,
      settings: { 'mcp-saga': { modules: ['./sagas.js'] } },
      mistakes: ['time'],
    },
  ],
};
