/**
 * The part of a document that Preact needs to draw, without layout. A test reads which texts and
 * attributes would reach a page.
 */
export class TinyNode {
  readonly nodeType: number;
  readonly localName: string;
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml';
  readonly attributes: { readonly name: string; value: string }[] = [];
  readonly childNodes: TinyNode[] = [];
  readonly style: { [name: string]: unknown } & { setProperty(): void } = {
    setProperty: () => undefined,
  };
  readonly listeners = new Map<string, (event: object) => void>();
  parentNode: TinyNode | null = null;
  data: string;
  open = false;

  constructor(name: string, data = '') {
    this.nodeType = name === '#text' ? 3 : 1;
    this.localName = name;
    this.data = data;
  }

  get firstChild(): TinyNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): TinyNode | null {
    const { childNodes = [] } = this.parentNode ?? {};
    return childNodes[childNodes.indexOf(this) + 1] ?? null;
  }

  insertBefore(node: TinyNode, before: TinyNode | null): TinyNode {
    node.remove();
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
    return node;
  }

  appendChild(node: TinyNode): TinyNode {
    return this.insertBefore(node, null);
  }

  removeChild(node: TinyNode): TinyNode {
    node.remove();
    return node;
  }

  remove(): void {
    this.parentNode?.childNodes.splice(this.parentNode.childNodes.indexOf(this), 1);
    this.parentNode = null;
  }

  setAttribute(name: string, value: unknown): void {
    this.removeAttribute(name);
    this.attributes.push({ name, value: String(value) });
  }

  removeAttribute(name: string): void {
    const at = this.attributes.findIndex((each) => each.name === name);
    if (at >= 0) this.attributes.splice(at, 1);
  }

  addEventListener(type: string, listener: (event: object) => void): void {
    this.listeners.set(type, listener);
  }

  removeEventListener(type: string): void {
    this.listeners.delete(type);
  }

  querySelector(): null {
    return null;
  }

  /** This node and all nodes inside. */
  *all(): Generator<TinyNode> {
    yield this;
    for (const child of this.childNodes) yield* child.all();
  }
}

export const tinyDocument = {
  createElement: (name: string): TinyNode => new TinyNode(name),
  createElementNS: (_: string, name: string): TinyNode => new TinyNode(name),
  createTextNode: (text: unknown): TinyNode => new TinyNode('#text', String(text)),
};
