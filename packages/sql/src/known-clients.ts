/** `true` if a client has a method. */
export function isMethod(client: unknown, name: string): boolean {
  return typeof (Object(client) as { readonly [name: string]: unknown })[name] === 'function';
}

/** Message for a client of the wrong kind, with its name. Default: the name of its class. */
export function unsupported(kind: string, client: unknown, name: string = classOf(client)): string {
  return `Unsupported ${kind} client: ${name}.`;
}

function classOf(client: unknown): string {
  if (client === null || typeof client !== 'object')
    return client === null ? 'null' : typeof client;
  const { constructor } = client as { readonly constructor?: { readonly name: string } };
  return constructor?.name ?? 'object';
}
