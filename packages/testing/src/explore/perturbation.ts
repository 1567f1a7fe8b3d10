import { seeded } from '../values/seeded-random.ts';

/** A change of the machine that a saga must not depend on. */
export interface Perturbation {
  readonly what: string;
  /** Likely cause in a saga, and its fix. */
  readonly advice: string;
  /** Applies the change. Returns its inverse. */
  readonly apply: () => () => void;
}

/** All changes that `assertDeterministic` tries. */
export const perturbations: readonly Perturbation[] = [
  {
    what: 'nothing different but that it is run once more',
    advice:
      'Its body depends on what was before: a variable outside of it, a cache, the order of an object from outside, an ' +
      'effect that is not in a step. Read it in a step, which is journalled.',
    apply: () => () => undefined,
  },
  {
    what: 'another time on the clock of the machine',
    advice:
      'Its body reads the time of the machine: Date.now(), new Date(), performance.now(). Read it with yield* now(), which is ' +
      'journalled.',
    apply: laterTime,
  },
  {
    what: 'other numbers of Math.random()',
    advice:
      'Its body draws randomness: Math.random(), crypto.randomUUID(). Draw it with yield* random() or yield* uuid(), which are ' +
      'the same on every replay.',
    apply: otherRandomness,
  },
  {
    what: 'another time zone',
    advice:
      'Its body depends on the time zone of the machine: getHours(), toLocaleString(). Use the UTC methods, or name the zone: ' +
      "toLocaleString('en', { timeZone: 'UTC' }).",
    apply: anotherTimeZone,
  },
  {
    what: 'another language of the machine',
    advice:
      'Its body depends on the language of the machine: toLocaleString(), localeCompare(), Intl without a locale. Name the ' +
      'locale, compare with < and >, or do it in a step.',
    apply: anotherLocale,
  },
];

/** Stops the clock of the machine, and repeats its random numbers after `again`. */
export function standStill(): { readonly again: () => void; readonly end: () => void } {
  const real = globalThis.Date.now();
  let random = seeded(1);
  const restore = [anotherTime(() => real), ...randomness(() => random())];
  return {
    again: () => {
      random = seeded(1);
    },
    end: () => {
      for (const back of restore.toReversed()) back();
    },
  };
}

const shift = 400 * 24 * 60 * 60 * 1000 + 12_345_678;

function laterTime(): () => void {
  const later = globalThis.Date.now() + shift;
  return anotherTime(() => later);
}

function anotherTime(now: () => number): () => void {
  const Real = globalThis.Date;
  const Other = new Proxy(Real, {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget as typeof Date) as object,
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  });
  globalThis.Date = Other;
  const restore = replaced(performance, 'now', () => now() % 1e9);
  return () => {
    globalThis.Date = Real;
    restore();
  };
}

function otherRandomness(): () => void {
  const restore = randomness(seeded(2));
  return () => {
    for (const back of restore.toReversed()) back();
  };
}

function randomness(random: () => number): readonly (() => void)[] {
  const uuid = (): `${string}-${string}-${string}-${string}-${string}` =>
    `00000000-0000-4000-8000-${String(Math.floor(random() * 1e12)).padStart(12, '0')}`;
  return [replaced(Math, 'random', random), replaced(globalThis.crypto, 'randomUUID', uuid)];
}

function anotherTimeZone(): () => void {
  const before = process.env['TZ'];
  // Fourteen hours ahead: another day at most times.
  process.env['TZ'] = before === 'Pacific/Kiritimati' ? 'Pacific/Pago_Pago' : 'Pacific/Kiritimati';
  return () => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  };
}

// Its i is not ours, its numbers have points for commas, its alphabet another order.
const otherLocale = 'tr-TR';

function anotherLocale(): () => void {
  const { prototype: date } = globalThis.Date;
  const { prototype: text } = String;
  const restore = [
    withLocale(date, 'toLocaleString', 0),
    withLocale(date, 'toLocaleDateString', 0),
    withLocale(date, 'toLocaleTimeString', 0),
    withLocale(Number.prototype, 'toLocaleString', 0),
    withLocale(BigInt.prototype, 'toLocaleString', 0),
    withLocale(text, 'localeCompare', 1),
    withLocale(text, 'toLocaleUpperCase', 0),
    withLocale(text, 'toLocaleLowerCase', 0),
    ...(['DateTimeFormat', 'NumberFormat', 'Collator', 'PluralRules', 'ListFormat'] as const).map((name) =>
      withConstructor(name),
    ),
  ];
  return () => {
    for (const back of restore) back();
  };
}

function withLocale(owner: object, name: string, at: number): () => void {
  const real = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
  return replaced(owner as Record<string, unknown>, name, function (this: unknown, ...args: unknown[]) {
    args[at] ??= otherLocale;
    return real.apply(this, args);
  });
}

const localized = ([locale, ...rest]: unknown[]): unknown[] => [locale ?? otherLocale, ...rest];

function withConstructor(
  name: 'DateTimeFormat' | 'NumberFormat' | 'Collator' | 'PluralRules' | 'ListFormat',
): () => void {
  const other = new Proxy(Intl[name], {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, localized(args), newTarget as new () => object) as object,
    apply: (target, self, args: unknown[]) => Reflect.apply(target as () => unknown, self, localized(args)),
  });
  return replaced(Intl as unknown as Record<string, unknown>, name, other);
}

function replaced<T extends object, K extends keyof T>(owner: T, name: K, by: T[K]): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { configurable: true, writable: true, enumerable: false, value: by });
  return () => {
    if (own === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, own);
  };
}
