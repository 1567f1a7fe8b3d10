import type { JSX } from 'preact';
import type { SourceFile } from '../model/session.ts';
import type { Cell } from '../model/view.ts';
import { Button, CopyButton, scrollToRun } from '../parts/controls.tsx';
import { playNextRun } from './panels/time-slider.tsx';
import type { Store } from './store.ts';

/** How long lines are lit before they go, and after they come, in milliseconds. */
const litMs = 1_200;

/** What the button of the demo does next, and the text of its file afterwards. */
type NextAct = Readonly<Record<'file' | 'text', string>> &
  Readonly<{ isBreak: boolean; line: number; count: number }>;

/**
 * The demo of an example that says which of its lines to remove: the saga breaks before the eyes of
 * the person, the facts of the example say what that means, and each button is one step of the story.
 */
export function Demo({ store }: { readonly store: Store }): JSX.Element | null {
  const { value: shown } = store.shown;
  const next = nextActOf(store);
  if (store.removable.value === undefined) return null;
  const finding = findingOf(store.cells.value);
  const story = 'cell' in shown ? shown.cell : finding;
  return (
    <section class="demo" aria-label="Demo">
      {next !== undefined && (
        <Button class="primary" onClick={() => void act(store, next)}>
          {next.isBreak ? 'Break it' : 'Fix'}
        </Button>
      )}
      <Facts store={store} finding={finding} />
      {story !== undefined && (
        <div class="buttons">
          <Button onClick={() => void play(store, story)}>
            <span aria-hidden="true">▶</span> Play the run
          </Button>
          <CopyButton label="Copy as test" text={() => store.testOf(story)} />
        </div>
      )}
    </section>
  );
}

type FactsProps = { readonly store: Store; readonly finding: Cell | undefined };

function Facts({ store, finding }: FactsProps): JSX.Element {
  const { length: count } = store.cells.value;
  const fact = finding === undefined ? undefined : (finding.fact ?? `${finding.when}: broken.`);
  const holds = count > 0 && !store.exploring.value && store.baseline.value === undefined;
  return (
    <p role="status" class={fact === undefined ? '' : 'bad'}>
      {fact ?? (holds ? `All ${count} cases of crashes and failures hold.` : '')}
    </p>
  );
}

/**
 * The case to show first: one whose facts the example can tell, and a plain failure before a lost
 * response.
 */
function findingOf(cells: readonly Cell[]): Cell | undefined {
  const bad = cells.filter(({ what }) => what !== undefined);
  const told = bad.filter(({ fact }) => fact !== undefined);
  return told.find(({ fault }) => fault === 'fails') ?? told[0] ?? bad[0];
}

/** Undefined if the person has changed the lines, so that the demo no longer knows them. */
function nextActOf({ removable, files }: Store): NextAct | undefined {
  const { value: lines } = removable;
  const { text = '', name: file = '' } =
    files.value.find(({ name }) => name === lines?.file) ?? ({} as Partial<SourceFile>);
  if (lines === undefined) return undefined;
  const { before, removed, after } = lines;
  const whole = before + removed + after;
  const rest = before + after;
  const isBreak = text.includes(whole);
  if (!isBreak && !text.includes(rest)) return undefined;
  const [from, to] = isBreak ? [whole, rest] : [rest, whole];
  const start = text.indexOf(from) + before.length;
  return {
    file,
    text: text.replace(from, () => to),
    isBreak,
    line: text.slice(0, start).split('\n').length,
    count: removed.split('\n').length - 1,
  };
}

/** Removes the lines, or puts them back, and shows which lines they are. */
async function act(store: Store, { file, text, isBreak, line, count }: NextAct): Promise<void> {
  if (store.litLines.value !== undefined) return;
  const before = store.files.value;
  const files = before.map((each) => (each.name === file ? { ...each, text } : each));
  const look = isBreak ? 'leaves' : 'comes';
  store.shownFile.value = '';
  document.querySelector('.source')?.scrollIntoView({ block: 'nearest' });
  const { value: shown } = store.shown;
  const story = 'cell' in shown ? shown.cell : findingOf(store.cells.value);
  if (!isBreak) store.change(files, story?.when);
  store.litLines.value = { file, line, count, look };
  await new Promise((resolve) => void setTimeout(resolve, litMs));
  store.litLines.value = undefined;
  // An edit of the person meanwhile counts more.
  if (isBreak && store.files.value === before) store.change(files);
}

async function play(store: Store, cell: Cell): Promise<void> {
  playNextRun();
  await store.openCell(cell);
  scrollToRun();
}
