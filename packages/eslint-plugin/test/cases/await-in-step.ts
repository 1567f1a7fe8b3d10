import { code, invalid, saga, valid, type Cases } from '../support/cases.ts';

export const cases: Cases = {
  valid: [
    valid(`yield* step('a', async () => { await fetch(url); });`),
    valid(`yield* step('a', () => fetch(url));`),
    valid(
      `yield* step('a', async () => { const response = fetch(url); return (await response).json(); });`,
    ),
    valid(
      `yield* step('a', async () => { await Promise.all(items.map(async (item) => save(item))); });`,
    ),
    valid(`yield* step('a', () => Promise.all(items.map(async (item) => save(item))));`),
    valid(
      `yield* step('a', async () => { const saves = items.map(async (item) => save(item)); await Promise.all(saves); });`,
    ),
    valid(
      `yield* step('a', async () => { return fetch(url).then((response) => response.json()); });`,
    ),
    valid(`yield* step('a', async () => { items.forEach((item) => list.push(item)); });`),
    valid(`yield* step('a', async () => { await import('./a.js'); });`),
    // A deliberate floating promise
    valid(`yield* step('a', async () => { void fetch(url); });`),
    // What may be no promise
    valid(`yield* step('a', () => { save(1); });`),
    {
      code: code(
        `function save() {} saga(o, function* () { yield* step('a', () => { save(); }); });`,
      ),
    },
    // Outside of steps
    { code: code(`export function warm() { fetch(url); }`) },
    { code: `export function warm() { fetch(url); }` },
    {
      isTyped: true,
      code: saga(
        `yield* step('a', async (): Promise<void> => { await (fetch(url) as Promise<unknown>); });`,
      ),
    },
  ],
  invalid: [
    invalid(`yield* step('a', async () => { fetch(url); });`, 'floating'),
    invalid(`yield* step('a', () => { fetch(url); });`, 'floating'),
    invalid(`yield* step('a', async () => { if (input.sure) fetch(url); });`, 'floating'),
    invalid(`yield* step('a', async () => { input.sure && fetch(url); });`, 'floating'),
    invalid(`yield* step('a', async () => { input.sure ? fetch(url) : undefined; });`, 'floating'),
    invalid(`yield* step('a', async () => { bank.charge().then(() => {}); });`, 'floating'),
    invalid(`yield* step('a', async () => { bank.charge().catch(() => {}); });`, 'floating'),
    invalid(`yield* step('a', async () => { const response = fetch(url); });`, 'floating'),
    invalid(`yield* step('a', async () => { Promise.all([one, two]); });`, 'floating'),
    invalid(`yield* step('a', async () => { new Promise((resolve) => resolve()); });`, 'floating'),
    invalid(`yield* step('a', async () => { import('./a.js'); });`, 'floating'),
    invalid(`yield* step('a', async () => { (async () => { await save(); })(); });`, 'floating'),
    invalid(
      `yield* step('a', async () => { items.map(async (item) => save(item)); });`,
      'floating',
    ),
    invalid(
      `yield* step('a', async () => { items.forEach(async (item) => { await save(item); }); });`,
      'forEach',
    ),
    invalid(`yield* step('a', () => items.map(async (item) => save(item)));`, 'list'),
    invalid(
      `yield* step('a', async () => { return items.map(async (item) => save(item)); });`,
      'list',
    ),
    // Undos, polls, fallbacks
    invalid(`yield* step('a', f, { compensate: () => { fetch(url); } });`, 'floating'),
    invalid(`yield* poll('a', () => { fetch(url); }, { every: 1, timeout: 2 });`, 'floating'),
    invalid(
      `yield* elicit('a', { message, schema, fallback: () => { fetch(url); return {}; } });`,
      'floating',
    ),
    // Functions of the file
    {
      code: code(
        `async function save() {} saga(o, function* () { yield* step('a', () => { save(); }); });`,
      ),
      mistakes: ['floating'],
    },
    {
      code: code(
        `const run = async () => { fetch(url); }; saga(o, function* () { yield* step('a', run); });`,
      ),
      mistakes: ['floating'],
    },
    {
      code: code(
        `import { writeFile } from 'node:fs/promises'; saga(o, function* () { yield* step('a', () => { writeFile('a', 'b'); }); });`,
      ),
      mistakes: ['floating'],
    },
    {
      isTyped: true,
      code: saga(`yield* step('a', async (): Promise<void> => { fetch(url)!; });`),
      mistakes: ['floating'],
    },
  ],
};
