import { expect, test } from 'vitest';
import { saga } from '@mcp-saga/server';
import { accept, hostOf, suspended } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';

/** A host that notes its gates, and the gate that is closed. */
function gated(closed?: 'authorize' | 'rateLimit') {
  const asked: string[] = [];
  const needy = saga({ name: 'needy', version: '1', needs: ['elicitation'] }, function* () {
    yield* [];
    return 'ran';
  });
  const { host } = hostOf([asking(), needy], {
    auth: {
      principal: () => {
        asked.push('principal');
        return { subject: 'ada', client: 'app' };
      },
      authorize: () => {
        asked.push('authorize');
        return closed !== 'authorize';
      },
      rateLimit: () => {
        asked.push('rateLimit');
        return closed !== 'rateLimit';
      },
    },
  });
  return { host, asked };
}

const caller = { user: { clientId: 'app' } };
const lacking = { ...caller, capabilities: {} };

test('[T6] [T11] checks authorization and limits in the same order at a start and a resume', async () => {
  const { host, asked } = gated();
  const { token } = suspended(await host.start('asking', {}, { caller }));
  expect(asked).toEqual(['principal', 'authorize', 'rateLimit']);
  asked.length = 0;
  await host.resume(token, [accept('target', { target: 'x' })], { caller });
  expect(asked).toEqual(['principal', 'authorize', 'rateLimit']);
});

test('[T11] applies the rate limit also to calls with unmet needs', async () => {
  const { host, asked } = gated('rateLimit');
  await expect(host.start('needy', {}, { caller: lacking })).rejects.toMatchObject({
    code: 'rate_limited',
  });
  expect(asked).toEqual(['principal', 'authorize', 'rateLimit']);
});

test('[T6] [T11] does not count calls of an unauthorized caller in the rate limit', async () => {
  const { host, asked } = gated('authorize');
  await expect(host.start('needy', {}, { caller: lacking })).rejects.toMatchObject({
    code: 'forbidden',
  });
  expect(asked).toEqual(['principal', 'authorize']);
});
