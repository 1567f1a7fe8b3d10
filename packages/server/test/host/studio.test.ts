import { createSagaHost } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { describe, expect, test } from 'vitest';
import { oldKey } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';

const base = { sagas: [asking()], name: 'deployer', keys: oldKey };
const request = new Request('https://deployer.example/ops/studio/');

describe('the option studio', () => {
  test.each([
    ['a function', () => undefined],
    ['telemetry only', { turn: () => undefined, refused: () => undefined }],
    ['null', null],
  ])('refuses %s', (_, studio) => {
    expect(() => createSagaHost({ ...base, studio: studio as never })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });

  test.each([
    ['host', createSagaHost(base)],
    ['server', serveSagas({ ...base, name: 'deployer', version: '1.0.0' })],
  ])('is required by the method of a %s', async (_, served) => {
    await expect(served.studio(request)).rejects.toMatchObject({
      name: 'TypeError',
      code: 'missing_option',
    });
  });
});
