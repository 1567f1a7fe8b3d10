/** Returns why the program cannot run on a version of Node, or undefined if it can. */
export function problemOfNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22)
    return undefined;
  return `mcp-saga needs Node 20.19 or a later 20.x, or Node 22.12 or newer. This is Node ${version}.`;
}
