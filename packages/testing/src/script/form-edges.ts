import type { Json } from '@mcp-saga/server';
import { choicesOf, simplestContent, type Content, type Field, type Form } from './form-content.ts';

/** Content at the edge of a form, and its description. */
export type Edge = Readonly<{ what: string; content: Content }>;

// Length for texts without a bound.
const longText = 5_000;

/**
 * Returns contents at the edges of a form: each field at its bounds, empty, each choice, and
 * absent. `base`: other fields.
 */
export function edgesOf(form: Form, base: Content = simplestContent(form)): readonly Edge[] {
  const edges: Edge[] = [];
  for (const [name, field] of Object.entries(form.properties)) {
    for (const [what, value] of edgeValues(field)) {
      edges.push({ what: `${name}: ${what}`, content: { ...base, [name]: value } });
    }
    if (!form.required.includes(name) && name in base) {
      const { [name]: _, ...without } = base;
      edges.push({ what: `${name}: left out`, content: without });
    }
  }
  return edges;
}

function edgeValues(field: Field): readonly (readonly [string, Json])[] {
  const choices = choicesOf(field);
  switch (field.type) {
    case 'boolean':
      return [
        ['true', true],
        ['false', false],
      ];
    case 'array':
      return [
        ['fewest', (choices ?? []).slice(0, field.minItems ?? 0)],
        ['most', (choices ?? []).slice(0, field.maxItems)],
      ];
    case 'number':
    case 'integer':
      return numbers(field);
    case 'string':
      if (choices !== undefined)
        return choices.map((choice) => [JSON.stringify(choice), choice] as const);
      return field.format === undefined ? texts(field) : [];
  }
}

function numbers({ type, minimum, maximum }: Field): readonly (readonly [string, Json])[] {
  const smallest = minimum ?? (type === 'integer' ? Number.MIN_SAFE_INTEGER : -1e308);
  const largest = maximum ?? (type === 'integer' ? Number.MAX_SAFE_INTEGER : 1e308);
  const edges: (readonly [string, Json])[] = [
    ['smallest', smallest],
    ['largest', largest],
  ];
  if (smallest < 0 && largest > 0) edges.push(['zero', 0]);
  if (type === 'number' && smallest < 0.5 && largest > 0.5) edges.push(['a fraction', 0.5]);
  return edges;
}

function texts({
  minLength = 0,
  maxLength = longText,
}: Field): readonly (readonly [string, Json])[] {
  const shortest = 'x'.repeat(minLength);
  const edges: (readonly [string, Json])[] = [
    [minLength === 0 ? 'empty' : 'shortest', shortest],
    ['longest', 'x'.repeat(maxLength)],
  ];
  // Quotes, markup, a line break, and surrogate pairs, within the bound.
  const odd = '"\'<b>\n😀 ñ';
  if (maxLength >= odd.length) edges.push(['odd characters', odd.padEnd(minLength, 'x')]);
  return edges;
}
