import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { rawClients } from '../matrix/raw-clients.ts';
import { sdkClients } from '../matrix/sdk-clients.ts';
import { drawQuickstart, drawRecording, matrixBadge, toLines } from './recording.ts';

it('draws each line of a terminal unchanged', () => {
  const svg = drawRecording(toLines('◇  Request 1 to A: <b> & "x"\n│\n│  A ended'), 'run');
  expect(svg).toContain(
    '<tspan class="mark">◇</tspan>  Request 1 to A: &lt;b> &amp; &quot;x&quot;</text>',
  );
  expect(svg.match(/<text /g)).toHaveLength(3);
});

it('shows later lines later, and wraps long ones', () => {
  const lines = toLines(`Request 1\n${'x'.repeat(200)}\nRequest 2`);
  expect(lines.map(({ text }) => text.length)).toEqual([9, 112, 88, 9]);
  const times = lines.map(({ atSeconds }) => atSeconds);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

it('the picture shows what the quickstart prints today', async () => {
  const svg = readFileSync(new URL('../../docs/public/quickstart.svg', import.meta.url), 'utf8');
  // Ports and sizes of tokens change from run to run.
  const withoutNumbers = (text: string): string => text.replaceAll(/\d+/g, '0');
  expect(svg).toContain('Refunded 15 EUR of order 1042 to Ada.');
  expect(withoutNumbers(await drawQuickstart())).toBe(withoutNumbers(svg));
});

it('has the number of clients in the matrix in its badge', () => {
  const badge = readFileSync(new URL('../../docs/public/matrix.svg', import.meta.url), 'utf8');
  expect(badge).toBe(matrixBadge(sdkClients.length + rawClients.length));
});
