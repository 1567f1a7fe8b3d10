import { lineForPeople, textForPeople } from '@mcp-saga/core/shared';
import { options, render, type ComponentChild } from 'preact';

/** Attributes that a person reads or hears. Others, such as `value`, are for the program. */
const readAttributes = ['title', 'aria-label', 'aria-valuetext', 'alt', 'label', 'placeholder'];

/** An element, a component, or a text, of which `props` is the text itself. */
interface Node {
  readonly type: unknown;
  props: unknown;
}

type Attributes = { readonly [name: string]: unknown };

/** Draws a page, on which every text is text for people. */
export function renderPage(page: ComponentChild, place: Element): void {
  showHidden();
  render(page, place);
}

/**
 * Makes every text that Preact draws a text for people. Nearly all texts of the pages come from
 * data: arguments, answers, names of a client, code of a link. A call at each place would miss the
 * next one.
 */
function showHidden(): void {
  const next = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    const node = vnode as unknown as Node;
    if (typeof node.props === 'string') node.props = textForPeople(node.props);
    else if (typeof node.type === 'string')
      node.props = attributesForPeople(node.props as Attributes);
    next?.(vnode);
  };
}

function attributesForPeople(attributes: Attributes): object {
  const shown: { [name: string]: string } = {};
  for (const name of readAttributes) {
    const { [name]: value } = attributes;
    if (typeof value === 'string') shown[name] = lineForPeople(value);
  }
  return Object.keys(shown).length === 0 ? attributes : { ...attributes, ...shown };
}
