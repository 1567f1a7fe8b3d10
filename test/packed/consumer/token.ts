// #region seal
import { createKeyRing, createSealer, generateKey, type Claims } from '@mcp-saga/seal';

const sealer = createSealer({ ring: createKeyRing(generateKey()), audience: 'disk' });

/** Seals a text and opens it again, which any process that has the key can do. */
export async function sealAndOpen(claims: Claims, text: string): Promise<string> {
  const token = await sealer.seal('token', sealer.newSagaId(), claims, [
    { bytes: text, compress: false },
  ]);
  const { streams } = await sealer.open(token, { purpose: 'token', principal: claims.principal });
  return new TextDecoder().decode(streams[0]);
}
// #endregion seal
