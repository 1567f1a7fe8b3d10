import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { toMermaid } from '@mcp-saga/xstate';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMachine, type AnyStateMachine } from 'xstate';
import { drawChart, makeMachine } from '../../packages/xstate/test/support/chart.ts';
import { oddNames, pictured } from '../../packages/xstate/test/support/pictured.ts';
import { Tape } from '../../packages/xstate/test/support/tape.ts';
import { WalkWorld } from '../../packages/xstate/test/support/walk-world.ts';
import { describeWith } from '../support/describe-with.ts';
import { findChromium, missingChromium } from '../support/find-chromium.ts';
import { startDrawing, type Drawing } from './browser.ts';

const root = new URL('../../', import.meta.url);
const chromium = findChromium();
/** Folder for pictures to look at: `PICTURES=/tmp vitest run test/pictures`. */
const folder = process.env['PICTURES'];

/** Each diagram in the Markdown of the repository, by file and line. */
const documented = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter(Boolean)
  .flatMap((file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    return [...text.matchAll(/^```mermaid\n([\s\S]*?)^```/gm)].map(
      ({ 1: diagram = '', index }) =>
        [`${file}:${text.slice(0, index).split('\n').length}`, diagram] as const,
    );
  });

// Many drawings, and a browser takes its time for each.

/** A text without its spaces: where it is broken into lines is the browser's. */
const dense = (text: string): string => text.replaceAll(/[\s\p{Cc}]/gu, '');

function namesOf({ root: top }: AnyStateMachine): readonly string[] {
  const below = (node: typeof top): readonly string[] =>
    Object.values(node.states).flatMap((child: typeof top) =>
      child.type === 'history' ? [] : [child.key, ...below(child)],
    );
  return below(top);
}

const anyNames = fc
  .uniqueArray(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(...oddNames),
    ),
    { minLength: 2, maxLength: 6 },
  )
  .filter((names) => !names.some((name) => name === '' || name === '__proto__'));

/** A machine of states with these names, that go to one another. */
function machineOf(names: readonly string[]): AnyStateMachine {
  const [first = ''] = names;
  const states = names.map((name, index) => {
    const next = `#${(index + 1) % names.length}n`;
    const inner = {
      initial: name,
      states: { [name]: { invoke: { src: name } }, [`${name}_start`]: {} },
    };
    const state = {
      id: `${index}n`,
      // XState means something by events that have a star.
      on: { [name.replaceAll('*', '+')]: next },
      ...(index === 0 && names.length > 3 ? inner : {}),
      ...(index > 0 && index % 3 === 0 ? { type: 'final' as const } : {}),
    };
    return [name, state] as const;
  });
  return createMachine({ id: first, initial: first, states: Object.fromEntries(states) });
}

describeWith('pictures', missingChromium(), () => {
  let drawing: Drawing;

  beforeAll(async () => {
    drawing = await startDrawing(chromium ?? '');
  });
  afterAll(() => drawing?.close());

  it.each(Object.entries(pictured))(
    'of a machine show all its states: %s',
    async (title, { machine, value }) => {
      const drawn = await drawing.draw(toMermaid(machine, value === undefined ? {} : { value }));
      expect(drawn.error).toBeUndefined();
      expect(drawn.text).not.toContain('Syntax error');
      expect(drawn.svg.slice(0, 4)).toBe('<svg');
      const text = dense(drawn.text);
      for (const name of namesOf(machine)) expect(text).toContain(dense(name));
      if (folder !== undefined) await drawing.photograph(join(folder, `${title}.png`));
      if (value !== undefined) expect(drawn.svg.includes('#ffd54f')).toBe(true);
    },
  );

  it.each(documented)('in Markdown are drawn: %s', async (_, diagram) => {
    const drawn = await drawing.draw(diagram);
    expect(drawn.error).toBeUndefined();
    expect(drawn.text).not.toContain('Syntax error');
    expect(drawn.svg.slice(0, 4)).toBe('<svg');
  });

  it('of any chart are valid Mermaid', async () => {
    const numbers = fc.array(fc.nat({ max: 59 }), { minLength: 50, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(numbers, async (drawn) => {
        const machine = makeMachine(drawChart(new Tape(drawn)), new WalkWorld());
        expect(await drawing.faultOf(toMermaid(machine))).toBeUndefined();
      }),
    );
  });

  it('show any names as they are', async () => {
    await fc.assert(
      fc.asyncProperty(anyNames, async (names) => {
        const machine = machineOf(names);
        const drawn = await drawing.draw(toMermaid(machine));
        expect(drawn.error).toBeUndefined();
        const text = dense(drawn.text);
        for (const name of namesOf(machine)) expect(text).toContain(dense(name));
      }),
      { numRuns: 40 },
    );
  });

  it('are rejected for text that is not a diagram', async () => {
    const { error, svg } = await drawing.draw('stateDiagram-v2\n  a --> : b');
    expect(error).toMatch(/Parse error/);
    expect(svg).toBe('');
  });
});
