import { captionOf, lookOf, type Place } from './event-looks.ts';
import { lineOf, type Trace } from './trace.ts';

const arrows: Readonly<Record<Place, string>> = {
  call: 'C->>S',
  reply: 'S-->>C',
  effect: 'S->>W',
  undo: 'S->>W',
  here: 'Note over S',
  between: 'Note over C,S',
};

/** Formats a trace as a Mermaid sequence diagram of client, server, and outside world. */
export function mermaidOf(trace: Trace): string {
  const rows = Array.from(trace).flatMap((entry, at) => {
    const { place, isBad } = lookOf(entry);
    const arrow = isBad ? arrows[place].replace('>>', 'x') : arrows[place];
    const row = `${arrow}: ${escaped(captionOf({ ...entry, text: lineOf(entry) }))}`;
    return trace[at - 1]?.turn === entry.turn ? [row] : [`Note over C,S: turn ${entry.turn}`, row];
  });
  const participants = ['C as Client', 'S as Server', 'W as Outside world'];
  return `${['sequenceDiagram', ...participants.map((each) => `participant ${each}`), ...rows].join('\n    ')}\n`;
}

// Escapes ends of statements, comments, entities, and markup.
function escaped(words: string): string {
  return words.replaceAll(/\s+/g, ' ').replaceAll(/[#;%<>]/g, (sign) => `#${sign.codePointAt(0)};`);
}
