import { describe, expect, it } from 'vitest';
import { Phase } from '../src/undo/ending.ts';

const error = new Error('no');

describe('the phase of a turn', () => {
  it('replays until the end of the journal', () => {
    const phase = new Phase();
    expect(phase.isReplaying).toBe(true);
    phase.goLive();
    expect(phase).toMatchObject({ isReplaying: false, isRunning: true, end: undefined });
  });

  it('ends with the result of the body', () => {
    const phase = new Phase();
    phase.returned(1);
    phase.checked(2);
    expect(phase).toMatchObject({
      isRunning: false,
      undoes: false,
      cause: undefined,
      end: { result: 2 },
    });
  });

  it('ends with the cause of an ended body, not with its result', () => {
    const next = { program: { name: 'other', version: '1' }, args: {} };
    const phase = new Phase();
    phase.beginEnd({ next });
    phase.returned(1);
    expect(phase).toMatchObject({ undoes: false, end: { next } });
  });

  it('begins the undo after the body has ended with an error', () => {
    const phase = new Phase();
    phase.beginEnd({ error });
    expect(phase).toMatchObject({ undoes: true, hasBegunUndoing: false, cause: { error } });
    phase.beginUndo(error);
    expect(phase).toMatchObject({ undoes: true, hasBegunUndoing: true, end: undefined });
    phase.undone();
    expect(phase).toMatchObject({ undoes: true, hasBegunUndoing: true, end: { error } });
  });

  it('undoes for the newest error, even after a result', () => {
    const phase = new Phase();
    phase.returned(1);
    phase.beginUndo(new Error('refused'));
    phase.beginUndo(error);
    phase.undone();
    expect(phase.end).toEqual({ error });
  });

  it.each<[string, (phase: Phase) => void]>([
    ['told to end twice', (phase) => [1, 2].forEach(() => phase.beginEnd({ error }))],
    ['told to end after it has ended', (phase) => [phase.returned(1), phase.beginEnd({ error })]],
    ['ended twice', (phase) => [1, 2].forEach(() => phase.returned(1))],
    ['ended while it is undone', (phase) => [phase.beginUndo(error), phase.returned(1)]],
    ['checked before it has ended', (phase) => phase.checked(1)],
    ['undone without an error', (phase) => phase.undone()],
    ['undone twice', (phase) => [phase.beginUndo(error), phase.undone(), phase.undone()]],
  ])('refuses a body that is %s', (_, moves) => {
    expect(() => moves(new Phase())).toThrow(TypeError);
  });
});
