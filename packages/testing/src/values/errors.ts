import { SagaError } from '@mcp-saga/server';

/** What a test kit error is about. */
export type TestErrorCode =
  | 'unanswered'
  | 'answer_not_accepted'
  | 'not_deterministic'
  | 'replay_mismatch'
  | 'floating'
  | 'script'
  | 'violated'
  | 'wire_error'
  | 'wire_cut';

/** The kit cannot go on, or has found something: the message says what, and what to do about it. */
export class SagaTestError extends SagaError {
  declare readonly code: TestErrorCode;

  constructor(code: TestErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, { ...options, code, public: false });
    this.name = 'SagaTestError';
  }
}
