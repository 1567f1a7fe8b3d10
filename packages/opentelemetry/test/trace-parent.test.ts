import { createTraceState, type SpanContext } from '@opentelemetry/api';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromParent, fromTraceContext, toParent } from '../src/trace-parent.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const good = `00-${traceId}-${spanId}-01`;

const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...Array.from('0123456789abcdef')), {
      minLength: length,
      maxLength: length,
    })
    .map((digits) => digits.join(''))
    .filter((digits) => /[^0]/.test(digits));

const states = fc
  .uniqueArray(fc.constantFrom('ot', 'dd', 'es', 'tenant@vendor'), { maxLength: 4 })
  .map((names) => names.map((name) => `${name}=s:1;${name.length}`).join(','));

describe('the span in a token', () => {
  test('is the same span when it is read', () => {
    const spans = fc.record({
      traceId: hex(32),
      spanId: hex(16),
      flags: fc.nat({ max: 255 }),
      state: states,
    });
    fc.assert(
      fc.property(spans, ({ flags, state, ...ids }) => {
        const span: SpanContext = {
          ...ids,
          traceFlags: flags,
          ...(state === '' ? {} : { traceState: createTraceState(state) }),
        };
        const parent = toParent(span) ?? '';
        expect(parent).toMatch(/^[\x20-\x7e]{55,600}$/);
        const { traceState, ...read } = fromParent(parent) ?? { traceState: undefined };
        expect(read).toEqual({ ...ids, traceFlags: flags, isRemote: true });
        expect(traceState?.serialize() ?? '').toBe(state);
      }),
    );
  });

  test('is missing for an invalid span', () => {
    expect(toParent({ traceId: '0'.repeat(32), spanId, traceFlags: 1 })).toBeUndefined();
    expect(toParent({ traceId, spanId: '0'.repeat(16), traceFlags: 1 })).toBeUndefined();
  });

  test('has its tracestate up to 512 characters', () => {
    const span = { traceId, spanId, traceFlags: 1 };
    const state = (length: number): string =>
      `${'a='.padEnd(256, 'x')},${'b='.padEnd(length - 257, 'x')}`;
    expect(toParent({ ...span, traceState: createTraceState(state(512)) })).toBe(
      `${good} ${state(512)}`,
    );
    // A tracing system of its own may make a longer one.
    const traceState = { ...createTraceState(), serialize: () => state(513) };
    expect(toParent({ ...span, traceState })).toBe(good);
  });
});

describe('trace context from outside', () => {
  test.each([
    ['unchanged', good],
    ['of a later version', `cc-${traceId}-${spanId}-01`],
    ['of a later version that says more', `cc-${traceId}-${spanId}-01-what-the-future-brings`],
  ])('parses a traceparent %s', (_, traceparent) => {
    expect(fromTraceContext({ traceparent })).toEqual({
      traceId,
      spanId,
      traceFlags: 1,
      isRemote: true,
    });
  });

  test.each([
    ['nothing', ''],
    ['another text', 'secret'],
    ['an invalid version', `ff-${traceId}-${spanId}-01`],
    ['this version, which says more', `${good}-more`],
    ['one with something before it', ` ${good}`],
    ['one with something behind it', `${good} `],
    ['one with a line break', `${good}\n`],
    ['upper case', good.toUpperCase()],
    ['a short trace', `00-${traceId.slice(1)}-${spanId}-01`],
    ['no trace', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['no span', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['a long span', `00-${traceId}-${spanId}0-01`],
    ['no flags', `00-${traceId}-${spanId}`],
    ['what the future brings, and too much of it', `cc-${traceId}-${spanId}-01-${'x'.repeat(201)}`],
  ])('rejects a traceparent that is %s', (_, traceparent) => {
    expect(fromTraceContext({ traceparent })).toBeUndefined();
  });

  test.each(['', 'secret', '=', `a=${'x'.repeat(511)}`, 'A=1', 'a=é', 'a=\n'])(
    'ignores an invalid tracestate: %j',
    (tracestate) => {
      expect(fromTraceContext({ traceparent: good, tracestate })).toEqual({
        traceId,
        spanId,
        traceFlags: 1,
        isRemote: true,
      });
    },
  );

  test('never throws, and every parsed span can be stored', () => {
    const any = fc.oneof(
      fc.string({ unit: fc.constantFrom('0', 'a', '-', ' ', '=', ',', '\n', 'é', '\u{1f600}') }),
      fc.constantFrom(good, `${good} a=1`),
    );
    fc.assert(
      fc.property(any, fc.option(any, { nil: undefined }), (traceparent, tracestate) => {
        const context = { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
        const read = fromTraceContext(context);
        const parent = read === undefined ? good : toParent(read);
        expect(fromParent(parent ?? '')).toBeDefined();
      }),
    );
  });
});
