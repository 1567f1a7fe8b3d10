import { present } from './json.ts';
import { encode } from './codec.ts';
import { SagaError, type StepErrorData } from './errors.ts';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Converts a thrown value to plain data for the journal. Never throws, even if a getter does. */
export function toStepErrorData(thrown: unknown): StepErrorData {
  if (typeof thrown !== 'object' || thrown === null) {
    return {
      name: 'Error',
      message: typeof thrown === 'string' ? thrown : `a ${typeof thrown} was thrown`,
    };
  }
  const code = read(thrown, 'code');
  const data = read(thrown, 'data');
  return {
    name: text(read(thrown, 'name')) ?? 'Error',
    message: text(read(thrown, 'message')) ?? '',
    ...(typeof code === 'string' || (typeof code === 'number' && Number.isFinite(code))
      ? { code }
      : {}),
    ...present({ data }),
    ...(isPublic(thrown) ? { public: true } : {}),
  };
}

function read(thrown: object, key: string): unknown {
  try {
    return Reflect.get(thrown, key);
  } catch {
    return undefined;
  }
}

function isPublic(thrown: object): boolean {
  try {
    return thrown instanceof SagaError && thrown.public;
  } catch {
    return false;
  }
}

/** Encodes a thrown value for the journal. Omits `data` that cannot be encoded. */
export function encodeError(thrown: unknown): string {
  const data = toStepErrorData(thrown);
  try {
    return encode(data);
  } catch {
    const { data: _, ...rest } = data;
    return encode(rest);
  }
}
