import { randomBytes, randomUUID } from 'node:crypto';
import { isRecord } from '@mcp-saga/core/program';
import { createKeyRing, generateKey, SealError } from '@mcp-saga/seal';
import type { KeyInput, KeyRing, OctJwk } from '@mcp-saga/seal';
import { defineCommand, type Command, type Report } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { toValue } from '../input/assignments.ts';
import { keyOptions, readKeys } from '../input/read-keys.ts';

const production = { environment: 'production' };

export const newKey: Command = defineCommand({
  parameters: ['id?'],
  options: {},
  example: 'mcp-saga keys new k1',
  run: async (_values, [id = 'k1']) => {
    const key = newKeyOf(id);
    return { text: key, isAsIs: true, json: { id, key } };
  },
});

const phases = {
  1: 'Roll this out to every process. Then run phase 2.',
  2: 'Roll this out to every process. Run phase 3 when the tokens of the old key have expired.',
  3: 'Roll this out to every process. Tokens of other keys are rejected from now on.',
} as const;

export const rotateKeys: Command = defineCommand({
  parameters: [],
  options: {
    phase: {
      short: 'p',
      value: '1|2|3',
      help: '1 adds a key, 2 seals with the key, 3 drops the others',
    },
    id: { value: 'ID', help: 'ID of the added key (default: the next number)' },
    ...keyOptions,
  },
  example: 'SAGA_KEYS="$(mcp-saga keys rotate --phase 1)"',
  run: async (values, _parameters, io) => {
    const { phase } = values;
    if (phase !== '1' && phase !== '2' && phase !== '3')
      throw new CliError('usage', 'Pass --phase 1, --phase 2, or --phase 3.');
    const given = readKeys(values, io);
    if (/^\s*[[{]/.test(given))
      throw new CliError(
        'usage',
        'Only id:key,id:key is rotated. Rotate JSON Web Keys in your key store.',
      );
    const keys = given.split(',').map((key) => key.trim());
    const { kids } = createKeyRing(given, production);
    const [first = '', ...others] = keys;
    if (phase !== '1' && others.length === 0)
      throw new CliError('usage', `Phase ${phase} needs two keys. Begin with --phase 1.`);
    // A phase that runs twice, or too early, would drop the new key.
    const newest = Math.max(...kids.map(numberOf));
    const isSealing = numberOf(kids[0] ?? '') === newest;
    if (newest > 0 && phase !== '1' && isSealing === (phase === '2'))
      throw new CliError('usage', `${kids[0]} seals tokens now. Run phase ${isSealing ? 3 : 2}.`);
    const next = {
      1: [
        ...keys,
        newKeyOf(values.id ?? `k${Math.max(0, ...kids.map((kid) => numberOf(kid) || 0)) + 1}`),
      ],
      2: [others.at(-1) ?? '', first, ...others.slice(0, -1)],
      3: [first],
    }[phase];
    const text = next.join(',');
    const { kids: ids } = createKeyRing(next, production);
    io.note(
      `${ids.join(', ')}: the first key seals tokens, and each key opens them. ${phases[phase]}`,
    );
    return { text, isAsIs: true, json: { phase: Number(phase), keys: text, ids } };
  },
});

export const checkKeys: Command = defineCommand({
  parameters: [],
  options: keyOptions,
  example: 'mcp-saga keys check --env-file .env',
  run: async (values, _parameters, io) => checked(readKeys(values, io)),
});

/** Checks keys as a host in production does. Shows IDs and problems, and never a key. */
export function checked(keys: string): Report {
  const ring = ringOf(keys);
  if (typeof ring === 'string') {
    const problems = problemsOf(keys, ring);
    const text = [...problems, 'To make a key: mcp-saga keys new'].join('\n');
    return { text, json: { ok: false, problems }, ok: false };
  }
  const { kids } = ring;
  const [first, ...others] = kids;
  const opens = others.length === 0 ? '' : ` Tokens of ${others.join(', ')} still open.`;
  return {
    text: `${kids.length} good: ${first} seals new tokens.${opens}`,
    json: { ok: true, ids: kids },
  };
}

/**
 * Finds the problems of all keys, or of the `whole` text. A random key replaces a bad one, so that
 * the check continues.
 */
function problemsOf(keys: string, whole: string): readonly string[] {
  const parsed = toValue(keys);
  const given = isRecord(parsed) ? (parsed['keys'] ?? parsed) : parsed;
  // An empty key would move the others.
  const texts = keys.split(',').map((key) => key.trim() || ':');
  const list = (typeof given === 'object' ? [given].flat() : texts) as (string | KeyInput)[];
  const problems = new Set<string>();
  for (let problem = ringOf(list); typeof problem === 'string'; problem = ringOf(list)) {
    const at = Number(/^key (\d+) of /.exec(problem)?.[1]) - 1;
    const bad = list[at];
    if (bad === undefined) return [problem];
    // A later key may repeat the ID.
    const kid = typeof bad === 'string' ? bad.trim().split(':')[0] : (Object(bad) as OctJwk).kid;
    list[at] = { kid: problems.has(problem) ? randomUUID() : (kid ?? ''), key: randomBytes(32) };
    problems.add(problem);
  }
  if (problems.size === 0) return [whole];
  return [...problems].toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}

/** Returns the ring of keys, or the first problem. */
function ringOf(keys: string | (string | KeyInput)[]): KeyRing | string {
  try {
    return createKeyRing(keys, production);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return error.message.replace(/\. To make one:.*/s, '');
  }
}

/** Makes a key. Throws `usage` for a wrong ID. */
function newKeyOf(id: string): string {
  try {
    return generateKey(id);
  } catch (cause) {
    throw new CliError('usage', (cause as Error).message.replace(/\n.*/, '.'), { cause });
  }
}

const numberOf = (kid: string): number => Number(/^k(\d+)$/.exec(kid)?.[1]);
