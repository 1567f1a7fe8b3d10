import { SagaTestError } from '@mcp-saga/testing';
import { expect } from 'vitest';

/** What the kit says is wrong. */
export async function errorOf(promise: Promise<unknown>): Promise<SagaTestError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SagaTestError);
  return error as SagaTestError;
}

/** The words of it. */
export async function messageOf(promise: Promise<unknown>): Promise<string> {
  return (await errorOf(promise)).message;
}
