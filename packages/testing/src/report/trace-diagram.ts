import { show, showError } from '../values/show.ts';
import type { Trace, TraceEntry } from './trace.ts';

/** A trace as a Mermaid sequence diagram: turns between the client, the server and the world its steps act on. */
export function mermaidOf(trace: Trace): string {
  const lines = [
    'sequenceDiagram',
    '    participant C as Client',
    '    participant S as Server',
    '    participant W as World',
  ];
  let turn = 0;
  for (const entry of trace) {
    if (entry.turn !== turn) {
      turn = entry.turn;
      lines.push(`    Note over C,S: turn ${turn}`);
    }
    for (const line of linesOf(entry)) lines.push(`    ${line}`);
  }
  return `${lines.join('\n')}\n`;
}

function linesOf(entry: TraceEntry): readonly string[] {
  switch (entry.type) {
    case 'started':
      return [`C->>S: ${text(entry.saga, entry.input)}`];
    case 'asked':
      return [
        `S-->>C: ${text(entry.id)}${entry.reason === undefined ? '' : ' again'}${said(entry.reason ?? entry.message)}`,
      ];
    case 'answered':
      return [`C->>S: ${text(entry.id, entry.answer)}`];
    case 'declined':
      return [`C-xS: declined ${text(entry.id)}`];
    case 'cancelled':
      return [`C-xS: dismissed ${text(entry.id)}`];
    case 'ran':
    case 'polled':
      return [
        `S->>W: ${text(entry.id)}`,
        `W-->>S: ${entry.result === undefined ? 'done' : text('', entry.result)}`,
      ];
    case 'failed':
      return [`S->>W: ${text(entry.id)}`, `W--xS: ${escaped(showError(entry.error))}`];
    case 'retried':
      return [];
    case 'waited':
      return [`Note over S: waits ${entry.ms} ms`];
    case 'passed':
      return entry.kind === 'pivot' ? [`Note over S: ${text(entry.id)}, no way back`] : [];
    case 'undone':
      return [`S->>W: undo ${text(entry.id)}`, 'W-->>S: undone'];
    case 'undoFailed':
      return [`S->>W: undo ${text(entry.id)}`, `W--xS: ${escaped(showError(entry.error))}`];
    case 'residue':
      return [`Note over W: left ${text(entry.id)}`];
    case 'told':
      return [`S-)C: ${entry.what}${said(entry.text)}`];
    case 'crashed':
      return [`Note over S: crashes ${entry.when} ${text(entry.id)}`];
    case 'lost':
      return ['S--xC: response lost'];
    case 'forked':
      return [`Note over C: goes back to ${text(entry.id)}`];
    case 'cancelledFromOutside':
      return [`C->>S: cancel${said(entry.reason ?? '')}`];
    case 'completed':
      return [`S-->>C: completed${said(show(entry.result))}`];
    case 'gaveUp':
      return [`S--xC: failed${said(showError(entry.error))}`];
    case 'refused':
      return [`S--xC: refused${said(entry.reason)}`];
  }
}

function text(id: string, value?: unknown): string {
  const shown = value === undefined || isEmpty(value) ? '' : escaped(show(value));
  return [escaped(id), shown].filter((part) => part !== '').join(' ') || 'done';
}

function said(words: string): string {
  return words === '' ? '' : `, ${escaped(words)}`;
}

// What ends a statement, begins a comment or an entity, or is markup, is written by its number.
function escaped(words: string): string {
  return words.replaceAll(/\s+/g, ' ').replaceAll(/[#;%<>]/g, (sign) => `#${sign.codePointAt(0)};`);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
