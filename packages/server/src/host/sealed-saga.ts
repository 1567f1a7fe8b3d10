import type { ProgramState } from '@mcp-saga/core';
import {
  fromBase64Url,
  toBase64Url,
  type Claims,
  type Sealed,
  type Sealer,
  type Stream,
} from '@mcp-saga/seal';

/** What a token holds beside its claims. */
export interface SagaState {
  readonly program: ProgramState;
  /** The saga's secret, of which idempotency keys and random numbers are derived. (T8) */
  readonly secret: Uint8Array;
  /** How often the saga has started over (`continueAs`). */
  readonly generation: number;
  /** What its trace hangs on, as telemetry gave it: carried on by hosts without telemetry, too. */
  readonly trace?: string;
}

/** A saga in motion, between open and seal. */
export interface SealedSaga {
  /** 16 random bytes, base64url. */
  readonly sagaId: string;
  readonly claims: Claims;
  readonly state: SagaState;
}

/** Seals a saga: what the client knows and what it does not know stand in streams of their own. (T10) */
export async function sealSaga(sealer: Sealer, saga: SealedSaga): Promise<string> {
  return await sealSagaAs('token', sealer, saga);
}

/** Seals a saga for a purpose. */
export async function sealSagaAs(
  purpose: 'token' | 'cancel' | 'task',
  sealer: Sealer,
  saga: SealedSaga,
): Promise<string> {
  const { program, secret, generation, trace } = saga.state;
  // Without a trace it is what older releases write; they read it with one as well, and leave the trace out.
  const own = JSON.stringify({ s: toBase64Url(secret), g: generation, h: program.head, t: trace });
  const streams: readonly Stream[] = [
    { bytes: own, compress: false },
    { bytes: program.structure, compress: true },
    { bytes: program.client, compress: true },
    { bytes: program.server, compress: false },
  ];
  return await sealer.seal(purpose, saga.sagaId, saga.claims, streams);
}

/** The saga in an opened token. */
export function toSealedSaga(sealed: Sealed): SealedSaga {
  const text = (index: number): string => new TextDecoder().decode(sealed.streams[index]);
  const { s, g, h, t } = JSON.parse(text(0)) as { s: string; g: number; h: string; t?: string };
  return {
    sagaId: sealed.sid,
    claims: sealed.claims,
    state: {
      secret: fromBase64Url(s) ?? new Uint8Array(),
      generation: g,
      program: { head: h, structure: text(1), client: text(2), server: text(3) },
      ...(t === undefined ? {} : { trace: t }),
    },
  };
}
