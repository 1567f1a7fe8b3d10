/** Element of an SVG document, for a file or for a page. */
export interface SvgElement {
  readonly tag: string;
  /** Name among its siblings, which stays the same in the next drawing. */
  readonly key?: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: readonly (SvgElement | string)[];
}

export function svg(
  tag: string,
  attributes: SvgElement['attributes'],
  children: SvgElement['children'] = [],
  key?: string,
): SvgElement {
  return { tag, attributes, children, ...(key === undefined ? {} : { key }) };
}

/** Writes an element as text. */
export function toSvgText({ tag, attributes, children }: SvgElement): string {
  const written = Object.entries(attributes).map(
    ([name, value]) => ` ${name}="${escapeXml(String(value))}"`,
  );
  const inner = children.map((child) =>
    typeof child === 'string' ? escapeXml(child) : toSvgText(child),
  );
  const begin = `<${tag}${written.join('')}`;
  if (inner.length === 0) return `${begin}/>`;
  // Groups have a line for each child, for readable differences.
  const isList = tag === 'svg' || (tag === 'g' && children.length > 1);
  return isList
    ? `${begin}>\n${inner.join('\n')}\n</${tag}>`
    : `${begin}>${inner.join('')}</${tag}>`;
}

const entities: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
};

function escapeXml(text: string): string {
  // XML has no other control characters, and no half of a surrogate pair.
  const special = /[<>&"]|[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
  return text.replaceAll(special, (character) => entities[character] ?? '\u{FFFD}');
}
