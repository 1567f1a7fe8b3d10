interface ProcessLike {
  readonly env?: { readonly [name: string]: string | undefined };
}

/** Reads an environment variable, if the runtime has any. */
export function environmentOf(name: string): string | undefined {
  const { process } = globalThis as { readonly process?: ProcessLike };
  return process?.env?.[name];
}
