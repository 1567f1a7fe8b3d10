/**
 * Types that several folders share, without logic. The options of a host are in this file: what
 * each one means, its unit, and its default.
 */
import type {
  SampleParams,
  HostSampling,
  Awaitable,
  Duration,
  SampleAnswer,
  OutsideUser,
  Program,
  Compensator,
  Schema,
  AnswerBy,
  User,
  RetryPolicy,
  Services,
} from '@mcp-saga/core';
import type { IsGuarded } from '@mcp-saga/core/program';
import type { KeysOption } from '@mcp-saga/seal';
import type { HostLimits } from './host-limits.ts';
import type { PrincipalOption, SagaCaller } from './caller.ts';
import type { PageWords } from './page-words.ts';
import type { SagaStore } from './saga-store.ts';
import type { SagaQueue } from './queue-types.ts';
import type { HostHooks } from './hooks.ts';
import type { SagaTelemetry } from './telemetry.ts';

/** Options for first calls: which keys of clients count, and what a call without one may do. */
export interface StartOptions {
  /**
   * What happens in the first request of a call without a key that counts, before its client has a
   * token. `handshake`: a step with an undo or `once` waits for the second request, so that nothing
   * has happened if the first response is lost. `run`: it runs at once. Default: `handshake` for
   * clients that come back by themselves, `run` for others, such as models and sessions.
   */
  readonly unkeyed?: 'handshake' | 'run';
  /**
   * Returns the key that counts for a call of a client; undefined: the call begins a saga of its
   * own. `from` says whether the client has made the key on purpose, or the `host` around it has,
   * as the ID of a tool use. `tool` is the name of the saga. Default: the key that was sent.
   */
  readonly key?: (sent: {
    readonly key: string;
    readonly from: 'client' | 'host';
    readonly tool: string;
  }) => string | undefined;
}

/** Options for the steps of all sagas. */
export interface StepDefaults {
  /**
   * Attempts of a step that names none in its option `retry`: a number, or a policy. Applies neither
   * to undos, which have three attempts, nor to steps with `once`. Set it only if each step sends
   * its idempotency key, or can be repeated without harm. Default: one attempt.
   */
  readonly retry?: RetryPolicy | number;
}

/**
 * What callers without a user may do. Allow each separately: without users, a token, a task ID, or a
 * key is the only secret, and whoever finds it in a log controls the saga.
 */
export interface AnonymousOptions {
  /**
   * `accept` serves MCP requests without auth info: anyone with a token of an anonymous saga can
   * continue it. Default: such requests are refused by a host that tells callers apart. Calls of
   * `host.start` and the other methods say `caller: 'anonymous'` instead.
   */
  readonly calls?: 'accept';
  /**
   * `accept` offers tasks to anonymous callers: anyone with a task ID controls the task. Default:
   * authenticated callers only.
   */
  readonly tasks?: 'accept';
  /**
   * `accept` offers resumable requests to anonymous callers: any used token leads to the newest.
   * Default: authenticated callers only.
   */
  readonly resumableRequests?: 'accept';
  /**
   * `accept`: an anonymous caller who repeats a start gets its saga, and whoever has the key
   * controls it. Only keys with 22 characters or more count. Default: keys of anonymous callers do
   * not count.
   */
  readonly starts?: 'accept';
}

/** Facts about the next turn, for rate limits. */
export interface RateLimitFacts {
  readonly principal: string | null;
  readonly sagaId: string;
  /** Number of the next turn, from 1. */
  readonly turn: number;
  /** Size of the token, in bytes; 0 at the start. */
  readonly bytes: number;
  /**
   * Estimated size of the stored responses and handles of the saga, in bytes; 0 at the start, and
   * without a guard or handles.
   */
  readonly keptBytes: number;
  /** Size of the state, in bytes, which determines the cost of a turn; 0 at the start. */
  readonly inflatedBytes: number;
}

/**
 * Samples a model of the host for a saga. Pass `tools` and `toolChoice` to the model, and return its
 * calls as blocks of the type `tool_use`. The saga runs them.
 */
export type Sampling = (params: SampleParams, step: HostSampling) => Awaitable<SampleAnswer>;

/** Facts about an answer, for `auth.mayAnswer`. */
export interface AnswerFacts {
  readonly saga: string;
  readonly sagaId: string;
  /** Services of the process. */
  readonly services: Services;
}

/**
 * Person who opens an answer page: the user that `auth.authenticate` returned, with the `issuer` and
 * the `subject` that count. A bare principal has no more than these.
 */
export type AnsweringUser = OutsideUser & (unknown extends User ? object : User);

/**
 * Options for callers: identity, permissions, and rate limits. With `principal`, `authorize`, or
 * `mayAnswer`, the host refuses requests without a caller.
 */
export interface AuthOptions {
  /**
   * Makes a principal of a user without `subject`, such as the auth info of an OAuth library.
   * Default: the `issuer`, `subject`, and `client` of the user.
   */
  readonly principal?: PrincipalOption;
  /**
   * Returns `true` if a caller may use a saga. Called for every request, and at `continueAs`.
   * Default: every caller may.
   */
  readonly authorize?: (
    caller: SagaCaller,
    saga: { readonly name: string; readonly version: string },
  ) => Awaitable<boolean>;
  /**
   * Returns `true` if a turn may run now. Called once per request, after `authorize` and before
   * replay. Default: always `true`.
   */
  readonly rateLimit?: (facts: RateLimitFacts) => Awaitable<boolean>;
  /**
   * Returns `true` if an authenticated user may answer an `approval`. `by` is the option of the
   * approval, or null; `Register` can declare its type. Called for each request of an answer page.
   * Default: every user may, and an approval with `by` fails.
   */
  readonly mayAnswer?: (
    user: AnsweringUser,
    by: AnswerBy | null,
    approval: AnswerFacts,
  ) => Awaitable<boolean>;
  /**
   * Rejects all tokens issued before a time, in milliseconds since the epoch. For incidents, such
   * as a leaked key.
   */
  readonly rejectIssuedBefore?: number;
}

/**
 * Checks a webhook where it arrives: returns `true` for an authentic request. `false` or an error
 * rejects the request with 401. The request has its body. The check also gets the services of the
 * process.
 */
export type WebhookCheck = (
  request: Request,
  facts: { readonly services: Services },
) => Awaitable<boolean>;

/** Look of the pages for people who answer. */
export interface PageOptions {
  /** Name of the service, as people know it. Default: `name` of the host. */
  readonly name?: string;
  /** Language of the texts, as in the attribute `lang` of HTML. @default 'en' */
  readonly lang?: string;
  /**
   * Texts in place of the defaults, such as translations. A text holds the values of its default,
   * such as `{time}`. Texts are escaped.
   */
  readonly words?: Partial<PageWords>;
  /** Image above the title: an absolute HTTPS URL without a query, or a `data:image/…` URL. */
  readonly logo?: string;
}

/** Who is there to answer questions, besides the person at the client. */
export interface AnswererOptions {
  /**
   * A model of the host, for samples that the client cannot answer, and whose `answeredBy` has
   * `fallback`. Takes the params of `sampling/createMessage`, and returns its result.
   */
  readonly sampling?: Sampling;
  /**
   * `accept`: the model that calls a tool may answer for its user, where `answeredBy` of the saga or
   * question has `model` and the client cannot ask. Tools then list the argument `answers`, and the
   * token records the model as the source of these answers. Default: it may not.
   */
  readonly model?: 'accept';
  /**
   * `unsupported` treats a client that refuses a question within a second, faster than any person,
   * as one that cannot ask: the next of `answeredBy` answers, or the step throws `ClientCannot`.
   * `refused` passes the refusal to the saga, and the host warns.
   * @default 'refused'
   */
  readonly instantRefusals?: 'refused' | 'unsupported';
}

/** Options for tests and simulations. */
export interface TestingOptions {
  /** Returns the time, in milliseconds since the epoch. @default Date.now */
  readonly clock?: () => number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /**
   * Environment: `development` and `test` allow ephemeral keys, `production` disables slow advice.
   * @default NODE_ENV
   */
  readonly environment?: string | undefined;
  /**
   * Implementation that seals tokens: `fast` needs Node, `portable` runs everywhere. @default
   * 'auto'
   */
  readonly sealing?: 'auto' | 'fast' | 'portable';
}

/**
 * Source of keys outside of the process, such as a KMS or a secret manager, with one key ring for
 * all callers or one for each tenant.
 *
 * The host loads a ring when a request needs it, and refreshes it in the background. While the
 * source fails, the loaded ring stays in use, `hooks.onError` gets `keys_down`, and the host tries
 * again after 1 s, at most every 60 s. Without a loaded ring, requests fail with the retryable
 * `keys_down`. A token with an unknown key ID causes an early refresh, at most one in 10 s for each
 * ring.
 */
export interface KeySource {
  /**
   * Loads the keys of a tenant, newest first. Without `tenantOf`, the tenant is `''`. Counts as
   * failed after 10 s. Errors are reported by class and `code`, without their message, which may
   * contain keys.
   */
  readonly load: (tenant: string) => Awaitable<KeysOption>;
  /**
   * Returns the tenant of a caller: 1 to 256 characters. Read it from the authentication, never
   * from arguments. A tenant cannot open the tokens of another tenant, even with the same keys.
   * Default: all callers share one ring.
   */
  readonly tenantOf?: (caller: SagaCaller) => Awaitable<string>;
  /**
   * Keys that seal the names of tenants in links to answer pages and webhooks, the same for all
   * tenants. Required with `tenantOf` and `url`: with them, a forged link loads no
   * keys. The first key seals, and all keys open.
   */
  readonly links?: KeysOption;
  /** Age at which a ring is refreshed. @default '5m' */
  readonly refresh?: Duration;
}

/**
 * Services of a host, or a function that makes them for an environment of type `Env`. They are an
 * object, also without a type in `Register`, so that a primitive or a promise is no service.
 */
export type ServicesOption<Env> =
  | (unknown extends Services ? object : Services)
  | ((env: Env) => Awaitable<Services>);

/**
 * Options that the types demand: a store, if a saga has an undo, a pivot, or a step that runs once,
 * and does not declare `reuse: 'ok'`; and services, if `Register` declares their type.
 */
export type DemandedOptions<P extends Program> = {
  readonly sagas: readonly P[];
} & (IsGuarded<P> extends true ? { readonly store: SagaStore } : object) &
  DemandedServices;

type DemandedServices = unknown extends Services
  ? object
  : Required<Pick<SagaHostOptions, 'services'>>;

/** Options of `createSagaHost`. */
export interface SagaHostOptions {
  /** Sagas to serve, each with its own name. Pass older versions in `previous` of the saga. */
  readonly sagas: readonly Program[];
  /**
   * Keys that seal and open tokens: `'k2:<32 bytes base64url>,k1:<…>'`, a list, or JWKs. Make them
   * with `generateKey()`. The first key seals, and all keys open.
   *
   * Without keys, a host starts only in `development` and `test`, with an ephemeral key that is
   * valid until the process ends. `'ephemeral'` sets such a key explicitly. In other environments,
   * keys that are evidently not random are rejected.
   *
   * A function loads the keys when the first request needs them, and again every five minutes. A
   * {@link KeySource} sets the interval, and has a ring for each tenant.
   * @default process.env.SAGA_KEYS
   */
  readonly keys?: KeysOption | (() => Awaitable<KeysOption>) | KeySource | undefined;
  /** Name of this service, for its pages, and for its tokens by the default of `audience`. */
  readonly name: string;
  /**
   * Name that is sealed into each token. Tokens of other services do not open here, which protects
   * only against mistakes: services that share a key trust each other. Set it to the old name
   * before you change `name`, so that waiting sagas go on.
   * @default name
   */
  readonly audience?: string;
  /** Options for callers. Default: anonymous callers may use all sagas. */
  readonly auth?: AuthOptions;
  /**
   * Services of the process, such as a database: each step, undo, delivery, poll, fallback, and
   * check of an answer or a webhook receives them, whoever runs the turn. A function is called for
   * each request, message, and attached server, before anything runs, with the environment of the
   * runtime: Workers get their bindings with each request. Default: undefined.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- the author declares the type of the environment
  readonly services?: ServicesOption<any>;
  /**
   * Store of used tokens, short tokens, tasks, and answers: `memoryStore()` for one process, or one
   * of a database for a fleet. With a store, each token counts once. While it is down, requests are
   * refused, except those of sagas with `reuse: 'ok'`. Default: only clients hold sagas, and older
   * tokens can be used again.
   */
  readonly store?: SagaStore;
  /**
   * Public URL of the server, such as `https://shop.example`, for answers from outside: HTTPS, or
   * HTTP on loopback. Links to pages begin with this URL and `/saga/answer/`, webhooks with this URL
   * and `/saga/event/`. A function returns a URL that is known only after the start, and is called
   * for each link. Requires a store. Default: `approval` and `waitFor` fail.
   */
  readonly url?: string | (() => string);
  /** Checks of webhooks by name, for `verify` of `waitFor`. Requires `url`. */
  readonly webhooks?: { readonly [name: string]: WebhookCheck };
  /** Name, language, texts, and logo of the answer pages. Requires `url`. */
  readonly page?: PageOptions;
  /**
   * Queue that continues sagas without their clients: waits, timeouts, retries of undos, and the
   * end of abandoned sagas. Requires a store, and wakes all sagas without `reuse: 'ok'`. Use
   * `memoryQueue()` for one process. Default: only clients continue sagas.
   */
  readonly queue?: SagaQueue;
  /** Who is there to answer questions, besides the person at the client. Default: nobody. */
  readonly answerers?: AnswererOptions;
  /** Compensators by name, for sagas with changed or removed code. */
  readonly compensators?: readonly Pick<Compensator<Schema>, 'name' | 'run'>[];
  /** What callers without a user may do, besides starting sagas of a host without `auth`. */
  readonly anonymous?: AnonymousOptions;
  /**
   * Options for repeated starts. With a store, a start that its client repeats with the same key
   * acts once. Default: for authenticated callers.
   */
  readonly starts?: StartOptions;
  /** Options for the steps of all sagas. Default: one attempt. */
  readonly steps?: StepDefaults;
  /**
   * `true` if a model that calls a tool again copies 22 characters instead of a token, whose state
   * is then in `store`. `false`: it copies the token, and only the client holds the state.
   * @default true with the option `store`
   */
  readonly shortTokens?: boolean;
  /** Limits for sizes, counts, and times. */
  readonly limits?: Partial<HostLimits>;
  /** Callbacks for the operator. Default: the console reports errors and warnings. */
  readonly hooks?: HostHooks;
  /**
   * Exports turns and steps to a tracing system: `openTelemetry()` of `@mcp-saga/opentelemetry`.
   * Each token carries the trace parent, in about 60 bytes. Default: none.
   */
  readonly telemetry?: SagaTelemetry;
  /**
   * Page of the turns, for operators: `createStudio()` of `mcp-saga/studio`. `studio` of the host
   * serves it. Default: none.
   */
  readonly studio?: Readonly<{
    /** Observes turns. All facts also reach `inner`. */
    telemetry(inner?: SagaTelemetry): SagaTelemetry;
    fetch(request: Request): Promise<Response>;
  }>;
  /** Clock, sleep, and environment, for tests. */
  readonly testing?: TestingOptions;
}
