/** What `process` says about its runtime. Bun, Deno, and others name a version of Node, too. */
export interface RuntimeProcess {
  readonly versions?: { readonly [name: string]: string | undefined };
}

/**
 * Returns a warning for a version of Node that is not supported. Older versions lack the `crypto` of
 * the web, or fail with a message that does not name the cause.
 */
export function warningOfNode({ versions = {} }: RuntimeProcess): string | undefined {
  const { node, bun, deno } = versions;
  if (node === undefined || bun !== undefined || deno !== undefined) return undefined;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22)
    return undefined;
  return `The server needs Node 20.19 or a later 20.x, or Node 22.12 or newer. This is Node ${node}.`;
}
