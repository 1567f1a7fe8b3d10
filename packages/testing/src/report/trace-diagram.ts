import { isEmpty, show, showError } from '../values/show.ts';
import type { ByEvent, Trace, TraceEvent } from './trace.ts';

/** Formats a trace as a Mermaid sequence diagram of client, server, and world. */
export function mermaidOf(trace: Trace): string {
  const diagram = [
    'sequenceDiagram',
    '    participant C as Client',
    '    participant S as Server',
    '    participant W as World',
  ];
  let turn = 0;
  for (const entry of trace) {
    if (entry.turn !== turn) {
      turn = entry.turn;
      diagram.push(`    Note over C,S: turn ${turn}`);
    }
    for (const line of (lines[entry.type] as (event: TraceEvent) => readonly string[])(entry))
      diagram.push(`    ${line}`);
  }
  return `${diagram.join('\n')}\n`;
}

const lines: ByEvent<readonly string[]> = {
  started: ({ saga, input }) => [`C->>S: ${text(saga, input)}`],
  asked: ({ id, message, reason }) => [
    `S-->>C: ${text(id)}${reason === undefined ? '' : ' again'}${said(reason ?? message)}`,
  ],
  answered: ({ id, answer }) => [`C->>S: ${text(id, answer)}`],
  declined: ({ id }) => [`C-xS: declined ${text(id)}`],
  cancelled: ({ id }) => [`C-xS: dismissed ${text(id)}`],
  ran: did,
  polled: did,
  failed: ({ id, error }) => [`S->>W: ${text(id)}`, `W--xS: ${escaped(showError(error))}`],
  retried: () => [],
  waited: ({ ms }) => [`Note over S: waits ${ms} ms`],
  passed: ({ id, kind }) => (kind === 'pivot' ? [`Note over S: ${text(id)}, no way back`] : []),
  undone: ({ id }) => [`S->>W: undo ${text(id)}`, 'W-->>S: undone'],
  undoFailed: ({ id, error }) => [`S->>W: undo ${text(id)}`, `W--xS: ${escaped(showError(error))}`],
  uncompensated: ({ id }) => [`Note over W: left ${text(id)}`],
  told: ({ what, text: words }) => [`S-)C: ${what}${said(words)}`],
  crashed: ({ when, id }) => [`Note over S: crashes ${when} ${text(id)}`],
  lost: () => ['S--xC: response lost'],
  forked: ({ id }) => [`Note over C: goes back to ${text(id)}`],
  cancelledFromOutside: ({ reason = '' }) => [`C->>S: cancel${said(reason)}`],
  completed: ({ result }) => [`S-->>C: completed${said(show(result))}`],
  gaveUp: ({ error }) => [`S--xC: failed${said(showError(error))}`],
  refused: ({ reason }) => [`S--xC: refused${said(reason)}`],
};

function did({ id, result }: { readonly id: string; readonly result: unknown }): readonly string[] {
  return [`S->>W: ${text(id)}`, `W-->>S: ${result === undefined ? 'done' : text('', result)}`];
}

function text(id: string, value?: unknown): string {
  const shown = value === undefined || isEmpty(value) ? '' : escaped(show(value));
  return [escaped(id), shown].filter((part) => part !== '').join(' ') || 'done';
}

function said(words: string): string {
  return words === '' ? '' : `, ${escaped(words)}`;
}

// Escapes ends of statements, comments, entities, and markup.
function escaped(words: string): string {
  return words.replaceAll(/\s+/g, ' ').replaceAll(/[#;%<>]/g, (sign) => `#${sign.codePointAt(0)};`);
}
