import { decode } from '@mcp-saga/core';
import { isPlainObject } from '@mcp-saga/core/program';
import type { SagaRecord } from './machine-record.ts';
import { fromMachineState, type MigratedState } from './machine-state.ts';
import { encodeRecord } from './save.ts';

/**
 * Converts the result of `migrate` into a record. The record is a copy: later changes by the author do not reach it.
 *
 * @throws TypeError or MachineRefused naming the invalid field
 */
export function toMigratedRecord(returned: MigratedState, definition: string): SagaRecord {
  if (returned instanceof Promise) {
    // An unhandled rejection would end the process.
    returned.catch(() => undefined);
    throw new TypeError('migrate() returned a promise. It must return the state itself.');
  }
  checkMachine(returned, 'state');
  const { delays } = returned;
  check(Array.isArray(delays), 'state.delays', 'an array');
  for (const [index, delay] of delays.entries()) checkDelay(delay, `state.delays[${index}]`);
  return decode(encodeRecord(fromMachineState(returned, definition))) as SagaRecord;
}

function checkMachine(state: unknown, place: string): void {
  check(isPlainObject(state), place, 'an object');
  const { value, context, history, completed, order, children, ended } = state;
  checkValue(value, `${place}.value`);
  check(isPlainObject(context), `${place}.context`, 'an object');
  check(completed === undefined || isTexts(completed), `${place}.completed`, 'a list of state IDs');
  check(history === undefined || isPlainObject(history), `${place}.history`, 'an object');
  for (const [id, remembered] of Object.entries(history ?? {})) {
    check(isTexts(remembered), `${place}.history['${id}']`, 'a list of state IDs');
  }
  check(order === undefined || isOrder(order), `${place}.order`, 'what the state before had');
  check(isOptionalText(ended), `${place}.ended`, 'a status');
  check(isPlainObject(children), `${place}.children`, 'an object');
  for (const [id, child] of Object.entries(children)) checkChild(child, `${place}.children['${id}']`);
}

function checkValue(value: unknown, place: string): void {
  if (typeof value === 'string') return;
  check(isPlainObject(value), place, 'a state value');
  for (const [key, below] of Object.entries(value)) checkValue(below, `${place}['${key}']`);
}

function checkChild(child: unknown, place: string): void {
  check(isPlainObject(child), place, 'an object');
  const { src, systemId, machine, kept } = child;
  check(isOptionalText(src), `${place}.src`, 'the name of an actor in setup()');
  check(isOptionalText(systemId), `${place}.systemId`, 'a text');
  if (machine !== undefined) checkMachine(machine, `${place}.machine`);
  check(kept === undefined || isKept(kept), `${place}.kept`, 'what the state before had');
}

function isKept(kept: unknown): boolean {
  if (!isPlainObject(kept)) return false;
  const { z, p, r, e } = kept;
  const isAttempts =
    Array.isArray(e) && isTime(e[0]) && isTime(e[1]) && typeof e[2] === 'boolean' && isOptionalTime(e[3]);
  return (
    (z === undefined || z === 'd' || z === 'e' || z === 'x') &&
    (p === undefined || isPlainObject(p)) &&
    isOptionalTime(r) &&
    (e === undefined || isAttempts)
  );
}

function checkDelay(delay: unknown, place: string): void {
  check(isPlainObject(delay), place, 'an object');
  const { at, actor, id, event, target } = delay;
  check(isTime(at), `${place}.at`, 'milliseconds since the epoch');
  check(typeof actor === 'string', `${place}.actor`, 'the path of an actor');
  check(typeof id === 'string', `${place}.id`, 'a text');
  check(isOptionalText(target), `${place}.target`, 'the path of an actor');
  const isEvent = isPlainObject(event) && typeof event['type'] === 'string';
  check(event === undefined || isEvent, `${place}.event`, 'an event');
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isOrder(order: unknown): boolean {
  if (!isPlainObject(order)) return false;
  const { of, positions } = order;
  return typeof of === 'string' && Array.isArray(positions) && positions.every(isTime);
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isOptionalTime(value: unknown): boolean {
  return value === undefined || isTime(value);
}

function check(holds: boolean, place: string, expected: string): asserts holds {
  if (!holds) throw new TypeError(`migrate() returned a state whose '${place}' is not ${expected}.`);
}
