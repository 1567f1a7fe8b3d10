import { control, createTestObject } from './test-objects.ts';

/** Objects whose host is the test in Node. */
export const Sagas = createTestObject(async (message, env) => {
  const body = JSON.stringify(message);
  const url = `http://node/deliver?object=${encodeURIComponent(env.object ?? '')}`;
  const response = await env.NODE.fetch(url, { method: 'POST', body });
  if (!response.ok) throw Object.assign(new Error('The host is down.'), { code: 'host_down' });
});

export default { fetch: control };
