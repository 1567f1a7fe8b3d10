/** Reserved words of Mermaid's grammar and renderer. */
const taken =
  ' root state class classdef style note end as scale click href default direction hide acctitle accdescr ';

/** Generates unique IDs of states: letters, digits, and underscores. */
export class MermaidIds {
  readonly #used = new Set<string>();

  /** Returns a unique ID similar to the path. */
  idFor(path: readonly string[]): string {
    let id = path.join('_').replaceAll(/\W/gu, '_');
    if (!/^[A-Za-z]/.test(id)) id = `s${id}`;
    while (this.#used.has(id.toLowerCase()) || isTaken(id)) id += '_';
    this.#used.add(id.toLowerCase());
    return id;
  }
}

function isTaken(id: string): boolean {
  // Mermaid adds these suffixes for start and end dots, and looks IDs up in plain objects.
  return taken.includes(` ${id.toLowerCase()} `) || /_(?:start|end)$/i.test(id) || id in {};
}

/** Escapes text for a diagram: characters of grammar, HTML, and Markdown become entities. */
export function mermaidText(text: string): string {
  return (
    text
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .replaceAll(/[^\p{L}\p{M}\p{N}_ .,()/'+=!?-]/gu, entity)
      // Emphasis, but not inside a word.
      .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, entity)
      // A list, to Markdown.
      .replace(/(?<=^\d+)[.)]|^[+-]/u, entity)
      // A direction turns the diagram anywhere in a line.
      .replaceAll(/(?<=direction) (?=TB|BT|RL|LR)/giu, entity)
      .replaceAll('--', entity('-').repeat(2))
  );
}

function entity(character: string): string {
  return `#${character.codePointAt(0)};`;
}
