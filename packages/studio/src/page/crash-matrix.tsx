import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Cell } from '../model/view.ts';
import type { Store } from './store.ts';

/** Row of the matrix: its subject, and its cells with their numbers. */
type Row = readonly [subject: string, cells: (readonly [Cell, number])[]];

/** Number of rows of a long matrix that are drawn at first, and with each request for more. */
const rowsOfPage = 60;

/** The results of the explorers, a row for each step, question, and turn. */
export function CrashMatrix({ store }: { readonly store: Store }): JSX.Element {
  const cells = store.cells.value;
  const failing = store.failing.value;
  const limit = useSignal(rowsOfPage);
  const { shown, exploring } = store;
  const at = 'cell' in shown.value ? shown.value.cell : -1;
  const rows = rowsOf(cells);
  const drawn = rows.slice(0, limit.value);
  const focused = at === -1 ? drawn[0]?.[1][0]?.[1] : at;

  return (
    <section class="matrix" aria-label="Crash matrix" aria-busy={exploring.value}>
      <h2>
        Crash matrix
        <span
          role="status"
          class={`badge ${failing > 0 || store.baseline.value !== undefined ? 'bad' : exploring.value ? '' : 'ok'}`}
        >
          {exploring.value
            ? `exploring… ${cells.length} cases, ${failing} fail`
            : failing > 0
              ? `${failing} of ${cells.length} fail`
              : `${cells.length} hold`}
        </span>
        {exploring.value && <small>{cells.at(-1)?.when}</small>}
        {exploring.value && (
          <button type="button" class="quiet" onClick={() => store.stopExploring()}>
            Stop
          </button>
        )}
      </h2>
      {store.baseline.value !== undefined && <p class="failure">{store.baseline.value}</p>}
      <table onKeyDown={move}>
        <caption class="hidden">Each cell is one fault at one place. Move with the arrow keys.</caption>
        <tbody>
          {drawn.map(([subject, row]) => (
            <tr key={subject}>
              <th scope="row">{subject.startsWith('~') ? `undo ${subject.slice(1)}` : subject}</th>
              <td>
                {row.map(([cell, index]) => (
                  <button
                    key={index}
                    type="button"
                    class={cell.what === undefined ? 'cell ok' : 'cell bad'}
                    aria-pressed={index === at}
                    tabIndex={index === focused ? 0 : -1}
                    aria-label={`${cell.fault}: ${cell.what === undefined ? 'holds' : 'broken'}`}
                    title={cell.when}
                    onClick={() => void store.openCell(index)}
                  >
                    {cell.fault}
                  </button>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > drawn.length && (
        <button type="button" class="more" onClick={() => (limit.value += rowsOfPage)}>
          Show more of {rows.length - drawn.length} other rows
        </button>
      )}
    </section>
  );
}

/** Sorts cells into rows. Rows with failing cells come first in a long matrix. */
function rowsOf(cells: readonly Cell[]): readonly Row[] {
  const rows = new Map<Row[0], Row[1]>();
  for (const [index, cell] of cells.entries()) {
    const row = rows.get(cell.subject);
    if (row === undefined) rows.set(cell.subject, [[cell, index]]);
    else row.push([cell, index]);
  }
  if (rows.size <= rowsOfPage) return [...rows];
  const isGreen = ([, row]: Row): boolean => row.every(([{ what }]) => what === undefined);
  return [...rows].toSorted((one, other) => Number(isGreen(one)) - Number(isGreen(other)));
}

/** Moves among the cells by arrow keys. The matrix is one stop of the Tab key. */
function move(event: KeyboardEvent): void {
  const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll('button')];
  const here = buttons.findIndex((button) => button === document.activeElement);
  buttons.at((here + step) % buttons.length)?.focus();
}
