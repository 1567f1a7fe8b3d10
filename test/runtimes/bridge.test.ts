import { afterAll, beforeAll, expect, it } from 'vitest';
import { missingChromium } from '../support/find-chromium.ts';
import { describeWith } from '../support/describe-with.ts';
import { bundlePage } from './bundle.ts';
import { inChromium } from './runners.ts';
import { Subject } from './subject.ts';

describeWith('the bridge to a page', missingChromium(), () => {
  const subject = new Subject({
    ...inChromium,
    bundle: () => bundlePage('server/page-of-parts.ts'),
  });
  beforeAll(() => subject.start(''));
  afterAll(() => subject.stop());

  it('carries the bytes, the status, and the headers of a request and of its response', async () => {
    const body = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
    const headers = { 'x-sent': 'yes' };
    const echo = await fetch(subject.at('echo'), { method: 'POST', body, headers });
    expect(echo.status).toBe(218);
    expect(Object.fromEntries(echo.headers)).toMatchObject({ 'x-method': 'POST', 'x-sent': 'yes' });
    expect(new Uint8Array(await echo.arrayBuffer())).toEqual(body);
    const empty = await fetch(subject.at('echo'), { method: 'DELETE' });
    expect(empty.headers.get('x-method')).toBe('DELETE');
    expect(await empty.text()).toBe('');
  });

  it('carries each part of a body as soon as the page writes it', async () => {
    const response = await fetch(subject.at('parts', { event: 'next' }));
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 'one' });
    await fetch(subject.at('happen', { event: 'next' }));
    expect(await reader.read()).toEqual({ done: false, value: 'two' });
    expect(await reader.read()).toMatchObject({ done: true });
  });

  it('aborts a request without a response', async () => {
    const gone = new AbortController();
    const { signal } = gone;
    const lost = fetch(subject.at('wait', { event: 'never' }), { signal }).catch(
      ({ name }: Error) => name,
    );
    await fetch(subject.at('wait', { event: 'waiting for never' }));
    gone.abort();
    expect(await lost).toBe('AbortError');
    expect((await fetch(subject.at('wait', { event: 'aborted never' }))).status).toBe(218);
  });

  it('cancels the body of a response if the client disconnects', async () => {
    const gone = new AbortController();
    await fetch(subject.at('parts', { event: 'never' }), { signal: gone.signal });
    gone.abort();
    expect((await fetch(subject.at('wait', { event: 'canceled never' }))).status).toBe(218);
  });
});
