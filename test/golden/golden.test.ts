import { readdirSync, readFileSync } from 'node:fs';
import { engineVersion } from '@mcp-saga/server/internal';
import { describe, expect, it } from 'vitest';
import { allStories, finish, goldenHost, type GoldenFile } from './host.ts';
import { effects } from './sagas.ts';
import { expectLogs } from '../support/logs.ts';

expectLogs(/'order' failed in turn 2/, /'keyed' failed in turn 2/, /'triage' failed in turn 3/);

const here = new URL('.', import.meta.url);
const files = readdirSync(here)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({
    name,
    ...(JSON.parse(readFileSync(new URL(name, here), 'utf8')) as GoldenFile),
  }));

describe('golden tokens', () => {
  it('[R4] exist for this version of the engine', () => {
    expect(files.map(({ engine }) => engine)).toContain(engineVersion);
  });

  describe.each(files)('in $name, of engine $engine,', ({ key, sealedAt, trace, tokens }) => {
    it.each(Object.entries(tokens))(
      '[R4] "%s" opens and ends with the recorded result',
      async (name, { token, result }) => {
        const story = allStories[name];
        if (story === undefined)
          throw new Error(`There is no story '${name}' any more: golden sagas stay.`);
        const host = goldenHost(key, () => sealedAt + story.pause);
        effects.length = 0;
        expect(await finish(host, story, token)).toEqual(result);
        const once = [...effects];
        effects.length = 0;
        expect(await finish(host, story, token)).toEqual(result);
        // The idempotency keys must never change.
        expect(effects).toEqual(once);
        expect(await host.inspect(token)).toMatchObject({
          claims: { saga: { name: story.saga.name } },
          trace,
        });
      },
    );
  });
});
