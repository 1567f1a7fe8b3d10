import { generateKey } from '@mcp-saga/server';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeWith } from '../support/describe-with.ts';
import { runners } from './runners.ts';
import { Subject } from './subject.ts';
import { effectsSuite } from './suite/effects.ts';
import { fleetSuite } from './suite/fleet.ts';
import { refusalsSuite } from './suite/refusals.ts';
import { rotationSuite } from './suite/rotation.ts';
import { roundTripsSuite } from './suite/round-trips.ts';
import { sessionsSuite } from './suite/sessions.ts';
import { sizeSuite } from './suite/size.ts';
import { startSuite } from './suite/start.ts';

const keys = [generateKey('k1'), generateKey('k2')].join(',');

/**
 * All runtimes. A runtime is missing if npm is offline and has not installed it before, or if the
 * machine has no browser.
 */
const subjects = await Promise.all(
  runners.map(async (runner) => {
    const missing = await runner.executable().then(() => undefined, reasonOf);
    return { subject: new Subject(runner), missing };
  }),
);
const present = subjects
  .filter(({ missing }) => missing === undefined)
  .map(({ subject }) => subject);

// All start at once. A failed start fails the tests of its runtime below.
beforeAll(async () => {
  await Promise.allSettled(present.map((subject) => subject.start(keys)));
});
afterAll(async () => {
  await Promise.all(present.map((subject) => subject.stop()));
});

for (const { subject, missing } of subjects) {
  describeWith(subject.name, missing, () => {
    beforeAll(() => subject.start(keys));

    startSuite(subject);
    roundTripsSuite(subject);
    sessionsSuite(subject);
    effectsSuite(subject);
    refusalsSuite(subject);
    rotationSuite(subject);
    sizeSuite(subject);
  });
}

describe('a fleet of all of them', () => {
  beforeAll(async () => {
    await Promise.all(present.map((subject) => subject.start(keys)));
  });

  fleetSuite(present);
});

function reasonOf(error: unknown): string {
  const code = /npm error code (\w+)/.exec(String(error))?.[1];
  return code === undefined ? String(Object(error).message) : `npm does not give it here: ${code}`;
}
