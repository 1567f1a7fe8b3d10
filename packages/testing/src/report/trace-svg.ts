import { lineForPeople } from '@mcp-saga/server/internal';
import { captionOf, lookOf, type Place, type Shown } from './event-looks.ts';
import { oneLine } from '../values/show.ts';
import type { TraceEntry } from './trace.ts';

type DrawnEntry = Shown & Pick<TraceEntry, 'turn'> & { readonly text: string };

const width = 760;
const rowHeight = 34;
const top = 56;
const lifelines = [60, width / 2, width - 60] as const;
type Lifeline = 0 | 1 | 2;

/** Ends of the arrow of an event, as lifelines: client, server, outside world. */
const arrows: Readonly<Record<Place, readonly [Lifeline, Lifeline]>> = {
  call: [0, 1],
  reply: [1, 0],
  effect: [1, 2],
  undo: [1, 2],
  here: [1, 1],
  between: [1, 1],
};

/** Draws a run as an SVG file: a row for each event, between client, server, and outside world. */
export function svgOf(title: string, entries: readonly DrawnEntry[]): string {
  const height = top + entries.length * rowHeight + 20;
  const isNew = (at: number): boolean => entries[at - 1]?.turn !== entries[at]?.turn;
  const rows = entries.map((entry, at) => drawEvent(entry, top + at * rowHeight, isNew(at)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12">
<title>${escape(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="#565e6c"/></marker></defs>
${lifelines.map((x) => `<path d="M${x} 36V${height - 12}" stroke="#dde1e8"/>`).join('')}
${['Client', 'Server', 'Outside world'].map((name, at) => `<text x="${lifelines[at]}" y="24" text-anchor="middle" font-weight="600">${name}</text>`).join('')}
${rows.join('\n')}
</svg>
`;
}

function drawEvent(entry: DrawnEntry, y: number, isNewTurn: boolean): string {
  const { place, isBad } = lookOf(entry);
  const [from, to] = arrows[place];
  const color = isBad ? '#b3202c' : entry.type === 'undone' ? '#8a4d00' : '#171a21';
  const line = y + 20;
  const x = Math.min(lifelines[from], lifelines[to]) + 8;
  const turn = isNewTurn
    ? `<text x="${lifelines[1] - 8}" y="${y}" text-anchor="end" fill="#565e6c">turn ${entry.turn}</text>`
    : '';
  const end = entry.type === 'lost' ? (lifelines[from] + lifelines[to]) / 2 : lifelines[to]; // never arrives
  const arrow =
    from === to
      ? `<circle cx="${lifelines[from]}" cy="${line - 8}" r="3" fill="${color}"/>`
      : `<path d="M${lifelines[from]} ${line}H${end}" stroke="${color}" marker-end="url(#end)"/>`;
  return `${turn}${arrow}<text x="${x}" y="${line - 5}" fill="${color}">${escape(oneLine(captionOf(entry), 57))}</text>`;
}

/**
 * Writes text from data as XML, which allows no control characters, lone surrogates, U+FFFE, or
 * U+FFFF. Characters that nobody sees are shown.
 */
function escape(text: string): string {
  return lineForPeople(text)
    .replaceAll(/[\uFFFE\uFFFF]/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
