import type { SeenTurn } from 'mcp-saga/studio';
import type { JSX } from 'preact';
import { Button, Shown } from '../parts/controls.tsx';
import { ComparedLadder } from '../page/ladder.tsx';
import { durationOf } from '@mcp-saga/testing/internal';
import { ExportMenu } from '../page/panels/export-menu.tsx';
import { TimeSlider } from '../page/panels/time-slider.tsx';
import { toFragment, type Shared } from '../parts/link.ts';
import { answersOf, openLinks, pauseBefore, whatContinues, type LiveLane } from './lanes.ts';
import { LiveForm, LiveTokenRow } from './live-token.tsx';
import type { LiveStore } from './live-store.ts';
import { PhoneLink } from './phone-link.tsx';
import { statusLabels } from './seen-list.tsx';

export function LiveRun({ store }: { readonly store: LiveStore }): JSX.Element {
  const { saga, lanes } = store;
  const { value: lane } = store.shownLane;
  if (saga.value === undefined || lane === undefined)
    return (
      <section class="run" aria-label="Run">
        <p class="nothing">Choose a saga. Its turns appear here while they run.</p>
      </section>
    );
  const at = lanes.value.indexOf(lane);
  const { sagaId, saga: name, version } = saga.value;
  const { args } = lanes.value[0]?.turns[0] ?? {};
  const { status, uncompensated = [], startedAt, durationMs = 0 } = lane.turns.at(-1) as SeenTurn;
  const isOver = status === 'completed' || status === 'failed';
  const duration = isOver && durationOf(startedAt + durationMs - (lane.path[0]?.startedAt ?? 0));
  const open = lane.tokens.find(({ isNewest }) => isNewest);
  const { state } = store;
  const next = state.value?.mcp === undefined ? undefined : whatContinues(lane, state.value);
  return (
    <section class="run" aria-label="Run">
      <div class="tabs">
        {lanes.value.map(({ turns }, index) => (
          <Button
            key={index}
            aria-pressed={index === at}
            onClick={() => (store.lane.value = index)}
          >
            <span class={`dot ${turns.at(-1)?.status}`} />
            {index === 0 ? 'Run' : `Fork ${index}`}
          </Button>
        ))}
        {args !== undefined && (
          <Button class="quiet" onClick={() => void openPlayground(name, args, lane.path)}>
            Open in the playground
          </Button>
        )}
        {store.runAgain !== undefined && (
          <Button class="quiet" onClick={store.runAgain}>
            Run again
          </Button>
        )}
      </div>
      <p class={`verdict ${status}`} role="status" tabIndex={-1}>
        <b>
          {at === 0 ? (
            <Shown text={name} />
          ) : (
            `Fork ${at} of token ${(lane.turns[0]?.turn ?? 0) - 1}`
          )}
          : {statusLabels[status]}
        </b>
        {uncompensated.map((id) => (
          <>
            {' · '}
            <Shown text={id} /> is not undone
          </>
        ))}
        <span>
          {' '}
          version <Shown text={version} /> · {[sagaId, duration].filter(Boolean).join(' · ')}
        </span>
      </p>
      {next !== undefined && <p class="next">{next}</p>}
      <TimeSlider entries={lane.entries} run={`${sagaId} ${at} ${lane.entries.length}`} />
      <ComparedLadder
        origin={lane.origin?.entries}
        key={`${sagaId} ${at}`}
        entries={lane.entries}
        tokens={lane.tokens}
        caption={(request) => captionOf(lane, request)}
        pause={(request) => pauseBefore(lane, request)}
        token={(token) => <LiveTokenRow key={token.turn.startedAt} store={store} token={token} />}
      />
      {openLinks(lane).map((link) => (
        <PhoneLink key={link.url} {...link} />
      ))}
      {open !== undefined && <LiveForm store={store} token={open} />}
      <ExportMenu name={name} title={name} run={{ entries: lane.entries, test: undefined }} />
    </section>
  );
}

function captionOf({ shown, path }: LiveLane, request: number): JSX.Element {
  const { turn, polls = 0 } = shown[request - 1] ?? {};
  const { client, durationMs, startedAt = 0, process } = turn ?? {};
  const isOneProcess = path.every((other) => other.process === path[0]?.process);
  const duration = durationMs === undefined ? 'runs now' : durationOf(durationMs);
  return (
    <>
      {client !== undefined && <Shown text={client} />}
      {client !== undefined && ' · '}
      {new Date(startedAt).toLocaleTimeString()} · {duration}
      {!isOneProcess && ` · process ${process}`}
      {polls > 0 && ` · after ${polls} ${polls === 1 ? 'turn' : 'turns'} alike`}
    </>
  );
}

/** Runs a saga in the playground, with the arguments and the answers of some turns. */
async function openPlayground(
  example: string,
  input: string,
  turns: readonly SeenTurn[],
): Promise<void> {
  const session = { input, answers: answersOf(turns), forks: [] };
  location.assign(`playground${await toFragment({ example, session } satisfies Shared)}`);
}
