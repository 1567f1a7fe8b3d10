import type { SourceFile } from '../../packages/studio/src/model/session.ts';

/** Writes a saga with many steps. Each step has a line of its own. */
export function longSaga(steps: number, stepsOfTurn: number): readonly SourceFile[] {
  const lines = Array.from({ length: steps }, (_, at) => [
    `  yield* step('s${at + 1}', ({ idempotencyKey }) => idempotencyKey.length);`,
    ...((at + 1) % stepsOfTurn === 0 ? ['  yield* checkpoint();'] : []),
  ]).flat();
  return [
    {
      name: 'long.ts',
      text: [
        "import { checkpoint, elicit, saga, step } from '@mcp-saga/server';",
        "import { z } from 'zod';",
        '',
        "export const long = saga({ name: 'long', version: '1', reuse: 'ok' }, function* () {",
        "  yield* elicit('first', { message: 'Start?', schema: z.object({ name: z.string() }) });",
        ...lines,
        "  yield* elicit('last', { message: 'End?', schema: z.object({ name: z.string() }) });",
        "  return 'done';",
        '});',
        '',
      ].join('\n'),
    },
    {
      name: 'script.ts',
      text: [
        "import { testSaga } from '@mcp-saga/testing';",
        "import { long } from './long.ts';",
        '',
        'export const script = testSaga(long);',
        '',
      ].join('\n'),
    },
  ];
}
