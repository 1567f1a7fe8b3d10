import { expect, it } from 'vitest';
import { app } from './operate/studio.ts';

const url = 'http://shop.example/ops/studio/state';
const authorization = `Basic ${btoa('operator:secret')}`;

it('the studio of an application answers operators only, and only reads', async () => {
  expect((await app.request(url)).status).toBe(401);
  const read = await app.request(url, { headers: { authorization } });
  expect(await read.json()).toMatchObject({ seen: [], turns: [] });
  expect((await app.request(url, { method: 'POST', headers: { authorization } })).status).toBe(405);
});
