import { randomUUID } from 'node:crypto';
import { generateKey } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { createRefusedCorpus } from '../../../packages/seal/test/refused-corpus.ts';
import { tamper } from '../../support/wire/tamper.ts';
import type { Subject } from '../subject.ts';
import { carriers, isTaken, sagaMethods, tasks, type Carrier } from './carriers.ts';

const lifetime = 60 * 60 * 1000;
/** Maximum tolerated clock difference, in milliseconds. */
const skew = 30_000;

/** Tests tokens that must not open: changed and expired tokens. */
export function refusalsSuite(subject: Subject): void {
  describe.each(subject.sealings)('a refused token, sealed by the %s path', (sealing) => {
    const url = (): URL => subject.mcp({ sealing });

    it('[P1] [T4] [T5] gets the frozen response for each token of the corpus', async () => {
      const label = randomUUID();
      const token = await sagaMethods.begin(url(), label);
      const corpus = createRefusedCorpus(token).flatMap(({ name: how, token: changed }) =>
        // A token on the wire is always a string.
        typeof changed === 'string' ? [{ how, token: changed }] : [],
      );
      expect(corpus.length).toBeGreaterThan(80);
      await expectRefused(sagaMethods, url(), label, corpus);
      expect(await sagaMethods.goOn(url(), label, token)).toSatisfy(isTaken);
    });

    it.each([...carriers, tasks])(
      '[P1] [T1] [T5] gets the frozen response after any change, by $name',
      async (carrier) => {
        const [label, otherLabel] = [randomUUID(), randomUUID()] as const;
        const token = await carrier.begin(url(), label);
        const other = await carrier.begin(url(), otherLabel);
        const forged = [...tamper(token, other), ...changes(token, other)];
        // An empty argument is an absent one: models that must fill each argument send it.
        const isToken = (sent: string): boolean => carrier.name !== 'resume token' || sent !== '';
        await expectRefused(
          carrier,
          url(),
          label,
          forged.filter((each) => isToken(each.token)),
        );
        expect(await carrier.goOn(url(), label, token)).toSatisfy(isTaken);
      },
    );

    it('[P1] [T3] [T5] gets the frozen response if it is sealed with another key with its ID', async () => {
      const label = randomUUID();
      const forged = await sagaMethods.begin(
        subject.mcp({ keys: generateKey('k1'), sealing }),
        label,
      );
      await expectRefused(sagaMethods, url(), label, [{ how: 'forged', token: forged }]);
    });

    it.each(carriers)(
      '[P1] [T5] [T6] gets the frozen response after its expiry, by $name',
      async (carrier) => {
        const [label, born] = [randomUUID(), Date.now()] as const;
        const at = (ms: number): URL => subject.mcp({ sealing, at: born + ms });
        const token = await carrier.begin(at(0), label);
        await expectRefused(carrier, at(lifetime + skew), label, [{ how: 'too late', token }]);
        expect(await carrier.goOn(at(lifetime + skew - 1), label, token)).toSatisfy(isTaken);
      },
    );
  });

  it('[P1] [T6] a token of one dialect does not open in another', async () => {
    const label = randomUUID();
    const answers: Record<string, unknown> = {};
    const others = carriers.filter((carrier) => carrier !== sagaMethods);
    for (const other of others) {
      const token = await other.begin(subject.mcp(), label);
      answers[other.name] = (await sagaMethods.goOn(subject.mcp(), label, token)).error;
    }
    expect(answers).toEqual(
      Object.fromEntries(others.map(({ name }) => [name, sagaMethods.refused])),
    );
  });

  /** Sends each token, and expects the same error for all of them and no effects. */
  async function expectRefused(
    carrier: Carrier,
    url: URL,
    label: string,
    tokens: readonly { readonly how: string; readonly token: string }[],
  ): Promise<void> {
    const before = await subject.effects(label);
    const answers: Record<string, unknown> = {};
    for (const { how, token } of tokens) {
      answers[how] = (await carrier.goOn(url, label, token)).error;
    }
    expect(answers).toEqual(Object.fromEntries(tokens.map(({ how }) => [how, carrier.refused])));
    expect(await subject.effects(label)).toEqual(before);
  }
}

const partNames = ['header', 'key', 'nonce', 'ciphertext', 'tag'] as const;

/**
 * Each part of a token changed at its first and at its last character, and taken from the token of
 * another saga; and the id of the other key of the ring. The ID of a stored task has two parts and
 * no key.
 */
function changes(token: string, other: string): { readonly how: string; readonly token: string }[] {
  const [parts, others] = [token.split('.'), other.split('.')];
  const replaced = (index: number, by: string): string =>
    parts.map((part, at) => (at === index ? by : part)).join('.');
  const isSealed = parts.length === partNames.length;
  const kid = Buffer.from(parts[0] ?? '', 'base64url')
    .toString()
    .replace('"k1"', '"k2"');
  const underOtherKey = {
    how: 'the id of the other key',
    token: replaced(0, Buffer.from(kid).toString('base64url')),
  };
  const changed = partNames.slice(0, parts.length).flatMap((name, index) => {
    const part = parts[index] ?? '';
    const swapped = {
      how: `the ${name} of another saga`,
      token: replaced(index, others[index] ?? ''),
    };
    if (part === '') return [{ how: `a ${name} where there is none`, token: replaced(index, 'A') }];
    const ends = [
      { how: `another first character of the ${name}`, token: replaced(index, flipped(part, 0)) },
      {
        how: `another last character of the ${name}`,
        token: replaced(index, flipped(part, part.length - 1)),
      },
    ];
    return [...ends, swapped];
  });
  return isSealed ? [underOtherKey, ...changed] : changed;
}

function flipped(part: string, index: number): string {
  return part.slice(0, index) + (part[index] === 'A' ? 'B' : 'A') + part.slice(index + 1);
}
