import type { Json } from '@mcp-saga/core';
import { engineVersion, isRecord, isTexts } from '@mcp-saga/core/program';
import { TokenRefused } from '@mcp-saga/seal';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { QueueMessage } from '../model/queue-types.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { found, openSealed, type OpenSaga } from './resolve-program.ts';
import {
  atAnyTime,
  messageExpiry,
  readSealedRecord,
  sealSagaAs,
  toSealedSaga,
} from './sealed-saga.ts';
import { nameTenant } from './tenant-token.ts';

/** What is known of the client of a saga, for a turn without the client. */
export interface AbsentClient {
  /** Capabilities that the client declared. Undefined if unknown. */
  readonly capabilities: Json | undefined;
  readonly dialect: Pick<DialectCapabilities, 'asks' | 'asksModel' | 'unasked'>;
}

/** Opened message of a queue. */
export interface OpenWake extends OpenSaga {
  /**
   * Time at which the saga continues without its client (ms since the epoch). Undefined: only the
   * client can continue the saga.
   */
  readonly due: number | undefined;
  readonly client: AbsentClient;
}

/** Part of a message that is not in the token of the client. */
interface WakeStream extends AbsentClient {
  readonly due?: number;
}

/** Seals the message of a suspended saga. Size limits of clients do not apply. */
export async function sealWake(
  { keys }: Pick<HostParts, 'keys'>,
  saga: SealedSaga,
  due: number | undefined,
  { capabilities, dialect: { asks, asksModel, unasked } }: AbsentClient,
): Promise<QueueMessage> {
  const bytes = JSON.stringify({ due, capabilities, dialect: { asks, asksModel, unasked } });
  const token = await sealSagaAs('wake', keys.responses, saga, [{ bytes, compress: false }]);
  return { sagaId: saga.sagaId, turn: saga.claims.turn, token: nameTenant(keys, token) };
}

/**
 * Opens a message of a queue, which may be late. Throws TokenRefused, also for a message that is so
 * late that the guard may have forgotten its turn, and `version_gone` for a message of a newer
 * release.
 */
export async function openWake(host: HostParts, token: string): Promise<OpenWake> {
  const expect = {
    purpose: 'wake',
    engines: { min: 1, max: engineVersion },
    ...atAnyTime,
  } as const;
  const sealed = await openSealed(host.observer, host.keys.responses, token, expect);
  if (host.timing.clock() > messageExpiry(sealed.claims)) throw new TokenRefused('expired');
  const { due, capabilities, dialect } = readSealedRecord<WakeStream>(sealed.streams[4], {
    due: 'number?',
    capabilities: 'json?',
    dialect: (value) => isRecord(value) && (value['asks'] === undefined || isTexts(value['asks'])),
  });
  return {
    ...found(host, toSealedSaga(sealed, token.length)),
    due,
    client: { capabilities, dialect },
  };
}
