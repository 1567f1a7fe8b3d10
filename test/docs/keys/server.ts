import { elicit, saga } from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { z } from 'zod';
import { decryptWithAws, type Kms } from './aws-kms.ts';
import { encryptedKeys } from './envelope.ts';

const order = saga({ name: 'order', version: '1' }, function* () {
  const { size } = yield* elicit('size', {
    message: 'Size?',
    schema: z.object({ size: z.string() }),
  });
  return `One ${size}.`;
});

// #region server
/** `kms` is `new KMS({})` of `@aws-sdk/client-kms`. */
export function serve(kms: Kms, file: string = '/etc/orders/keys.json'): SagaServer {
  return serveSagas({
    name: 'orders',
    version: '1.0.0',
    sagas: [order],
    keys: encryptedKeys(file, decryptWithAws(kms, 'alias/orders')),
  });
}
// #endregion server
