/**
 * One thing that must hold, from the project's design. Tests cite its id in their titles: `[R1] …`.
 */
export interface Requirement {
  readonly id: string;
  readonly says: string;
}

const held = (id: string, says: string): Requirement => ({ id, says });

/** Every requirement there is. A test fails when one breaks. */
export const requirements: readonly Requirement[] = [
  held(
    'U1',
    'A turn is one advance; it ends when no server step runs and every live branch waits.',
  ),
  held(
    'U2',
    'Answers are delivered in the order asked, results in the order of completion, kept under replay.',
  ),
  held(
    'U3',
    'The first rejection in `all` aborts the siblings, awaits and records them, then throws.',
  ),
  held(
    'U4',
    'A turn has a budget; an aborted request stops between steps and leaves the token before it good.',
  ),
  held(
    'R1',
    'Suspended and resumed anywhere, on a fresh instance: the same result and the same effects.',
  ),
  held(
    'R2',
    'Results go through the codec before the body sees them; errors are StepErrors, always.',
  ),
  held(
    'R3',
    'Replay that asks for something else is a ReplayMismatch; no result goes to another step.',
  ),
  held('R4', 'From the first release on, a token of an older release opens in a newer one.'),
  held('R5', 'Old and new versions of a saga run side by side.'),
  held(
    'R6',
    'Code that throws, returns or waits otherwise at the end of its journal is a mismatch.',
  ),
  held(
    'E1',
    'A step whose token reached the client never runs again; retries carry the same idempotency key.',
  ),
  held(
    'E2',
    'Retries have attempts, backoff with jitter, a predicate, a timeout; long backoffs are checkpoints.',
  ),
  held('E3', 'Compensations run last first; what fails is uncompensated.'),
  held('E4', 'Compensation with a known and with an unknown outcome.'),
  held('E5', 'A pivot stops backward recovery.'),
  held('E6', 'Abort and cancel cannot be swallowed; finally runs first.'),
  held(
    'E7',
    'A step with an undo, a pivot, or `once` runs only if each token counts once, or the saga declares `reuse`.',
  ),
  held('E8', 'A host can undo what an absent client left behind.'),
  held('E9', 'An effect of unknown outcome is never reported as one that did not happen.'),
  held('E10', 'A failure told to the client is final only when the saga is over.'),
  held('W1', 'One saga, every dialect.'),
  held('W2', 'The dialect is chosen for each request.'),
  held('W3', 'Needs are checked before anything runs.'),
  held(
    'W4',
    'Missing answers are asked again, partial ones kept, invalid ones asked with the reason.',
  ),
  held('W5', 'Progress rises over all turns of one saga.'),
  held('W6', 'Short waits are held in the request.'),
  held('W7', 'A status request never runs a step.'),
  held(
    'P1',
    'The packages run unchanged on Node, Bun, Deno, workerd and Chromium; nothing happens at import.',
  ),
  held('P2', 'Two processes that share only the key serve one saga in turns.'),
  held('T1', 'A token is a standard compact JWE; jose alone opens it, given the derived key.'),
  held('T2', 'Nothing about the saga is readable but format, key id and saga id.'),
  held('T3', 'The key schedule: a token of another purpose, audience or key id does not open.'),
  held('T4', 'A strict envelope, before any key is derived.'),
  held('T5', 'One frozen answer to every failure to open.'),
  held('T6', 'Claims are sealed and checked on every open.'),
  held('T7', 'Keys rotate; bad, short, repeated and published keys are refused; none are shown.'),
  held('T8', 'Idempotency keys and randomness are derived from one sealed secret.'),
  held('T9', 'The codec: closed tags, imitation escaped, every JSON value round-trips.'),
  held('T10', 'Secrets are never compressed beside what the client chose; tokens are padded.'),
  held(
    'T11',
    'Every limit holds at n and refuses n + 1; a token over its limit is refused when minted.',
  ),
  held('T12', 'Nothing of a step that keeps nothing is in the token.'),
  held('T13', 'The guard.'),
  held('T14', 'The provenance of answers.'),
  held('T15', 'No value made by server code is compressed beside bytes of the client.'),
];
