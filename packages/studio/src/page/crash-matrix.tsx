import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Cell } from '../model/view.ts';
import { Slider, Button, scrollToRun, Shown } from '../parts/controls.tsx';
import type { Store } from './store.ts';

type Row = readonly [subject: string, cells: Cell[]];

/** Number of rows of a long matrix that are drawn at first, and with each request for more. */
const rowsOfPage = 60;

export function CrashMatrix({ store }: { readonly store: Store }): JSX.Element {
  const cells = store.cells.value;
  const failing = cells.filter(isBad).length;
  const limit = useSignal(rowsOfPage);
  const { shown, baseline } = store;
  const { value: isBusy } = store.exploring;
  const look = failing > 0 || baseline.value !== undefined ? 'bad' : isBusy ? '' : 'ok';
  const open = 'cell' in shown.value ? shown.value.cell : undefined;
  const inTime = cells.toSorted((one, other) => one.at - other.at);
  const rows = rowsOf(cells);
  const drawn = rows.slice(0, limit.value);
  const rest = rows.length - drawn.length;
  // The slider also opens cells of rows that are not drawn.
  const focused = drawn.flatMap(([, row]) => row).find((cell) => cell === open) ?? drawn[0]?.[1][0];

  return (
    <section class="matrix" aria-label="Crash matrix" aria-busy={isBusy}>
      <h2>
        Crash matrix
        <span role="status" class={`badge ${look}`}>
          {isBusy
            ? `exploring… ${cells.length} cases, ${failing} fail`
            : failing > 0
              ? `${failing} of ${cells.length} fail`
              : cells.length > 0
                ? `${cells.length} hold`
                : baseline.value && 'fails without a fault'}
        </span>
        {(isBusy || cells.length > 0) && (
          <Button
            class="quiet"
            onClick={() => void (isBusy ? store.stopExploring() : store.explore())}
          >
            {isBusy ? 'Stop' : 'Explore again'}
          </Button>
        )}
        {isBusy && <small>{cells.at(-1)?.when}</small>}
      </h2>
      {baseline.value !== undefined && <p class="failure">{baseline.value}</p>}
      {cells.length > 0 && (
        <Slider
          label="Faults in time"
          count={cells.length + 1}
          at={open === undefined ? 0 : inTime.indexOf(open) + 1}
          text={
            open === undefined ? 'No fault' : `${open.when}: ${isBad(open) ? 'broken' : 'holds'}`
          }
          onMove={(to) => void store.openCell(inTime[to - 1])}
        />
      )}
      <table onKeyDown={move}>
        <caption class="hidden">
          Each cell is one fault at one place. Move with the arrow keys.
        </caption>
        <tbody>
          {drawn.map(([subject, row]) => (
            <tr key={subject}>
              <th scope="row">
                {subject.startsWith('~') && 'undo '}
                <Shown text={subject.replace(/^~/, '')} />
              </th>
              <td>
                {row.map((cell, index) => (
                  <Button
                    key={index}
                    class={isBad(cell) ? 'cell bad' : 'cell ok'}
                    aria-pressed={cell === open}
                    tabIndex={cell === focused ? 0 : -1}
                    aria-label={`${cell.fault}: ${isBad(cell) ? 'broken' : 'holds'}`}
                    title={cell.when}
                    onClick={() => void store.openCell(cell).then(scrollToRun)}
                  >
                    {cell.fault}
                  </Button>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > rowsOfPage && (
        <Button
          class="more"
          onClick={() => (limit.value = rest > 0 ? limit.value + rowsOfPage : rowsOfPage)}
        >
          {rest > 0 ? `Show more of ${rest} other rows` : 'Show fewer rows'}
        </Button>
      )}
    </section>
  );
}

/** Sorts cells into rows. Rows with failing cells come first in a long matrix. */
function rowsOf(cells: readonly Cell[]): readonly Row[] {
  const rows = Map.groupBy(cells, ({ subject }) => subject);
  if (rows.size <= rowsOfPage) return [...rows];
  return [...rows].toSorted(
    ([, one], [, other]) => Number(other.some(isBad)) - Number(one.some(isBad)),
  );
}

const isBad = ({ what }: Cell): boolean => what !== undefined;

/** Moves among the cells by arrow keys. The matrix is one stop of the Tab key. */
function move(event: KeyboardEvent): void {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: 1,
    ArrowDown: 1,
    ArrowLeft: -1,
    ArrowUp: -1,
  };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll('button')];
  const here = buttons.findIndex((button) => button === document.activeElement);
  buttons.at((here + step) % buttons.length)?.focus();
}
