import { seeded } from '../values/seeded-random.ts';

/** A change of the machine. A saga must not depend on the machine. */
export interface Perturbation {
  readonly what: string;
  /** Likely cause in a saga, and its fix. */
  readonly advice: string;
  /** Applies the change. Returns its inverse. */
  readonly apply: () => () => void;
}

/** All changes of `assertDeterministic`. */
export const perturbations: readonly Perturbation[] = [
  {
    what: 'a second run without changes',
    advice:
      'The body depends on earlier runs: an outside variable, a cache, the order of an outside object, or an effect outside of ' +
      'steps. Read such values in a step: the journal keeps its result.',
    apply: () => () => undefined,
  },
  {
    what: 'another time of the machine',
    advice:
      'The body reads the time of the machine: Date.now(), new Date(), performance.now(). Use yield* now(), which is journaled.',
    apply: () => anotherTime(globalThis.Date.now() + shift),
  },
  {
    what: 'other numbers of Math.random()',
    advice:
      'The body draws randomness: Math.random(), crypto.randomUUID(). Use yield* random() or yield* uuid(), which are the same ' +
      'on every replay.',
    apply: () => inverseOf(randomness(seeded(2))),
  },
  {
    what: 'another time zone',
    advice:
      'The body depends on the time zone of the machine: getHours(), toLocaleString(). Use the UTC methods, or name the zone: ' +
      "toLocaleString('en', { timeZone: 'UTC' }).",
    apply: anotherTimeZone,
  },
  {
    what: 'another language of the machine',
    advice:
      'The body depends on the language of the machine: toLocaleString(), localeCompare(), Intl without a locale. Name the ' +
      'locale, compare with < and >, or format in a step.',
    apply: anotherLocale,
  },
];

/** Stops the clock of the machine, and repeats its random numbers after `again`. */
export function standStill(): { readonly again: () => void; readonly end: () => void } {
  let random = seeded(1);
  return {
    again: () => {
      random = seeded(1);
    },
    end: inverseOf([anotherTime(globalThis.Date.now()), ...randomness(() => random())]),
  };
}

const inverseOf = (inverses: readonly (() => void)[]) => (): void => {
  for (const restore of inverses.toReversed()) restore();
};

const shift = 400 * 24 * 60 * 60 * 1000 + 12_345_678;

function anotherTime(now: number): () => void {
  const Real = globalThis.Date;
  const Other = new Proxy(Real, {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(
        target,
        args.length === 0 ? [now] : args,
        newTarget as typeof Date,
      ) as object,
    apply: () => new Real(now).toString(),
    get: (target, name) => (name === 'now' ? () => now : (Reflect.get(target, name) as unknown)),
  });
  globalThis.Date = Other;
  const restore = replaced(performance, 'now', () => now % 1e9);
  return () => {
    globalThis.Date = Real;
    restore();
  };
}

function randomness(random: () => number): readonly (() => void)[] {
  const uuid = (): `${string}-${string}-${string}-${string}-${string}` =>
    `00000000-0000-4000-8000-${String(Math.floor(random() * 1e12)).padStart(12, '0')}`;
  return [replaced(Math, 'random', random), replaced(globalThis.crypto, 'randomUUID', uuid)];
}

function anotherTimeZone(): () => void {
  // A page cannot change its time zone.
  const { env } = globalThis.process ?? { env: {} };
  const before = env['TZ'];
  // Fourteen hours ahead: another day at most times.
  env['TZ'] = before === 'Pacific/Kiritimati' ? 'Pacific/Pago_Pago' : 'Pacific/Kiritimati';
  return () => {
    if (before === undefined) delete env['TZ'];
    else env['TZ'] = before;
  };
}

// Turkish: another uppercase of i, points for commas, another alphabetical order.
const otherLocale = 'tr-TR';

function anotherLocale(): () => void {
  const { prototype: date } = globalThis.Date;
  const { prototype: text } = String;
  return inverseOf([
    withLocale(date, 'toLocaleString', 0),
    withLocale(date, 'toLocaleDateString', 0),
    withLocale(date, 'toLocaleTimeString', 0),
    withLocale(Number.prototype, 'toLocaleString', 0),
    withLocale(BigInt.prototype, 'toLocaleString', 0),
    withLocale(text, 'localeCompare', 1),
    withLocale(text, 'toLocaleUpperCase', 0),
    withLocale(text, 'toLocaleLowerCase', 0),
    ...(['DateTimeFormat', 'NumberFormat', 'Collator', 'PluralRules', 'ListFormat'] as const).map(
      (name) => withConstructor(name),
    ),
  ]);
}

function withLocale(owner: object, name: string, at: number): () => void {
  const real = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
  return replaced(
    owner as Record<string, unknown>,
    name,
    function (this: unknown, ...args: unknown[]) {
      args[at] ??= otherLocale;
      return real.apply(this, args);
    },
  );
}

const localized = ([locale, ...rest]: unknown[]): unknown[] => [locale ?? otherLocale, ...rest];

function withConstructor(
  name: 'DateTimeFormat' | 'NumberFormat' | 'Collator' | 'PluralRules' | 'ListFormat',
): () => void {
  const other = new Proxy(Intl[name], {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, localized(args), newTarget as new () => object) as object,
    apply: (target, self, args: unknown[]) =>
      Reflect.apply(target as () => unknown, self, localized(args)),
  });
  return replaced(Intl as unknown as Record<string, unknown>, name, other);
}

function replaced<T extends object, K extends keyof T>(owner: T, name: K, by: T[K]): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, {
    configurable: true,
    writable: true,
    enumerable: false,
    value: by,
  });
  return () => {
    if (own === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, own);
  };
}
