import type { Program } from '@mcp-saga/server';
import { validate } from '@mcp-saga/server/internal';

/**
 * A result as the schema of its saga makes it.
 *
 * @throws TypeError where it does not fit
 */
export async function checkedOutput({ output }: Program, result: unknown): Promise<unknown> {
  if (output === undefined) return result;
  const parsed = await validate(output, result);
  if (!parsed.ok) throw new TypeError(`The result is not what the saga declares: ${parsed.issues}`);
  return parsed.value;
}
