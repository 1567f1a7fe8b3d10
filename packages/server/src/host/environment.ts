interface ProcessLike {
  readonly env?: { readonly [name: string]: string | undefined };
}

/** An environment variable, where the runtime has such things. */
export function environmentOf(name: string): string | undefined {
  const { process } = globalThis as { readonly process?: ProcessLike };
  return process?.env?.[name];
}
