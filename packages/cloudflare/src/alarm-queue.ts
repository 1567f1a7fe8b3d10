import type { SagaQueue } from '@mcp-saga/server/stores';
import {
  objectsOf,
  type DurableObjectNamespaceLike,
  type DurableObjectOptions,
} from './ask-object.ts';
import { sagaObjectName } from './durable-object-store.ts';

/**
 * Creates a queue in Durable Objects. The object of a saga stores the message of the newest turn.
 * The alarm of the object passes the message to `deliver` of {@link createSagaObject}.
 * @param namespace - binding to the class that {@link createSagaObject} made
 * @throws TypeError or RangeError if the binding or an option is invalid
 * @example
 * ```ts
 * declare const env: { readonly SAGAS: DurableObjectNamespaceLike };
 *
 * const queue = alarmQueue(env.SAGAS);
 * ```
 */
export function alarmQueue(
  namespace: DurableObjectNamespaceLike,
  options: DurableObjectOptions = {},
): SagaQueue {
  const ask = objectsOf('alarmQueue', namespace, options);
  return {
    send: (message, at) =>
      ask(sagaObjectName(message.sagaId), 'send', message, Math.ceil(at), crypto.randomUUID()),
    remove: (sagaId) => ask(sagaObjectName(sagaId), 'remove'),
    wake: (sagaId) => ask(sagaObjectName(sagaId), 'wake'),
  };
}
