import { signal } from '@preact/signals';
import { h, options } from 'preact';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Lane, LensView, TokenView } from '../src/model/view.ts';
import { TokenRow } from '../src/page/token-row.tsx';
import { renderPage } from '../src/parts/render-page.ts';
import { TinyNode, tinyDocument } from './support/tiny-document.ts';

const before = { ...options };
beforeAll(() => {
  vi.stubGlobal('document', tinyDocument);
  // At once, without frames.
  options.debounceRendering = (draw) => draw();
  options.requestAnimationFrame = (run) => run();
});
afterAll(() => {
  Object.assign(options, { vnode: undefined, ...before });
  vi.unstubAllGlobals();
});

const token: TokenView = { number: 1, bytes: 9, questions: [], traced: 1, acts: 0 };
const view = { token: '', ttlMs: 1, keyId: 'k', parts: [], timeline: [] };
const refusal = { client: 'refused', operator: 'why' };
const drawn = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));

it('sends a changed token of the newest run, when a new run drops the request of the person', async () => {
  const lanes = signal<readonly Lane[]>([]);
  const lens = vi.fn(async (_lane: number, _point: number, isChanged: boolean): Promise<LensView> =>
    // As after a newer run: a request for the old one never gets a response.
    isChanged && lens.mock.calls.length === 2
      ? await new Promise(() => undefined)
      : { ...view, refusal: isChanged ? refusal : undefined },
  );
  const session = signal({ answers: [], forks: [] });
  const store = { lanes, session, misfits: signal(undefined), lens } as never;
  const root = new TinyNode('main');
  renderPage(h(TokenRow, { store, lane: 0, number: 0, token }), root as unknown as Element);
  const all = (): readonly TinyNode[] => Array.from(root.all());
  const fold = all().find(({ localName }) => localName === 'details');
  Object.assign(fold ?? {}, { open: true });
  fold?.listeners.get('toggle')?.call(fold, { type: 'toggle', currentTarget: fold } as never);
  await drawn();
  const text = (): string =>
    all()
      .map(({ data }) => data)
      .join(' ');
  const button = all().find(
    (node) =>
      node.localName === 'button' &&
      Array.from(node.all()).some(({ data }) => data === 'Change one character'),
  );
  expect(text()).not.toContain('refused');
  button?.listeners.get('click')?.call(button, { type: 'click', currentTarget: button } as never);
  await drawn();
  expect(text()).not.toContain('refused');
  lanes.value = [];
  await drawn();
  expect(lens.mock.calls.map(([, , isChanged]) => isChanged)).toEqual([false, true, true]);
  expect(text()).toContain('refused');
});
