import { EditorState } from '@codemirror/state';
import { looks } from '@mcp-saga/testing/internal';
import { readChart } from '@mcp-saga/xstate/internal';
import { type ComponentChild, h, options } from 'preact';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createMachine } from 'xstate';
import { ChartView } from '../src/chart/page/chart-view.tsx';
import { MachinePanel } from '../src/chart/page/machine-panel.tsx';
import { LiveRun } from '../src/live/live-run.tsx';
import { SeenList } from '../src/live/seen-list.tsx';
import { StartPanel } from '../src/live/start-panel.tsx';
import { CrashMatrix } from '../src/page/crash-matrix.tsx';
import { Demo } from '../src/page/demo.tsx';
import { RunView } from '../src/page/run-view.tsx';
import { SourceEditor } from '../src/page/source-editor.tsx';
import { Consent } from '../src/parts/consent.tsx';
import { Drawing } from '../src/parts/drawing.tsx';
import { findMarks, lineMarks, setMarks } from '../src/parts/line-marks.ts';
import { Refusal } from '../src/parts/controls.tsx';
import { QuestionForm } from '../src/parts/question-form.tsx';
import { renderPage } from '../src/parts/render-page.ts';
import { TinyNode, tinyDocument } from './support/tiny-document.ts';

const before = { ...options };
beforeAll(() => {
  // Not in Node 20.
  vi.stubGlobal(
    'Map',
    class extends Map {
      static override groupBy<K, T>(
        items: Iterable<T>,
        keyOf: (item: T, index: number) => K,
      ): Map<K, T[]> {
        const groups = new Map<K, T[]>();
        for (const [index, item] of Array.from(items).entries()) {
          const key = keyOf(item, index);
          groups.set(key, [...(groups.get(key) ?? []), item]);
        }
        return groups;
      }
    },
  );
  vi.stubGlobal('document', tinyDocument);
  vi.stubGlobal('location', { href: 'http://127.0.0.1:3000/studio/' });
  // At once, without frames.
  options.debounceRendering = (draw) => draw();
  options.requestAnimationFrame = (run) => run();
});
afterAll(() => {
  Object.assign(options, { vnode: undefined, ...before });
  vi.unstubAllGlobals();
});

/** Turns the text around, hides a zero, and pushes the rest out of sight. */
const evil = `Pay \u202e01\u200b\u2066 to${'\n'.repeat(40)}Eve`;
const hidden = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** Attributes for the program. `data-` ones are no text, and `value` is what a form sends. */
const forProgram = /^(?:data-.*|value|href|key|class|name)$/;

/** Draws, opens all details, and returns every text and attribute that a person can read. */
async function readsOf(page: ComponentChild): Promise<readonly string[]> {
  const root = new TinyNode('main');
  renderPage(page, root as unknown as Element);
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => void setTimeout(resolve, 0));
    for (const node of Array.from(root.all())) {
      if (node.localName !== 'details' || node.open) continue;
      node.open = true;
      node.listeners.get('toggle')?.call(node, { type: 'toggle', currentTarget: node });
    }
  }
  return Array.from(root.all()).flatMap(({ localName, data, attributes }) =>
    localName === '#text'
      ? [data]
      : attributes.flatMap(({ name, value }) => (forProgram.test(name) ? [] : [value])),
  );
}

const entry = {
  turn: 1,
  type: 'ran',
  id: evil,
  text: evil,
  value: evil,
  key: evil,
  attempt: 2,
} as const;
const entries = [
  { ...entry, reads: [entry] },
  { ...entry, type: 'failed' },
  { ...entry, type: 'asked' },
];
const question = {
  id: evil,
  type: 'elicitation',
  message: evil,
  url: `https://example.com/${evil}`,
  reason: evil,
  fields: {
    [evil]: { type: 'string', description: evil },
    choice: { type: 'string', title: evil, enum: [evil], oneOf: [{ const: evil, title: evil }] },
  },
  // A person sends what they see in a field.
  content: { [evil]: evil, data: evil },
};
const chart = readChart(
  createMachine({
    id: 'order',
    initial: evil,
    states: { [evil]: { on: { [evil]: 'other' }, after: { 10: 'other' } }, other: {} },
  }),
);
const machine = { chart, changes: [{ traced: 0, turn: 1, states: evil, active: [] }] };
const cell = {
  when: evil,
  subject: evil,
  fault: evil,
  at: 0,
  what: evil,
  fact: evil,
  expects: evil,
  rules: '',
};
const lane = {
  status: 'waiting',
  entries,
  tokens: [1, 2].map((number) => ({ number, bytes: 9, questions: [question], traced: 1, acts: 0 })),
  question,
  pause: {
    dueInMs: 1,
    outside: [
      { ...question, id: 'a', type: 'approval' },
      { ...question, id: 'b', type: 'event' },
    ],
  },
  error: evil,
  from: undefined,
  test: evil,
  machine,
};
const signal = <T>(value: T): { readonly value: T } => ({ value });
const pageStore = (shown: object): never =>
  ({
    shown: signal(shown),
    lanes: signal([lane]),
    cells: signal([cell]),
    isStale: signal(false),
    isEdited: signal(false),
    shownFile: signal(''),
    litLines: signal(undefined),
    removable: signal({ file: evil, before: '', removed: 'code', after: '' }),
    exploring: signal(true),
    baseline: signal(evil),
    session: signal({ answers: [], forks: [], input: evil }),
    misfits: signal([{ point: 0, lines: [evil] }]),
    pinned: signal(undefined),
    files: signal([
      { name: evil, text: 'code' },
      { name: `other ${evil}`, text: 'code' },
    ]),
    example: signal('order'),
    waits: signal(false),
    failure: signal(evil),
    entries: signal(entries),
    ready: new Promise(() => undefined),
    lens: () =>
      Promise.resolve({
        token: `${evil}.b.c.d.e`,
        keyId: evil,
        ttlMs: 1,
        parts: [{ part: evil, bytes: 2, stored: 1 }],
        timeline: [{ path: evil, kind: evil, outcome: evil, bytes: 1 }],
        refusal: { client: evil, operator: evil },
      }),
  }) as never;

const turn = {
  turn: 1,
  request: 'r',
  action: 'start',
  status: 'failed',
  startedAt: 1,
  events: [],
  asked: [],
  tokenBytes: 1,
  client: evil,
  args: evil,
  uncompensated: [evil],
};
const liveLane = {
  turns: [turn],
  path: [turn],
  shown: [{ turn, polls: 0 }],
  entries,
  origin: { entries },
  tokens: [],
};
const tool = {
  name: evil,
  description: evil,
  inputSchema: { properties: { [evil]: { type: 'string' } } },
};
const seen = { sagaId: evil, saga: evil, version: evil, client: evil, turn: 1, status: 'failed' };
const live = {
  saga: signal(seen),
  lanes: signal([liveLane]),
  shownLane: signal(liveLane),
  lane: signal(0),
  tools: signal([tool]),
  bearer: signal(''),
  sent: signal([]),
  state: signal({ seen: [seen, seen], rejections: [] }),
} as never;
const running = {
  key: 'm',
  name: evil,
  chart,
  active: chart.root.states.map(({ id }) => id),
  status: 'active',
  context: evil,
  result: evil,
};
const machineStore = (status: string): never =>
  ({
    machine: signal({ ...running, status }),
    view: signal({
      machines: [running, running],
      nowMs: 0,
      timers: [{ machine: 'm', type: 'xstate.after.10', name: evil, dueMs: 10 }],
      actors: [{ id: evil, name: evil }],
      history: [{ what: evil, value: evil }],
      problem: evil,
    }),
    data: signal(''),
    shown: signal(''),
  }) as never;
const nothing = (): void => undefined;

it.each<[string, () => ComponentChild]>([
  ['the run', () => h(RunView, { store: pageStore({ lane: 0 }) })],
  ['a case', () => h(RunView, { store: pageStore({ cell, run: lane }) })],
  ['the source', () => h(SourceEditor, { store: pageStore({ lane: 0 }) })],
  ['the demo', () => h(Demo, { store: pageStore({ lane: 0 }) })],
  ['the crash matrix', () => h(CrashMatrix, { store: pageStore({ lane: 0 }) })],
  ['the consent', () => h(Consent, { effects: evil, onRun: nothing })],
  ['a refusal', () => h(Refusal, { client: evil, operator: evil })],
  ['a question', () => h(QuestionForm, { question: question as never, onAnswer: nothing })],
  ['a statechart', () => h(Drawing, { chart, active: [] })],
  ['the chart of the machine', () => h(ChartView, { store: machineStore('active') })],
  ['the panel of the machine', () => h(MachinePanel, { store: machineStore('active') })],
  ['the end of the machine', () => h(MachinePanel, { store: machineStore('error') })],
  ['the run in the studio', () => h(LiveRun, { store: live })],
  ['the sagas in the studio', () => h(SeenList, { store: live })],
  ['the tools in the studio', () => h(StartPanel, { store: live })],
])('shows no character that nobody sees in %s', async (_, page) => {
  const reads = await readsOf(page());
  expect(reads.filter((text) => text.includes('Pay'))).not.toEqual([]);
  for (const text of reads) {
    expect(text.replaceAll(/[\n\t]/g, '')).not.toMatch(hidden);
    expect(text).not.toMatch(/\n\s*\n\s*\n/);
  }
});

it('shows no character that nobody sees in the code of a run', () => {
  const doc = `saga({ name: 'order' }, function* () {\n  yield* step('pay');\n})`;
  const marks = findMarks(
    doc,
    [
      { ...entry, type: 'started', id: 'order' },
      { ...entry, id: 'pay' },
    ],
    looks,
  );
  const state = EditorState.create({ doc, extensions: [lineMarks] });
  const lit = state
    .update({ effects: setMarks.of(marks) })
    .state.field(lineMarks)
    .iter();
  const { attributes = {} } = (lit.value?.spec ?? {}) as { readonly attributes?: object };
  expect(Object.values(attributes).join()).toContain('Pay');
  expect(Object.values(attributes).join()).not.toMatch(hidden);
});
