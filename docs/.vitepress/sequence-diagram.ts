/**
 * Draws the sequence diagrams of the pages when the site is built, so that no browser loads a
 * library for them. The pages contain them in the notation of Mermaid, which GitHub draws too.
 *
 * `parseSequence` reads the part of the notation that the pages use, and rejects any other line: a
 * part that is not drawn would be lost silently. `drawSequence` lays the rows out from top to bottom
 * and returns an SVG without colors, which the style sheet of the site adds for light and dark. Text
 * has its natural size: a figure that is wider than a phone scrolls.
 */

/** A participant of a diagram, in the order of its columns. */
interface Participant {
  readonly id: string;
  readonly name: string;
}

interface Message {
  readonly kind: 'message';
  readonly from: string;
  readonly to: string;
  readonly isResponse: boolean;
  readonly text: string;
}

interface Note {
  readonly kind: 'note';
  readonly over: string;
  readonly text: string;
}

/** A sequence diagram: its columns, and its rows from top to bottom. */
export interface Sequence {
  readonly participants: readonly Participant[];
  readonly rows: readonly (Message | Note)[];
}

/** Reads a sequence diagram in the notation of Mermaid. */
export function parseSequence(source: string): Sequence {
  const [head, ...lines] = source
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (head !== 'sequenceDiagram')
    throw new Error(`The site draws only sequence diagrams, and no '${head}'.`);
  const participants: Participant[] = [];
  const rows: (Message | Note)[] = [];
  const participate = (id: string, name = id): string => {
    if (!participants.some((one) => one.id === id)) participants.push({ id, name });
    return id;
  };
  for (const line of lines) {
    const declared = /^participant (?<id>\w+)(?: as (?<name>.+))?$/.exec(line)?.groups;
    const message = /^(?<from>\w+)(?<arrow>--?>>)(?<to>\w+): (?<text>.+)$/.exec(line)?.groups;
    const note = /^Note over (?<over>\w+): (?<text>.+)$/.exec(line)?.groups;
    if (declared !== undefined) participate(declared['id'] ?? '', declared['name']);
    else if (message !== undefined)
      rows.push({
        kind: 'message',
        from: participate(message['from'] ?? ''),
        to: participate(message['to'] ?? ''),
        isResponse: message['arrow'] === '-->>',
        text: message['text'] ?? '',
      });
    else if (note !== undefined)
      rows.push({ kind: 'note', over: participate(note['over'] ?? ''), text: note['text'] ?? '' });
    else throw new Error(`The site cannot draw this line of a sequence diagram: ${line}`);
  }
  return { participants, rows };
}

/** Width of a character of 14 px, estimated: the site does not know the fonts of its readers. */
const charWidth = 7.6;
const lineHeight = 20;
const charsOfLine = 26;
/** Room on both sides of a text. */
const padding = 12;
const nameHeight = 40;
const gap = 16;

/** Draws a sequence diagram as an SVG. */
export function drawSequence(sequence: Sequence): string {
  const { participants, rows } = sequence;
  const columnOf = (id: string): number => participants.findIndex((one) => one.id === id);
  const { centers, width } = columnsOf(sequence);
  const centerOf = (id: string): number => centers[columnOf(id)] ?? 0;
  const parts: string[] = [];
  let y = nameHeight + gap;
  for (const row of rows) {
    if (row.kind === 'note') {
      const lines = linesOf(row);
      const [x, height] = [centerOf(row.over), lines.length * lineHeight + padding];
      const half = widthOf(lines) / 2 + padding;
      parts.push(rect('note', x - half, y, 2 * half, height), textLines(lines, x, y + 6));
      y += height + gap;
    } else if (row.from === row.to) {
      const lines = linesOf(row);
      const x = centerOf(row.from);
      const height = Math.max(2, lines.length) * lineHeight;
      parts.push(
        `<path class="arrow" d="M${x} ${y}h24v${height - 8}h-20" />`,
        arrowHead(x, y + height - 8, -1),
        textLines(lines, x + 36, y + (height - lines.length * lineHeight) / 2 - 4, 'start'),
      );
      y += height + gap;
    } else {
      const lines = linesOf(row, Math.abs(columnOf(row.from) - columnOf(row.to)));
      const [from, to] = [centerOf(row.from), centerOf(row.to)];
      const direction = Math.sign(to - from);
      parts.push(`<g class="message">${textLines(lines, (from + to) / 2, y)}</g>`);
      y += lines.length * lineHeight + 6;
      const look = row.isResponse ? 'arrow response' : 'arrow';
      parts.push(
        `<path class="${look}" d="M${from} ${y}H${to - direction * 4}" />`,
        arrowHead(to, y, direction),
      );
      y += gap;
    }
  }
  const lifelines = centers.map((x) => `<path class="lifeline" d="M${x} ${nameHeight}V${y}" />`);
  const names = participants.map(({ name }, column) => {
    const x = centers[column] ?? 0;
    const half = nameWidth(name) / 2;
    return `${rect('name', x - half, 1, 2 * half, nameHeight - 2)}${textLines([name], x, 10)}`;
  });
  const label = escape(spoken(sequence));
  return `<svg viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-label="${label}">${[
    ...lifelines,
    ...names,
    ...parts,
  ].join('')}</svg>`;
}

/** Centers of the columns, far enough apart for the texts between them, and the width of it all. */
function columnsOf({ participants, rows }: Sequence): {
  readonly centers: readonly number[];
  readonly width: number;
} {
  const columnOf = (id: string): number => participants.findIndex((one) => one.id === id);
  const halves = participants.map(({ name }) => nameWidth(name) / 2);
  const distances = halves.slice(1).map((half, index) => (halves[index] ?? 0) + half + gap);
  let left = halves[0] ?? 0;
  let right = halves.at(-1) ?? 0;
  for (const row of rows) {
    if (row.kind === 'note') {
      const half = widthOf(linesOf(row)) / 2 + padding;
      if (columnOf(row.over) === 0) left = Math.max(left, half);
      if (columnOf(row.over) === participants.length - 1) right = Math.max(right, half);
    } else if (row.from === row.to) {
      const needed = widthOf(linesOf(row)) + 36 + padding;
      const column = columnOf(row.from);
      if (column === participants.length - 1) right = Math.max(right, needed);
      else distances[column] = Math.max(distances[column] ?? 0, needed);
    } else {
      const [first, last] = [columnOf(row.from), columnOf(row.to)].toSorted((a, b) => a - b) as [
        number,
        number,
      ];
      const needed = widthOf(linesOf(row, last - first)) + 2 * padding;
      const present = distances.slice(first, last).reduce((sum, each) => sum + each, 0);
      const missing = Math.max(0, needed - present) / (last - first);
      for (let column = first; column < last; column += 1)
        distances[column] = (distances[column] ?? 0) + missing;
    }
  }
  // A pixel for the line around the outermost names.
  let x = Math.ceil(left) + 1;
  const centers = [x, ...distances.map((distance) => (x += Math.ceil(distance)))];
  return { centers, width: x + Math.ceil(right) + 1 };
}

/** The lines of a text: those of its author, or else broken between words. */
function linesOf({ text }: Message | Note, columns = 1): readonly string[] {
  const lines: string[] = [];
  for (const part of text.split(/<br ?\/?>/)) {
    let line = '';
    for (const word of part.split(' ')) {
      if (line !== '' && line.length + word.length >= charsOfLine * columns) {
        lines.push(line);
        line = word;
      } else {
        line = line === '' ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines;
}

function widthOf(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => line.length)) * charWidth;
}

function nameWidth(name: string): number {
  return Math.max(80, widthOf([name]) + 2 * padding);
}

function textLines(lines: readonly string[], x: number, y: number, anchor = 'middle'): string {
  return lines
    .map(
      (line, index) =>
        `<text x="${x}" y="${y + index * lineHeight + 15}" text-anchor="${anchor}">${escape(line)}</text>`,
    )
    .join('');
}

function rect(look: string, x: number, y: number, width: number, height: number): string {
  return `<rect class="${look}" x="${x}" y="${y}" width="${width}" height="${height}" rx="4" />`;
}

/** The head of an arrow that points to the right (1) or to the left (-1). */
function arrowHead(x: number, y: number, direction: number): string {
  return `<path class="head" d="M${x} ${y}l${-9 * direction} -5v10z" />`;
}

/** The diagram in words, for readers who do not see it. */
function spoken({ participants, rows }: Sequence): string {
  const nameOf = (id: string): string => participants.find((one) => one.id === id)?.name ?? id;
  const sentences = rows.map((row) => {
    const text = row.text.replaceAll(/<br ?\/?>/g, ' ');
    if (row.kind === 'note' || row.from === row.to)
      return `${nameOf(row.kind === 'note' ? row.over : row.from)}: ${text}.`;
    return `${nameOf(row.from)} to ${nameOf(row.to)}: ${text}.`;
  });
  return `Sequence diagram. ${sentences.join(' ')}`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
