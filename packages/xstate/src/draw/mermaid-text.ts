/** Words that Mermaid's grammar or its renderer take for something else than a state. */
const taken = /* @__PURE__ */ new Set([
  'root',
  'state',
  'class',
  'classdef',
  'style',
  'note',
  'end',
  'as',
  'scale',
  'click',
  'href',
  'default',
  'direction',
  'hide',
  'acctitle',
  'accdescr',
]);

/** Makes ids of states that nothing else in a diagram has: letters, digits and underscores. */
export class MermaidIds {
  readonly #used = new Set<string>();

  /** An id that reads like the path. */
  idFor(path: readonly string[]): string {
    let id = path.join('_').replaceAll(/\W/gu, '_');
    if (!/^[A-Za-z]/.test(id)) id = `s${id}`;
    while (this.#used.has(id.toLowerCase()) || isTaken(id)) id += '_';
    this.#used.add(id.toLowerCase());
    return id;
  }
}

function isTaken(id: string): boolean {
  // Mermaid calls the dots of a state by its id, and these; and it looks ids up in plain objects.
  return taken.has(id.toLowerCase()) || /_(?:start|end)$/i.test(id) || id in {};
}

/** A text as it stands in a diagram: whatever could be grammar, HTML or Markdown is an entity. */
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
      // Anywhere in a line, it turns the diagram.
      .replaceAll(/(?<=direction) (?=TB|BT|RL|LR)/giu, entity)
      .replaceAll('--', entity('-').repeat(2))
  );
}

function entity(character: string): string {
  return `#${character.codePointAt(0)};`;
}
