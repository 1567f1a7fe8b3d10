import { beforeAll, it } from 'vitest';

beforeAll(() => console.error('unexpected in a hook'));

it('passes beside a hook with a log', () => undefined);
