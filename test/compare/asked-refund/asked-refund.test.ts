import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { read } from '../../docs/markdown.ts';
import { install } from '../../support/install.ts';
import { durableFunction } from './durable-function.ts';
import { langGraph } from './langgraph.ts';
import { outcomes, rowsOf } from './outcomes.ts';
import { faults, play, type Fault } from './play.ts';
import { requestState } from './request-state.ts';
import { mcpSaga } from './saga.ts';

describe.each([requestState, langGraph, durableFunction, mcpSaga])(
  'the refund tool of $name',
  (contender) => {
    it.each(Object.entries(faults) as [Fault, string][])(
      'does what its page says on %s: %s',
      async (fault) => {
        const { packages } = contender;
        const folder = packages.length === 0 ? '' : await install('compare', ...packages);
        const load = async (name: string): Promise<unknown> =>
          await import(pathToFileURL(createRequire(`${folder}/`).resolve(name)).href);
        expect(await play(contender, fault, load)).toEqual(outcomes[contender.name]?.[fault]);
      },
    );
  },
);

it.each([
  ['requestState', 'docs/guides/from-request-state.md'],
  ['LangGraph', 'docs/guides/from-langgraph.md'],
  ['AWS durable functions', 'docs/guides/from-aws-durable-functions.md'],
])('the page about %s shows what came of each fault', (name, page) => {
  const shown = read(page).replaceAll(/ {2,}/g, ' ');
  for (const row of rowsOf(name)) expect(shown).toContain(row);
});
