import { toMermaid } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { and, createMachine, not, or, stateIn } from 'xstate';
import { pictured, type Pictured } from './support/pictured.ts';

const draw = (name: string): string => {
  const { machine, ...options } = pictured[name] as Pictured;
  return `\n${toMermaid(machine, options)}`;
};

describe('the diagram of a machine', () => {
  it('shows steps by kind, with results, guards, and delays on the arrows', () => {
    expect(draw('chain')).toMatchInlineSnapshot(`
      "
      stateDiagram-v2
        [*] --> asking
        state "asking" as asking
        asking : elicit target
        asking : after patience (stays)
        state "judging" as judging
        judging : sample safety
        state "releasing" as releasing
        releasing : step release
        releasing : PING (stays)
        state "over" as over
        state "failed" as failed
        failed : compensate
        asking --> judging : done
        asking --> over : error [isDeclined]
        asking --> failed : error
        asking --> failed : after 5 min
        judging --> releasing : done [isSafe]
        judging --> over : done [not isSafe]
        releasing --> failed : STOP
        releasing --> over : done
        over --> [*]
        failed --> [*]
        classDef active fill:#ffd54f,stroke:#b8860b,color:#1a1a1a
        class judging active
      "
    `);
  });

  it('nests boxes, with a box for a machine with transitions', () => {
    expect(draw('nested')).toMatchInlineSnapshot(`
      "
      stateDiagram-v2
        state "order" as order {
          [*] --> open
          state "open (promise load, machine child)" as open {
            [*] --> open_empty
            state "empty" as open_empty
            state "full" as open_full
            state "paid" as open_paid
            open_empty --> open_full : always [guard]
            open_full --> open_empty : LESS
            open_paid --> [*]
          }
          state "over" as over
          open --> open : any event
          open --> over : done
          open --> over : done child
          over --> [*]
        }
        order --> over : CANCEL
        open --> open_empty : RESET
        open_full --> over : PAY
        classDef active fill:#ffd54f,stroke:#b8860b,color:#1a1a1a
        class open_full active
      "
    `);
  });

  it('shows parallel regions beside each other, with an active leaf in each', () => {
    expect(draw('parallel')).toMatchInlineSnapshot(`
      "
      stateDiagram-v2
        state "both" as both {
          state "person" as person {
            [*] --> person_asked
            state "asked" as person_asked
            person_asked : elicit target
            person_asked : elicitUrl sign
            state "known" as person_known
            person_asked --> person_known : done target
            person_asked --> person_known : done sign
            person_known --> [*]
          }
          --
          state "model" as model {
            [*] --> model_asked
            state "asked" as model_asked
            state "known" as model_known
            model_known --> [*]
          }
          --
          state "files" as files
          files : listRoots roots
        }
        model_asked --> person_known : NEVER_MIND
        classDef active fill:#ffd54f,stroke:#b8860b,color:#1a1a1a
        class person_asked,model_known,files active
      "
    `);
  });

  it('shows history states, shallow and deep', () => {
    expect(draw('history')).toMatchInlineSnapshot(`
      "
      stateDiagram-v2
        [*] --> playing
        state "playing" as playing {
          [*] --> playing_song
          state "song" as playing_song {
            [*] --> playing_song_verse
            state "verse" as playing_song_verse
            state "chorus" as playing_song_chorus
            playing_song_verse --> playing_song_chorus : SING
          }
          state "silence" as playing_silence
          state "H" as playing_last
          state "H#42;" as playing_exactly
          state "H" as playing_anew
        }
        state "paused" as paused
        playing --> paused : PAUSE
        playing_last --> playing_song_chorus : default
        playing_exactly --> paused : default
        paused --> playing_last : PLAY
        paused --> playing_exactly : RESUME
        classDef active fill:#ffd54f,stroke:#b8860b,color:#1a1a1a
        class playing_song_verse active
      "
    `);
  });

  it('shows spawned actors at their spawn: in states, on arrows, by the context', () => {
    expect(draw('spawning')).toMatchInlineSnapshot(`
      "
      stateDiagram-v2
        state "shop (spawns listRoots roots)" as shop {
          [*] --> open
          state "open" as open
          open : spawns elicit target
          open : spawns promise load on exit
          open : LOOK / spawns machine child (stays)
          state "over" as over
          open --> over : PAY / spawns step release
          over --> [*]
        }
        classDef active fill:#ffd54f,stroke:#b8860b,color:#1a1a1a
        class open active
      "
    `);
  });

  it('shows waits for answers from outside', () => {
    expect(draw('outside')).toMatchInlineSnapshot(`
      "
      stateDiagram-v2
        [*] --> asking
        state "asking" as asking
        asking : approval manager
        state "paying" as paying
        paying : waitFor money
        state "over" as over
        asking --> paying : done
        paying --> over : done
        paying --> over : error
        over --> [*]
        classDef active fill:#ffd54f,stroke:#b8860b,color:#1a1a1a
        class asking active
      "
    `);
  });

  it.each([
    [and(['isPaid']), 'isPaid'],
    [or(['isAdmin']), 'isAdmin'],
    [not('isPaid'), 'not isPaid'],
    [not(and(['isPaid'])), 'not isPaid'],
    [and(['isPaid', not('isLate')]), 'isPaid and not isLate'],
    [and(['isPaid', or(['isAdmin', 'isOwner'])]), 'isPaid and (isAdmin or isOwner)'],
    [
      or([and(['isPaid', 'isValid']), and([or(['isA', 'isB'])])]),
      '(isPaid and isValid) or (isA or isB)',
    ],
    [not(and(['isPaid', 'isValid'])), 'not (isPaid and isValid)'],
    [not(stateIn('#m.b')), 'not in #35;m.b'],
    [and([]), 'and'],
  ])('prints a composed guard with brackets around inner lists: %#', (guard, label) => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { GO: { target: 'b', guard: guard as never } } }, b: {} },
    });
    expect(toMermaid(machine)).toContain(`a --> b : GO [${label}]\n`);
  });

  it('finds the operator of a guard without the names of functions, as in minified code', () => {
    const guard = and(['isPaid', not('isLate')]);
    Object.defineProperty(guard, 'name', { value: 't' });
    const machine = createMachine({ id: 'm', on: { GO: { guard: guard as never } } });
    expect(toMermaid(machine)).toContain('GO [isPaid and not isLate]');
  });

  it('draws the default of a history state with an escaped dot in its target', () => {
    const machine = createMachine({
      id: 'm.1',
      initial: 'flow',
      states: {
        flow: {
          initial: 'step.one',
          states: {
            'step.one': { initial: 'inner', states: { inner: {} } },
            last: { type: 'history', target: 'step\\.one.inner' },
          },
        },
      },
    });
    expect(toMermaid(machine)).toContain('flow_last --> flow_step_one_inner : default');
  });

  it('highlights nothing without a value', () => {
    const { machine } = pictured['chain'] as Pictured;
    expect(toMermaid(machine)).not.toContain('classDef');
  });

  it.each([
    ['chain', 'gone'],
    ['chain', { gone: 'x' }],
    ['nested', { open: 'gone' }],
    ['nested', { open: { full: 'gone' } }],
    ['history', 'last'],
    ['parallel', { person: 'asked', modle: 'asked' }],
    ['chain', 7 as never],
  ])('rejects a value that is not a state of the machine: %s %j', (name, value) => {
    const { machine } = pictured[name] as Pictured;
    expect(() => toMermaid(machine, { value })).toThrow(
      new RegExp(`^The machine '${machine.id}' has no state .*${JSON.stringify(value)}`),
    );
  });

  it('gives each state a unique ID that is not reserved in Mermaid', () => {
    const ids = [...draw('odd').matchAll(/^ *state "[^"]*" as (\S+)/gm)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z]\w*$/);
    expect(ids).not.toContain('end');
    expect(ids).not.toContain('a_start');
  });

  it('shows a single state for a machine without states', () => {
    expect(toMermaid(createMachine({ id: 'alone' }))).toBe(
      'stateDiagram-v2\n  state "alone" as alone\n',
    );
  });
});
